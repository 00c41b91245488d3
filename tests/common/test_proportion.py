from __future__ import annotations

import pytest

from simhash_gate.common.proportion import wilson


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    # Newcombe, Two-sided confidence intervals for the single proportion (1998), table I, method 3.
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_the_interval_is_that_of_the_literature(
    successes: int, trials: int, low: float, high: float
) -> None:
    assert wilson(successes, trials) == pytest.approx((low, high), abs=5e-5)


def test_no_trial_tells_nothing() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


def test_all_of_all_may_be_all() -> None:
    low, high = wilson(5, 5)
    assert 0.5 < low < 0.6
    assert high == 1.0


@pytest.mark.parametrize(("successes", "trials"), [(-1, 5), (6, 5)])
def test_more_than_all_is_refused(successes: int, trials: int) -> None:
    with pytest.raises(ValueError, match=f"{successes} of {trials}"):
        wilson(successes, trials)

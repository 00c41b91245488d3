from __future__ import annotations

import pytest

from simhash_gate.common.proportion import wilson

# Newcombe, Two-sided confidence intervals for the single proportion (1998), table I, method 3.
NEWCOMBE = [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605)]
NEWCOMBE += [(0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)]


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"), [*NEWCOMBE, (0, 0, 0.0, 1.0), (5, 5, 0.56552, 1.0)]
)
def test_the_interval_is_that_of_the_literature_and_no_trial_tells_nothing(
    successes: int, trials: int, low: float, high: float
) -> None:
    assert wilson(successes, trials) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(("successes", "trials"), [(-1, 5), (6, 5)])
def test_more_than_all_is_refused(successes: int, trials: int) -> None:
    with pytest.raises(ValueError, match=f"{successes} of {trials}"):
        wilson(successes, trials)

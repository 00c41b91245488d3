import pytest

from simhash_gate.common.proportion import wilson

# Newcombe, Two-sided confidence intervals for the single proportion (1998), table I, method 3.
NEWCOMBE = [(81, 263, 0.2553, 0.3662), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)]


def test_the_interval_is_that_of_the_literature_and_more_than_all_is_refused() -> None:
    for successes, trials, low, high in [*NEWCOMBE, (0, 0, 0.0, 1.0), (5, 5, 0.56552, 1.0)]:
        assert wilson(successes, trials) == pytest.approx((low, high), abs=5e-5)
    for successes in (-1, 6):
        with pytest.raises(ValueError, match=f"{successes} of 5"):
            wilson(successes, 5)

import pytest

from simhash_gate.common.proportion import upper_bound, wilson

# Newcombe, Two-sided confidence intervals for the single proportion (1998), table I, method 3.
NEWCOMBE = [(81, 263, 0.2553, 0.3662), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)]


def test_the_interval_is_that_of_the_literature_and_more_than_all_is_refused() -> None:
    for successes, trials, low, high in [*NEWCOMBE, (0, 0, 0.0, 1.0), (5, 5, 0.56552, 1.0)]:
        assert wilson(successes, trials) == pytest.approx((low, high), abs=5e-5)
    for successes in (-1, 6):
        with pytest.raises(ValueError, match=f"{successes} of 5"):
            wilson(successes, 5)


def test_the_exact_bound_is_where_so_few_successes_are_a_chance_of_one_in_twenty() -> None:
    for trials in (1, 29, 299):
        assert upper_bound(0, trials) == pytest.approx(1 - 0.05 ** (1 / trials), abs=1e-5)
    # Of ten at 0.3942, one or none: 0.6058^10 + 10 * 0.3942 * 0.6058^9 = 0.05.
    assert upper_bound(1, 10) == pytest.approx(0.3942, abs=5e-5)
    assert upper_bound(0, 0) == upper_bound(3, 3) == 1

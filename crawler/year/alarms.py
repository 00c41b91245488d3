"""What the gate warned of in a year of crawls, and what there was to warn of."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawler.site.year.plan import Year
    from crawler.year.visits import Day

REDESIGNS = "simhash_gate/redesigns"
DISTRUSTED = "simhash_gate/validators/distrusted"
WITHIN = 7
"""In how many days a redesign must be reported."""
WRONG = ("stale", "fresh")


class Alarms(NamedTuple):
    """The counts; each cause is reported once, and a second report of it is a false alarm."""

    redesigns: int = 0
    redesigns_reported: int = 0
    wrong_validators: int = 0
    wrong_validators_reported: int = 0
    false_alarms: int = 0


def alarms(year: Year, days: Sequence[Day], *, revalidated: bool) -> Alarms:
    """Compare what the crawls of a year counted with what the newspapers did.

    Where no validators were sent, there is nothing to learn of them.
    """
    first, last = days[0].moment, days[-1].moment
    moments = [
        paper.redesign.at
        for paper in year.papers.values()
        if paper.redesign and first < paper.redesign.at <= last
    ]
    wrong = sum(paper.validators in WRONG for paper in year.papers.values()) if revalidated else 0
    told = [day.moment for day in days for _ in range(day.stats.get(REDESIGNS, 0))]
    reported = sum(any(at <= moment <= at + WITHIN for moment in told) for at in moments)
    distrusted = _sum(days, DISTRUSTED)
    return Alarms(
        redesigns=len(moments),
        redesigns_reported=reported,
        wrong_validators=wrong,
        wrong_validators_reported=min(wrong, distrusted),
        false_alarms=len(told) - reported + max(0, distrusted - wrong),
    )


def _sum(days: Iterable[Day], name: str) -> int:
    return sum(day.stats.get(name, 0) for day in days)

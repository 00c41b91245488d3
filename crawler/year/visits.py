"""What a year of crawls met: one entry for each response, with what became of it."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crawler.truth import Served

GONE = (404, 410)


@dataclass
class Day:
    """One crawl: when it was, the number of responses before it, and what became of its pages."""

    number: int
    moment: float
    before: int
    outcomes: dict[int, str] = field(default_factory=dict)
    delivered: set[int] = field(default_factory=set)
    stats: dict[str, Any] = field(default_factory=dict)


class Visit(NamedTuple):
    """One response: what the site sent, what the gate called it, and whether it became an item."""

    day: int
    moment: float
    url: str
    status: int
    article: str
    version: int
    content: str
    outcome: str
    delivered: bool


def visits_of(log: Iterable[Served], days: Sequence[Day]) -> Iterator[Visit]:
    """Yield the responses of web pages in the order in which the site sent them."""
    starts = [day.before for day in days]
    for entry in sorted(log):
        day = days[bisect_left(starts, entry.serve) - 1]
        if entry.content:
            yield Visit(
                day=day.number,
                moment=day.moment,
                url=entry.path,
                status=entry.status,
                article=entry.article,
                version=entry.version,
                content=entry.content,
                outcome=day.outcomes.get(entry.serve, ""),
                delivered=entry.serve in day.delivered,
            )

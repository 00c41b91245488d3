"""Requests that were skipped, so that they can be sent after all."""

from __future__ import annotations

import json
import logging
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from simhash_gate.common.wording import how_many
from simhash_gate.plugin.requests import RequestWriter, request_of
from simhash_gate.plugin.resend_dropped import MOST_BYTES, weight
from simhash_gate.urls.active_rules import EVERY, Reasons
from simhash_gate.urls.parts import whole
from simhash_gate.urls.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from scrapy import Request, Spider
    from typing_extensions import Self

    from simhash_gate.urls.visits import Visits

logger = logging.getLogger(__name__)

_OBJECTS = 2048  # bytes of a request without its contents
_MOST_LET_GO = 100_000


class Skipped(NamedTuple):
    """A request that was skipped, and the visit that stands for it, with its URL.

    `rules` make the two URLs the same, each with the shape that it acts on. It is of an `earlier`
    part of a job if that skipped it.
    """

    request: Request
    scope: str
    visit: int
    stand_in: str
    rules: Reasons
    earlier: bool = False

    @property
    def size(self) -> int:
        """Roughly the bytes that it takes."""
        request = self.request
        return _OBJECTS + sum(map(weight, (request.url, dict(request.headers), request.meta)))

    def said(self, writer: RequestWriter) -> str | None:
        """Return the request as JSON, with what is known of it; None if JSON can't say it."""
        request, unsaid = writer.json_of(self.request)
        if unsaid:
            return None
        return json.dumps([request, self.scope, self.stand_in, self.rules])

    @classmethod
    def of(cls, said: str, visit: int, spider: Spider) -> Self:
        """Return what JSON says. Raises ValueError if the spider can't have such a request."""
        request, scope, stand_in, rules = json.loads(said)
        told = tuple((shape, Rule(*rule)) for shape, rule in rules)
        return cls(request_of(request, spider), scope, visit, stand_in, told, earlier=True)


@dataclass(slots=True)
class _StoodFor:
    """What one visit stands for: numbers of requests."""

    stand_in: str
    numbers: set[int] = field(default_factory=set)


class SkippedRequests:
    """Remembers requests, with the visits that stand for them, within `MOST_BYTES`."""

    def __init__(self) -> None:
        self._requests: OrderedDict[int, tuple[Skipped, int]] = OrderedDict()
        self._visits: dict[int, _StoodFor] = {}
        self._by_url: dict[str, int] = {}
        self._let_go: dict[int, int] = {}
        self._bytes = 0
        self._last = 0

    def add(self, skipped: Skipped) -> bool:
        """Remember a request; tell whether others had to be let go for it."""
        self._last += 1
        size = skipped.size
        self._requests[self._last] = (skipped, size)
        self._visits.setdefault(skipped.visit, _StoodFor(skipped.stand_in)).numbers.add(self._last)
        self._by_url[skipped.stand_in] = skipped.visit
        self._bytes += size
        full = self._bytes > MOST_BYTES
        while self._bytes > MOST_BYTES:
            oldest = self._take(next(iter(self._requests)))
            if len(self._let_go) < _MOST_LET_GO:
                self._let_go[oldest.visit] = self._let_go.get(oldest.visit, 0) + 1
        return full

    def __iter__(self) -> Iterator[Skipped]:
        """Yield what is remembered, the oldest first."""
        return (skipped for skipped, _ in self._requests.values())

    def pop(self, visit: int) -> tuple[list[Skipped], int]:
        """Return what was skipped for a visit, and how many more there were; forget them."""
        stood_for = self._visits.get(visit)
        numbers = sorted(stood_for.numbers) if stood_for is not None else ()
        return [self._take(number) for number in numbers], self._let_go.pop(visit, 0)

    def visit_of(self, stand_in: str) -> int:
        """Return the visit of a URL that stands for something; 0 if there is none."""
        return self._by_url.get(stand_in, 0)

    def pop_by_rule(
        self,
        scope: str,
        shape: str,
        rule: Rule,
        *,
        shape_of: Callable[[str], str],
        reasons: Callable[[Skipped], Reasons],
    ) -> tuple[list[Skipped], int]:
        """Return what was skipped by a rule on URLs of a shape, and how many more there may be.

        They are forgotten. What there are other `reasons` to skip now is left, with these. The
        scope may be that of all sites. The requests may have been skipped before the shape was
        parted.
        """
        wanted = {(shape, rule), (whole(shape), rule)}
        parted = whole(shape) != shape
        found = []
        for number, (skipped, size) in self._requests.items():
            if scope not in (skipped.scope, EVERY) or wanted.isdisjoint(skipped.rules):
                continue
            if parted and shape not in map(shape_of, (skipped.request.url, skipped.stand_in)):
                continue
            if now := reasons(skipped):
                self._requests[number] = skipped._replace(rules=now), size
            else:
                found.append(number)
        visits = {self._requests[number][0].visit for number in found}
        let_go = sum(self._let_go.pop(visit, 0) for visit in visits)
        return [self._take(number) for number in found], let_go

    def sample(self, scope: str, rule: Rule, count: int) -> list[Skipped]:
        """Return some requests that were skipped by a rule, and forget them.

        They are spread evenly, with the last one: a site may have changed just before.
        """
        found = [
            number
            for number, (skipped, _) in self._requests.items()
            if skipped.scope == scope and any(rule == each for _, each in skipped.rules)
        ]
        count = min(count, len(found))
        return [self._take(found[(n + 1) * len(found) // count - 1]) for n in range(count)]

    def _take(self, number: int) -> Skipped:
        skipped, size = self._requests.pop(number)
        self._bytes -= size
        stood_for = self._visits[skipped.visit]
        stood_for.numbers.remove(number)
        if not stood_for.numbers:
            del self._visits[skipped.visit]
            self._by_url.pop(stood_for.stand_in, None)
        return skipped


def keep(skipped: Iterable[Skipped], visits: Visits, spider: Spider) -> None:
    """Keep what was skipped for the next part of a job."""
    writer = RequestWriter(spider)
    said = [(each.visit, each.said(writer)) for each in skipped]
    kept = [(visit, text) for visit, text in said if text is not None]
    visits.keep_skipped(kept)
    if missing := len(said) - len(kept):
        logger.warning(
            "%s that were skipped can't be kept for the next part of the job: they have a callback "
            "that is no method of the spider, or something that JSON can't say",
            how_many(missing, "request"),
        )


def taken(visits: Visits, spider: Spider) -> Iterator[Skipped]:
    """Yield what the last part of a job kept; name what can't be read."""
    for visit, said in visits.take_skipped():
        try:
            yield Skipped.of(said, visit, spider)
        except ValueError as error:
            logger.warning("A request that was skipped before the pause is let go: %s", error)

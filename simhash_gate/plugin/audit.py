"""The audit: it tests by the spider's own items whether dropped pages were really copies.

A share of the duplicates goes to the spider after all. When both are finished, the items of each
are compared with those of the kept page. The share of duplicates with something new is an estimate
of the share of wrong drops.
"""

from __future__ import annotations

import json
import logging
import secrets
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any
from weakref import WeakKeyDictionary

from itemadapter import ItemAdapter
from scrapy import Request
from scrapy.http import Response

from simhash_gate.common.proportion import wilson
from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import how_many, printable
from simhash_gate.gate.verdict import Verdict
from simhash_gate.plugin.listeners import Crawl, FollowedPage, Judged, Listener, Stage
from simhash_gate.plugin.reading import Bounded
from simhash_gate.stores.base import Identity
from simhash_gate.values import PREFIX

logger = logging.getLogger(__name__)

MOST_ITEMS = 100
MOST_FIELDS = 200
"""A page with more items, or an item with more fields, is not compared."""
MOST_BYTES = 32 * 1024 * 1024
NO_ITEM = "(no item)"
"""Stands for the name of a field if one page has an item and the other page has none."""

_NAMED = 20  # fields of a pair
_LONGEST_NAME = 100
_ENTRY_BYTES, _FIELD_BYTES = 1024, 128
_EMPTY = frozenset({"null", '""', "[]", "{}"})

Snapshot = dict[str, bytes]
"""Digests of the fields of one item that are not empty, by name."""


def snapshot(item: Any, response: Response, fields: Collection[str] = ()) -> Snapshot:
    """Return digests of the named fields of an item, or of all fields but the page's URL.

    Raises TypeError for an object that is not an item.
    """
    sent = (response.request.url,) if response.request else ()
    nothing = _EMPTY if fields else _EMPTY.union(map(json.dumps, (response.url, *sent)))
    digests = {}
    for key, value in ItemAdapter(item).items():
        name = printable(str(key))[:_LONGEST_NAME]
        if not fields or name in fields:
            text = _text(value)
            if text not in nothing:
                digests[name] = blake2b(text.encode(), digest_size=16).digest()
    return digests


def news(kept: Sequence[Snapshot], dropped: Iterable[Snapshot]) -> list[str]:
    """Return the fields in which items of a dropped page differ from those of the kept page.

    Each item is compared with the one that differs in the fewest fields.
    """
    fields: dict[str, None] = {}
    for item in dropped:
        closest = [NO_ITEM]
        for place, other in enumerate(kept):
            differing = [name for name, digest in item.items() if other.get(name) != digest]
            if not place or len(differing) < len(closest):
                closest = differing
        fields |= dict.fromkeys(closest)
    return list(fields)


def _text(value: Any) -> str:
    """Return a value as JSON, with white space of text normalised."""
    if isinstance(value, str):
        value = " ".join(value.split())
    return json.dumps(value, sort_keys=True, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, (set, frozenset)):
        return sorted(map(_text, value))
    return ItemAdapter(value).asdict() if ItemAdapter.is_item(value) else str(value)


@dataclass(slots=True, eq=False)
class Harvest:
    """The items of one page so far, and the audited pages that wait for them.

    `whole` tells whether the page is finished. `failure` says why its items can't be compared.
    """

    items: list[Snapshot] = field(default_factory=list)
    whole: bool = False
    failure: str = ""
    waiting: list[AuditedHarvest] = field(default_factory=list)

    @property
    def size(self) -> int:
        """The bytes that it takes, about."""
        return _ENTRY_BYTES + _FIELD_BYTES * sum(1 + len(item) for item in self.items)

    def add(self, item: Snapshot) -> None:
        """Add an item."""
        if len(self.items) < MOST_ITEMS and len(item) <= MOST_FIELDS:
            self.items.append(item)
        else:
            self.failure = "too_many_items"


@dataclass(slots=True, eq=False, kw_only=True)
class AuditedHarvest(Harvest):
    """The items of a duplicate, with its verdict."""

    url: str
    verdict: Verdict


class Audit(Listener):
    """Chooses duplicates, collects their items and those of kept pages, and compares them."""

    def __init__(self, crawl: Crawl) -> None:
        super().__init__(crawl)
        self.counts: Counter[str] = Counter()
        self._fields = frozenset(crawl.settings.audit_fields)
        self._unseen = set(self._fields)
        # Each crawl has its own seed: a retry is chosen like its request, and other pages each day.
        self._seed = secrets.token_bytes(16)
        self._kept: Bounded[Identity, Harvest] = Bounded(MOST_BYTES)
        self._audited: WeakKeyDictionary[FollowedPage, AuditedHarvest] = WeakKeyDictionary()

    def given(self, verdict: Verdict, request: Request, domain: str) -> Verdict:
        """Return the verdict, `audited` if the page is chosen."""
        if verdict.outcome != "duplicate":
            return verdict
        # By the key of the page, all its addresses would be chosen, or none.
        fingerprint = self._crawl.crawler.request_fingerprinter.fingerprint(request)
        digest = blake2b(fingerprint, key=self._seed, digest_size=8).digest()
        if int.from_bytes(digest, "big") >= verdict.policy.audit * 2**64:
            return verdict
        assert verdict.match is not None
        self._note("audited")
        if verdict.match.record.run != self._crawl.store.run.name:
            self._not_comparable("other_crawl")
            return verdict
        return replace(verdict, audited=True)

    def judged(self, judged: Judged, page: FollowedPage | None) -> None:
        """Expect the items of a kept page, or of a chosen duplicate."""
        verdict = judged.verdict
        if page is None:
            return
        if page.record is not None:
            if verdict.policy.audit:  # items of an earlier attempt do not count
                before = self._kept.get(page.record.identity)
                waiting = before.waiting if before is not None else []
                self._put(page.record.identity, Harvest(waiting=waiting))
        elif verdict.audited:
            url = without_credentials(judged.response.url)
            self._audited[page] = AuditedHarvest(url=url, verdict=verdict)

    def item(self, page: FollowedPage, response: Response, item: Any) -> None:
        """Add an item on its way to the pipelines."""
        harvest = self._harvest(page)
        if harvest is None or harvest.whole or harvest.failure:
            return
        try:
            fields = snapshot(item, response, self._fields)
        except Exception as error:  # for example, the item is nested too deeply
            url = without_credentials(response.url)
            logger.debug("An item of %s can't be compared: %r", url, error)
            harvest.failure = "unreadable_item"
        else:
            self._unseen.difference_update(fields)
            harvest.add(fields)
        if page.record is not None:
            self._put(page.record.identity, harvest)

    def moved(self, page: FollowedPage) -> None:
        """Compare a finished page with the pages that wait for it."""
        harvest = self._harvest(page)
        if harvest is None or harvest.whole or page.stage not in (Stage.LEFT, Stage.FAILED):
            return
        harvest.whole = True
        if page.stage is Stage.FAILED and not harvest.failure:
            harvest.failure = "failed"
        waiting, harvest.waiting = harvest.waiting, []
        for audited in waiting:
            self._compare(harvest, audited)
        if isinstance(harvest, AuditedHarvest):
            self._find_kept(harvest)

    async def closed(self) -> None:
        """Report how many of the audited pages differed."""
        chosen, compared, wrong = map(self.counts.__getitem__, ("audited", "compared", "wrong"))
        for _ in range(chosen - compared - self.counts["not_comparable"]):
            self._not_comparable("unfinished")
        if chosen and self._unseen:
            names = ", ".join(sorted(self._unseen))
            logger.warning("%sAUDIT_FIELDS: no item has a value in %s", PREFIX, names)
        if not compared:
            message = f"none of {how_many(chosen, 'audited duplicate')} could be compared."
            self._crawl.note(f"Audit: {message}", f"See the stats, or raise {PREFIX}AUDIT.")
            return
        low, high = wilson(wrong, compared)
        for name, bound in (("wrong_low", low), ("wrong_high", high)):
            self._stats.set_value(f"simhash_gate/audit/{name}", round(bound, 4))
        message = (
            f"Audit: {wrong} of {how_many(compared, 'compared duplicate')} differed: "
            f"{wrong / compared:.1%} wrong drops (95 % interval {low:.1%} to {high:.1%})."
        )
        advice = "More pages make the interval narrower."
        if wrong:
            advice = f"The log names them. Only content belongs in {PREFIX}AUDIT_FIELDS."
        self._crawl.note(message, advice, wrong=bool(wrong))

    def _note(self, *names: str) -> None:
        for name in names:
            self.counts[name] += 1
            self._count(f"audit/{name}")

    def _not_comparable(self, reason: str) -> None:
        self._note("not_comparable", f"not_comparable/{reason}")

    def _harvest(self, page: FollowedPage) -> Harvest | None:
        if page.record is None:
            return self._audited.get(page)
        return self._kept.get(page.record.identity)

    def _put(self, identity: Identity, harvest: Harvest) -> None:
        for forgotten in self._kept.put(identity, harvest, harvest.size):
            for _ in forgotten.waiting:
                self._not_comparable("forgotten")
            forgotten.waiting.clear()

    def _find_kept(self, page: AuditedHarvest) -> None:
        assert page.verdict.match is not None
        kept = self._kept.get(page.verdict.match.record.identity)
        if page.failure or not any(page.items):
            self._not_comparable(page.failure or "no_items")
        elif kept is None:
            self._not_comparable("forgotten")
        elif kept.whole:
            self._compare(kept, page)
        else:
            kept.waiting.append(page)

    def _compare(self, kept: Harvest, page: AuditedHarvest) -> None:
        """Count a pair and log it: `a` is the kept page and `b` the dropped one.

        `duplicate` tells whether the items agree, `fields` differ. `distance` is in bits.
        """
        if kept.failure:
            reason = "kept_page_failed" if kept.failure == "failed" else kept.failure
            self._not_comparable(reason)
            return
        match, fields = page.verdict.match, news(kept.items, page.items)[:_NAMED]
        assert match is not None
        pair = {"a": match.record.url, "b": page.url, "duplicate": not fields}
        pair |= {"distance": match.distance, "fields": fields}
        self._crawl.lines.append({"audit": "pair", **pair})
        self._note("compared", *["wrong"] * bool(fields))
        if fields:
            logger.warning(
                "Wrong drop? %s says what %s does not (%s): %s",
                page.url, match.record.url, page.verdict.reason, ", ".join(fields),
            )  # fmt: skip

"""What pages gave: nothing is held back, and no copy dropped, for what never came.

A copy of a page that gave no item passes. If the items of a page left fields empty, its copies are
tried: their items come if more of them fill such a field, with a value that the page did not give.
Of a page that is unchanged since an earlier crawl, the items are held back if they say what they
said before, by the same code: see `item_values`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any, NamedTuple

import mmh3
from itemadapter import ItemAdapter

from simhash_gate.gate.verdict import Unpaid, Verdict
from simhash_gate.identity.keys import key_of
from simhash_gate.plugin.asked_for import LINKS_ALONE
from simhash_gate.plugin.followed import FollowedPage
from simhash_gate.plugin.item_values import SteadyFields
from simhash_gate.plugin.reading import Bounded
from simhash_gate.plugin.store_thread import StoreThread
from simhash_gate.stores.base import UNKNOWN_GAVE, Identity, Record

MOST_KNOWN = 20_000
"""Pages of a crawl whose items are remembered. Older ones count by what the store says of them."""
TRIALS, SHARE, MORE = 10, 20, 100
"""Copies of pages with empty fields are tried: of each callback the first 10, or one in 20, and 100
more for each that brings something. If a page lacks what most pages of its callback have, its
copies are tried in any case."""
SHORT = 10
"""A value with fewer characters may be that of another field by chance."""
MOST_DEEP, MOST_PARTS = 5, 100
"""Items within items, and parts of a list, that are looked at."""
REASONS: dict[str, str] = {
    "nothing": "no item came of that page",
    "less": "a copy of it may give more",
    "code": "the code of its callback has changed since",
    "again": "that page has not come in this crawl",
}


class _Gave(NamedTuple):
    """What a page gave in this crawl, as a `FollowedPage` has it."""

    given: bool
    filled: dict[str, list[int]]
    empty: set[str]
    url: str
    polls: bool


@dataclass(slots=True)
class _Callback:
    """The pages that a callback gave items of, how many filled each field, and their copies."""

    pages: int = 0
    filled: Counter[str] = field(default_factory=Counter)
    copies: int = 0
    trials: int = 0


class Yields:
    """Knows what the pages of this crawl gave, and by the store what those of earlier ones did.

    `codes` has the digest of the code of each callback, by the callback's name.
    """

    def __init__(self, store: StoreThread, followed: set[Identity]) -> None:
        self.codes: dict[str, str] = {}
        self._lives: dict[str, Future[bool]] = {}
        self.steady = SteadyFields()
        self._store, self._followed = store, followed
        self._gave: Bounded[Identity, _Gave] = Bounded(MOST_KNOWN)
        self._callbacks = defaultdict[str, _Callback](_Callback)

    def given(self, verdict: Verdict, url: str, *, let_out: bool) -> Verdict:
        """Return the verdict on the page of a URL, `unpaid` if what it gives may never have come.

        Unless they are `let_out` of the waiting room, copies are dropped if their callback has
        given no item at all, or if only its code has changed: that page may come itself.
        """
        match, policy = verdict.match, verdict.policy
        if match is None or policy.action == "tag":
            return verdict
        kept, is_copy = match.record, verdict.outcome == "duplicate"
        known, callback = self._gave.get(kept.identity), self._callbacks[kept.callback]
        if verdict.outcome == "unchanged" and not verdict.rejected and verdict.record is None:
            by = known.url if known and known.given else ""  # REVISIT is "pass"
            if kept.identity in self._followed or (by and (let_out or by != url)):
                reason = f"{verdict.reason}; it comes by {by or 'another address'} in this crawl"
                return replace(verdict, outcome="duplicate", reason=reason)
            return verdict
        if not verdict.held or not (is_copy or policy.revisit == "links"):
            return verdict
        if kept.identity in self._followed:
            return verdict  # that is not known yet
        callback.copies += is_copy
        why = self.wanted(kept, passes=is_copy and policy.revisit == "pass", is_copy=is_copy)
        waits = is_copy and not let_out and verdict.action == "drop"
        if why == "nothing":
            waits &= not (callback.pages or (known and known.polls))
        else:
            waits &= why == "code"
        if not why or waits or (why == "less" and policy.action == "discard"):
            return verdict
        callback.trials += why == "less"
        return replace(verdict, unpaid=why, reason=f"{verdict.reason}; but {REASONS[why]}")

    def wanted(self, kept: Record, *, passes: bool = False, is_copy: bool = False) -> Unpaid:
        """Return why a page may have given less than a copy of it, or than itself now; "" if not.

        With `passes`, what it gave in an earlier crawl shall come again. For a copy, what a crawl
        has delivered that was still on counts, by whatever code.
        """
        if kept.callback == LINKS_ALONE:
            return ""
        known = self._gave.get(kept.identity)
        if known is not None:
            if not known.given:
                return "nothing"
            return "less" if self._gave_less(known, self._callbacks[kept.callback]) else ""
        if not kept.settled:
            return ""  # this crawl kept it, too long ago
        if not kept.gave:
            return "nothing"
        if passes and kept.run != self._store.run.name:
            return "again"
        now, live = self._code(kept), is_copy and self.was_live(kept.run)
        is_other = UNKNOWN_GAVE not in (kept.gave, now) and kept.gave != now
        return "code" if is_other and not live else ""

    def gives(self, callback: str) -> bool:
        """Tell whether a callback is known to give items."""
        return self._callbacks[callback].pages > 0

    def brings(self, verdict: Verdict, page: FollowedPage) -> bool:
        """Tell whether the items of a page that is held back, or tried, were never given."""
        kept = page.stands_for
        if kept is None or (kept.identity in self._followed and not page.pays):
            return False
        known = self._gave.get(kept.identity)
        if known is not None:
            return not known.given or _fills_more(page.filled, known.filled)
        if not kept.settled:
            return False
        if verdict.outcome == "unchanged" and verdict.policy.revisit == "links":
            before = verdict.previous
            page.differs = self.steady.differing(
                *(kept.callback, page, before.items if before else ""),
                elsewhere=before is None or key_of(before.url) != key_of(page.url),
            )
            return bool(page.differs)
        return not kept.gave

    def ended(self, page: FollowedPage) -> Record | None:
        """Note what came of a page. Return the record to settle, None if nothing new is known."""
        kept = page.decides
        assert kept is not None
        callback, before = self._callbacks[kept.callback], self._gave.get(kept.identity)
        if page.given:
            callback.pages += 1
            callback.filled.update(page.filled.keys())
        most = max(map(len, page.filled.values()), default=0)
        some = {name for name, values in page.filled.items() if len(values) < most}
        known = _Gave(page.given > 0, page.filled, page.empty | some, page.url, page.polls)
        if before is not None and before.given:
            if page.given and page.record is None:
                callback.trials -= MORE
            filled = {**before.filled, **page.filled}
            known = known._replace(given=True, filled=filled, url=before.url)
        self._gave.put(kept.identity, known, 1)
        if page.record is None and (not page.given or (before and before.given)):
            return None
        if not known.given:
            return replace(kept, gave=0)
        return replace(kept, gave=self._code(kept))

    def _code(self, kept: Record) -> int:
        """Return a number that stands for the code of the callback: `Record.gave`."""
        return int(self.codes.get(kept.callback) or "0", 16) or UNKNOWN_GAVE

    def was_live(self, run: str) -> bool:
        """Tell whether another crawl was still on when this one met a page of it first.

        The store is asked once: the answer is there when copies are let out of the waiting room.
        """
        if run not in self._lives:
            self._lives[run] = self._store.submit(lambda gate: gate.store.is_live(run))
        answer = self._lives[run]
        return answer.done() and answer.exception() is None and answer.result()

    def _gave_less(self, known: _Gave, callback: _Callback) -> bool:
        """Tell whether a page lacks fields that a copy of it may fill."""
        usual = {name for name, pages in callback.filled.items() if 2 * pages > callback.pages}
        if usual - known.filled.keys():
            return True
        return bool(known.empty) and callback.trials < max(TRIALS, callback.copies / SHARE)


def _fills_more(filled: dict[str, list[int]], before: dict[str, list[int]]) -> bool:
    said = set(chain(*before.values())) - {0}
    return any(
        len(values) > len(before.get(name, ())) and not said.issuperset(values)
        for name, values in filled.items()
    )


def values_of(item: Any) -> list[tuple[str, str]]:
    """Return the names of the fields of an item, each with a value as text, "" if it is empty."""
    found: list[tuple[str, str]] = []
    with suppress(Exception):  # a spider may yield any object
        for name, value in _fields("", item):
            found.append((name, "" if value is None else str(value).strip()))
    return found


def fields_of(values: list[tuple[str, str]]) -> tuple[dict[str, int], set[str]]:
    """Return digests of the fields that an item fills, by name, and the names of its other ones.

    The digest of a short value is 0.
    """
    filled: dict[str, int] = {}
    for name, said in values:
        if said and name not in filled:
            long = said.encode("utf-8", "replace") if len(said) >= SHORT else b""
            filled[name] = mmh3.hash64(long, signed=False)[0]
    return filled, {name for name, _ in values}.difference(filled)


def _fields(name: str, value: Any, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield the names and values of the fields of an item, and of items within it."""
    if depth < MOST_DEEP and ItemAdapter.is_item(value):
        adapter = ItemAdapter(value)
        for inner in {**dict.fromkeys(adapter.field_names()), **adapter}:
            yield from _fields(f"{name}.{inner}".lstrip("."), adapter.get(inner), depth + 1)
    elif depth < MOST_DEEP and isinstance(value, list | tuple | set):
        for part in [*islice(value, MOST_PARTS)] or [None]:
            yield from _fields(name, part, depth + 1)
    else:
        yield name, value

"""What pages gave: nothing is held back, and no copy dropped, for what never came.

A copy of a page that gave no item passes. If the items of a page left fields empty, a copy of it is
tried: its items come if they fill such a field with a value that the page did not give. Of a page
that is unchanged since an earlier crawl, the items are held back if one of them fills the fields
that the first one filled then, by the same code.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import mmh3
from itemadapter import ItemAdapter

from simhash_gate.gate.verdict import Unpaid, Verdict
from simhash_gate.plugin.followed import FollowedPage
from simhash_gate.stores.base import UNKNOWN_GAVE, Identity, Record

if TYPE_CHECKING:
    from simhash_gate.plugin.followed import FollowedPage
    from simhash_gate.plugin.store_thread import StoreThread

MOST_KNOWN = 20_000
"""Pages of a crawl whose items are remembered. Older ones count by what the store says of them."""
TRIALS, SHARE, MORE = 10, 20, 100
"""Copies of pages with empty fields are tried: the first 10, or one in 20, and 100 more for each
that brings something. If a page lacks what most pages of its callback have, a copy is tried."""
REASONS: dict[Unpaid, str] = {
    "nothing": "no item came of that page",
    "less": "the items of that page were emptier",
    "code": "the code of its callback has changed since",
    "again": "that page has not come in this crawl",
}


@dataclass(slots=True)
class _Gave:
    """What a page gave in this crawl, as a `FollowedPage` has it.

    The page was `tried` if a copy of it was let through.
    """

    given: bool
    filled: dict[str, int]
    empty: set[str]
    url: str
    polls: bool
    tried: bool


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
        self._store, self._followed = store, followed
        self._gave: OrderedDict[Identity, _Gave] = OrderedDict()
        self._callbacks = defaultdict[str, _Callback](_Callback)

    def given(self, verdict: Verdict, url: str, *, let_out: bool) -> Verdict:
        """Return the verdict on the page of a URL, `unpaid` if what it gives may never have come.

        If a callback has given no item at all, its copies are dropped unless they are `let_out` of
        the waiting room.
        """
        match, policy = verdict.match, verdict.policy
        if match is None or policy.action == "tag":
            return verdict
        kept, is_copy = match.record, verdict.outcome == "duplicate"
        if verdict.outcome == "unchanged" and not verdict.rejected and verdict.record is None:
            known = self._gave.get(kept.identity)
            if known and known.given and known.url != url:  # REVISIT is "pass"
                reason = f"{verdict.reason}; it came by {known.url} in this crawl"
                return replace(verdict, outcome="duplicate", reason=reason)
            return verdict
        if not verdict.held or not (is_copy or policy.revisit == "links"):
            return verdict
        if kept.identity in self._followed:
            return verdict  # that is not known yet
        self._callbacks[kept.callback].copies += is_copy
        why = self.wanted(kept, passes=is_copy and policy.revisit == "pass")
        if why == "less" and policy.action == "discard":
            return verdict
        waits = why == "nothing" and is_copy and verdict.action == "drop"
        known = self._gave.get(kept.identity)
        waits &= not (let_out or self.gives(kept.callback) or (known and known.polls))
        if not why or waits:
            return verdict
        self._callbacks[kept.callback].trials += why == "less"
        return replace(verdict, unpaid=why, reason=f"{verdict.reason}; but {REASONS[why]}")

    def wanted(self, kept: Record, *, passes: bool = False) -> Unpaid:
        """Return why a page may have given less than a copy of it, or than itself now; "" if not.

        With `passes`, what it gave in an earlier crawl shall come again.
        """
        known = self._gave.get(kept.identity)
        if known is not None:
            if not known.given:
                return "nothing"
            return "less" if not known.tried and self._gave_less(known, kept.callback) else ""
        if not kept.settled:
            return ""  # this crawl kept it, too long ago
        if not kept.gave:
            return "nothing"
        if passes and kept.run != self._store.run.name:
            return "again"
        return "code" if self._has_other_code(kept) else ""

    def gives(self, callback: str) -> bool:
        """Tell whether a callback is known to give items."""
        return callback in self._callbacks and self._callbacks[callback].pages > 0

    def brings(self, verdict: Verdict, page: FollowedPage) -> bool:
        """Tell whether the items of a page that is held back, or tried, were never given."""
        kept = page.stands_for
        if kept is None or (kept.identity in self._followed and not page.pays):
            return False
        known = self._gave.get(kept.identity)
        if known is not None:
            new = {page.filled[name] for name in page.filled.keys() - known.filled.keys()}
            return not known.given or bool(new.difference(known.filled.values()))
        if not kept.settled or kept.gave == UNKNOWN_GAVE:
            return False
        if verdict.outcome == "unchanged" and verdict.policy.revisit == "links":
            return all(kept.gave != self._number(kept, page, shape) for shape in page.shapes)
        return not kept.gave

    def ended(self, page: FollowedPage) -> Record | None:
        """Note what came of a page. Return the record to settle, None if nothing new is known."""
        kept = page.decides
        assert kept is not None
        callback, before = self._callbacks[kept.callback], self._gave.pop(kept.identity, None)
        if page.given:
            callback.pages += 1
            callback.filled.update(page.filled.keys())
        of_page = page.url, page.polls, page.record is None
        known = _Gave(page.given > 0, page.filled, page.empty, *of_page)
        if before is not None:
            callback.trials -= MORE * (known.given and before.given and known.tried)
            known.given |= before.given
            known.filled = before.filled | page.filled
            known.empty |= before.empty
        known.empty -= known.filled.keys()
        self._gave[kept.identity] = known
        while len(self._gave) > MOST_KNOWN:
            self._gave.popitem(last=False)
        if page.record is None and (not page.given or (before and before.given)):
            return None
        return replace(kept, gave=self._number(kept, page, *page.shapes) if known.given else 0)

    def _number(self, kept: Record, page: FollowedPage, shape: int = 0, *_: int) -> int:
        """Return the number that stands for what a page gave: 31 bits of the code of its callback,
        32 of the fields of its first item, and of what the callback awaited."""
        return self._code(kept) << 32 | (shape ^ page.awaited) % 2**32

    def _code(self, kept: Record) -> int:
        return int(self.codes.get(kept.callback) or "1", 16) % 2**31

    def _has_other_code(self, kept: Record) -> bool:
        before, now = kept.gave >> 32, self._code(kept)
        return before > 1 and now > 1 and before != now

    def _gave_less(self, known: _Gave, callback_name: str) -> bool:
        """Tell whether a page lacks fields that a copy of it may fill."""
        callback = self._callbacks[callback_name]
        usual = {name for name, pages in callback.filled.items() if 2 * pages > callback.pages}
        if usual - known.filled.keys():
            return True
        return bool(known.empty) and callback.trials < max(TRIALS, callback.copies / SHARE)


def fields_of(item: Any) -> tuple[dict[str, int], set[str]]:
    """Return digests of the fields that an item fills, by name, and the names of its other ones."""
    filled: dict[str, int] = {}
    empty: set[str] = set()
    pairs = ItemAdapter(item).items() if ItemAdapter.is_item(item) else [("", item)]
    for name, value in pairs:
        if _is_empty(value):
            empty.add(str(name))
        else:
            said = str(value).strip().encode("utf-8", "replace")
            filled[str(name)] = mmh3.hash64(said, signed=False)[0]
    return filled, empty


def _is_empty(value: Any) -> bool:
    if isinstance(value, str):
        return not value.strip()
    if isinstance(value, list | tuple | set | dict):
        return all(map(_is_empty, value))
    return value is None

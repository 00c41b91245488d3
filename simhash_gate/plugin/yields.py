"""The yields of pages: a copy of a page that gave no item is not dropped, since it may give one.

Such copies go to their callbacks, one at a time, and their items are delivered. But some spiders
write files in their callbacks, and give no items at all. After enough copies without items, their
copies are dropped by their text, as usual.
"""

from __future__ import annotations

import logging
from collections import Counter, OrderedDict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from simhash_gate.gate.verdict import Verdict
from simhash_gate.stores.base import Identity, Record

if TYPE_CHECKING:
    from simhash_gate.plugin.store_thread import StoreThread

logger = logging.getLogger(__name__)

IN_VAIN = 5
"""If a callback never gave an item, its copies are dropped by their text after this many copies
that gave neither items nor requests. Pages that lead to other pages are counted apart."""
IN_A_ROW = 3
"""After this many copies of one page that gave nothing, its other copies are not fetched again."""
MOST_BARREN = 50_000
"""Pages without items that are remembered. Older ones count as if they had given items."""


@dataclass(slots=True)
class _Barren:
    """A page that gave no item: whether it `leads` to other pages, and copies tried in vain."""

    leads: bool | None = None
    tries: int = 0


class Yields:
    """Counts the items and requests of the kept pages of this crawl and of earlier ones."""

    def __init__(self, store: StoreThread, followed: set[Identity]) -> None:
        self._store = store
        self._followed = followed
        self._barren: OrderedDict[Identity, _Barren] = OrderedDict()
        self._vain = Counter[tuple[str, bool | None]]()
        self._gave: set[str] = set()

    def given(self, verdict: Verdict) -> Verdict:
        """Return the verdict on a page, `unpaid` if it is a copy of a page without items."""
        match, revisited = verdict.match, verdict.outcome == "unchanged"
        if match is None or not verdict.held or (revisited and verdict.policy.revisit != "links"):
            return verdict
        if match.record.identity in self._followed or not self.wants_more(match.record):
            return verdict
        reason = f"{verdict.reason}; but no item came of that page"
        return replace(verdict, unpaid=True, reason=reason)

    def wants_more(self, kept: Record) -> bool:
        """Tell whether a page gave no item, and a copy of it may give one."""
        if kept.run == self._store.run.name:
            return kept.identity in self._barren and not self._text_decides(kept)
        return not kept.gave and not self._text_decides(kept)

    def is_tried(self, kept: Record) -> bool:
        """Tell whether `IN_A_ROW` copies of a page gave nothing."""
        barren = self._barren.get(kept.identity)
        return barren is not None and barren.tries >= IN_A_ROW

    def ended(self, kept: Record, *, given: int, sent: int, is_copy: bool) -> None:
        """Note the numbers of items and requests of a kept page, or of a copy of it."""
        if given:
            self._gave.add(kept.callback)
            self._barren.pop(kept.identity, None)
            if is_copy:
                self._store.settle(replace(kept, gave=True))
        elif not is_copy:
            self._barren[kept.identity] = _Barren(sent > 0)
            while len(self._barren) > MOST_BARREN:
                self._barren.popitem(last=False)
        else:
            barren = self._barren.setdefault(kept.identity, _Barren())
            barren.tries = 0 if sent else barren.tries + 1
            kind = kept.callback, barren.leads
            self._vain[kind] = 0 if sent else self._vain[kind] + 1
            if self._vain[kind] == IN_VAIN and kind[0] not in self._gave:
                logger.info(
                    "%s gives no items: copies of its pages are dropped for their text from now on",
                    kind[0] or "The callback",
                )

    def _text_decides(self, kept: Record) -> bool:
        barren = self._barren.get(kept.identity) or _Barren()
        vain = self._vain[kept.callback, barren.leads]
        return vain >= IN_VAIN and kept.callback not in self._gave

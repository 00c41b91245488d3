"""What came of pages: one that gave no item stands for none that a copy of it may give.

A copy of such a page goes to its callback, one at a time, and what it gives comes out. A spider
that writes in its callbacks gives no items at all: for it the text decides, once enough copies
were called in vain.
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
"""So many copies that a callback got, which never gave an item, gave neither that nor a request:
then its copies are dropped for their text. Pages that lead to others are counted apart."""
IN_A_ROW = 3
"""So many copies of one page gave nothing: then those that wait for it are not fetched again."""
MOST_BARREN = 50_000
"""Pages that are known to have given no item; of more, the oldest count as if they had."""


@dataclass(slots=True)
class _Barren:
    """A page that gave no item: whether it `leads` to other pages, and copies tried in vain."""

    leads: bool | None = None
    tries: int = 0


class Yields:
    """Knows what came of the pages of one crawl, and of those that earlier ones have kept."""

    def __init__(self, store: StoreThread, followed: set[Identity]) -> None:
        self._store = store
        self._followed = followed
        self._barren: OrderedDict[Identity, _Barren] = OrderedDict()
        self._vain = Counter[tuple[str, bool | None]]()
        self._gave: set[str] = set()

    def given(self, verdict: Verdict) -> Verdict:
        """Return the verdict on a page; `unpaid` if it need not be dropped for what was kept."""
        policy, match = verdict.policy, verdict.match
        seen = verdict.outcome == "duplicate" or (
            verdict.outcome == "unchanged" and policy.revisit == "links"
        )
        if match is None or not (seen and verdict.rejected) or policy.action == "tag":
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
        """Tell whether so many copies of a page gave nothing that no other one is fetched again."""
        barren = self._barren.get(kept.identity)
        return barren is not None and barren.tries >= IN_A_ROW

    def ended(self, kept: Record, *, given: int, sent: int, is_copy: bool) -> None:
        """Note how many items and requests came of a kept page, or of a copy of it, in all."""
        if given:
            self._gave.add(_callback(kept))
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
            kind = _callback(kept), barren.leads
            self._vain[kind] = 0 if sent else self._vain[kind] + 1
            if self._vain[kind] == IN_VAIN and kind[0] not in self._gave:
                logger.info(
                    "%s gives no items: copies of its pages are dropped for their text from now on",
                    kind[0] or "The callback",
                )

    def _text_decides(self, kept: Record) -> bool:
        barren = self._barren.get(kept.identity) or _Barren()
        vain = self._vain[_callback(kept), barren.leads]
        return vain >= IN_VAIN and _callback(kept) not in self._gave


def _callback(kept: Record) -> str:
    return kept.asker.partition("\n")[0]

"""No page is dropped for one that may still fail: not in this crawl, and not in another.

A page that this crawl took back is passed over. A page that another crawl is still working on is
waited for: once it is settled, its copy may be dropped; once it is gone, the copy is judged again;
where neither happens in time, the copy passes.
"""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from simhash_gate.plugin.awaiting import pause, result

if TYPE_CHECKING:
    from collections.abc import Callable

    from simhash_gate.gate.verdict import Verdict
    from simhash_gate.plugin.kept_texts import KeptTexts
    from simhash_gate.plugin.lifecycle import Lifecycle
    from simhash_gate.plugin.listeners import Crawl
    from simhash_gate.stores import Record

logger = logging.getLogger(__name__)

LONGEST_WAIT = 5.0
"""Seconds that a page waits for what becomes of another crawl's page."""
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 0.5

UNKNOWN = "another crawl is still working on that page"


class SettledJudge:
    """Judges pages, and drops none for a match that may still fail."""

    def __init__(self, crawl: Crawl, lifecycle: Lifecycle, texts: KeptTexts | None = None) -> None:
        self._store = crawl.store
        self._lifecycle = lifecycle
        self._stats = crawl.crawler.stats
        self._texts = texts

    async def verdict(
        self, ask: Callable[..., Verdict], scope: str, request: str, fingerprint: int | None
    ) -> Verdict:
        """Return the verdict of `ask(gate, dismissed=...)`. Raises `StoreError`.

        The other arguments tell the record that it may add.
        """
        trace = None
        if fingerprint is not None:
            trace = self._store.run.trace(scope, request, fingerprint)
        dismissed: list[Record] = []
        deadline: float | None = None
        while True:
            asked = partial(ask, dismissed=tuple(dismissed))
            verdict: Verdict = await result(self._store.submit(asked, doubtful=trace))
            if self._texts is not None:  # now: whatever is awaited later, the match may fail
                verdict = await self._texts.given(verdict)
            if verdict.match is None or verdict.record is not None:
                return verdict  # asked again, a page that was kept would be a copy of itself
            other = verdict.match.record
            if self._lifecycle.was_forgotten(other):
                dismissed.append(other)
                continue
            if not self._in_doubt(verdict):
                return verdict
            if deadline is None:
                deadline = time.monotonic() + LONGEST_WAIT
                self._stats.inc_value("simhash_gate/waited")
            settled = await self._settled(other, deadline)
            if settled:
                return verdict
            if settled is None:
                self._stats.inc_value("simhash_gate/unsettled")
                return replace(verdict, outcome="near", reason=f"{verdict.reason}; {UNKNOWN}")

    def _in_doubt(self, verdict: Verdict) -> bool:
        """Tell whether something of the page would be held back for one that may still fail."""
        assert verdict.match is not None
        other = verdict.match.record
        held = verdict.rejected and verdict.action != "tag"
        return held and not other.settled and other.run != self._store.run.name

    async def _settled(self, other: Record, deadline: float) -> bool | None:
        """Return True once a record is settled, False once it is gone, None when time is up."""
        seconds = FIRST_PAUSE
        while time.monotonic() < deadline:
            await pause(seconds)
            now = await result(self._store.submit(lambda gate: gate.store.current(other)))
            if now is None:
                return False
            if now.settled:
                return True
            seconds = min(1.5 * seconds, LONGEST_PAUSE)
        return None

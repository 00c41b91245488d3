"""Keeps every dropped response in a journal. A separate thread packs and writes them."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from pathlib import Path

from scrapy import Spider

from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import MissingExtraError
from simhash_gate.fingerprints.hamming import to_hex
from simhash_gate.journal.segments import MOST_BYTES, Segments
from simhash_gate.journal.warc import Drop, Stored, need_fastwarc, pack
from simhash_gate.plugin.followed import FollowedPage
from simhash_gate.plugin.listeners import Crawl, Judged, Listener
from simhash_gate.plugin.threads import LineThread
from simhash_gate.values import PREFIX, SettingsError

logger = logging.getLogger(__name__)

_Waiting = tuple[Judged, float]  # the second is the time of the verdict
MOST_WAITING = 64 << 20
"""Bytes of bodies that may wait to be written. Further responses are not kept."""


class Journal(Listener):
    """Writes dropped responses to a folder. Failures are counted, and each reason is logged once.

    Raises `SettingsError` if the package that it needs is not installed.
    """

    def __init__(self, crawl: Crawl) -> None:
        super().__init__(crawl)
        try:
            need_fastwarc()
        except MissingExtraError as error:
            raise SettingsError(f"{PREFIX}JOURNAL: {error}") from None
        self._folder = Path(crawl.settings.journal).absolute()
        self._segments = Segments(self._folder, MOST_BYTES)
        self._thread: LineThread[_Waiting] = LineThread("dropped page", self._work)
        # The thread of the crawl changes the first two, the thread of the journal the others.
        self._dropped_pages = self._queued_bytes = 0
        self._taken_bytes = self._written = 0

    def opened(self, spider: Spider) -> None:
        self._spider = spider.name
        self._thread.start()

    def judged(self, judged: Judged, page: FollowedPage | None) -> None:
        if not judged.dropped or judged.not_modified:
            return
        self._dropped_pages += 1
        size = len(judged.response.body)
        if self._queued_bytes - self._taken_bytes + size > MOST_WAITING:
            self._tell(OSError(f"more than {MOST_WAITING} bytes wait to be written"))
        elif self._thread.put((judged, time.time())):
            self._queued_bytes += size

    async def closed(self) -> None:
        await self._thread.close()
        failed = self._dropped_pages - self._written
        if self._written:
            self._stats.set_value("simhash_gate/journaled", self._written)
            logger.info("Dropped pages are kept in %s: %d of them", self._folder, self._written)
        if failed:
            self._stats.set_value("simhash_gate/journal_failed", failed)
            logger.error("Dropped pages that are not in the journal: %d", failed)

    def _work(self, pages: Iterator[_Waiting]) -> None:
        try:
            self._segments.check()
        except OSError as error:
            self._tell(error)
        for judged, at in pages:
            try:
                self._segments.append(self._packed(judged, at))
                self._written += 1
            except Exception as error:
                self._tell(error)
            finally:
                self._taken_bytes += len(judged.response.body)
        self._segments.close()

    def _packed(self, judged: Judged, at: float) -> bytes:
        verdict, match, response = judged.verdict, judged.verdict.match, judged.response
        drop = Drop(
            url=without_credentials(response.url),
            time=at,
            spider=self._spider,
            pipeline=self._crawl.store.run.pipeline,
            outcome=verdict.outcome,
            reason=verdict.reason,
            matched_url=match.record.url if match else "",
            distance=match.distance if match else 0,
            threshold=verdict.policy.threshold,
            title=verdict.title,
            words=verdict.page.words if verdict.page else 0,
            fingerprint=None if verdict.fingerprint is None else to_hex(verdict.fingerprint),
            encoding=getattr(response, "encoding", None),
            matched_markdown=verdict.kept.markdown if verdict.kept else "",
        )
        headers = [(name, value) for name, values in response.headers.items() for value in values]
        address = str(response.ip_address or "")
        return pack(drop, Stored(response.status, headers, response.body, address))

    def _tell(self, error: Exception) -> None:
        self._tell_once(f"JOURNAL: dropped pages are not kept in {self._folder}", error)

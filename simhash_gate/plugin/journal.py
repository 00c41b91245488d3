"""Keeps every dropped response in a journal: packed and written on a thread of its own."""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy.http import HtmlResponse, Response

from simhash_gate.common.wording import MissingExtraError, why
from simhash_gate.fingerprints.hamming import to_hex
from simhash_gate.journal.segments import MOST_BYTES, Segments
from simhash_gate.journal.warc import Drop, Stored, need_fastwarc, pack
from simhash_gate.plugin.listeners import Crawl, FollowedPage, Judged, Listener
from simhash_gate.plugin.requests import RequestWriter
from simhash_gate.plugin.threads import LineThread
from simhash_gate.values import PREFIX, SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy import Spider
    from typing_extensions import Self

    from simhash_gate.gate.verdict import Verdict

logger = logging.getLogger(__name__)

MOST_WAITING = 64 << 20
"""Bytes of bodies that wait to be written; what comes on top of them is not kept."""


class _Waiting(NamedTuple):
    response: Response
    verdict: Verdict
    request: dict[str, Any]
    omitted: list[str]
    time: float


class Journal(Listener):
    """Writes what the gate drops to a folder. What can't be written is counted, and told once.

    Raises `SettingsError` where the package that it needs is not installed.
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
        self._warned: set[str] = set()
        # Each is changed by one thread: the first two by the crawl's, the others by the journal's.
        self._dropped_pages = self._queued_bytes = 0
        self._taken_bytes = self._written = self._written_bytes = 0

    @classmethod
    def for_crawl(cls, crawl: Crawl) -> Self | None:
        """Return the journal if the settings ask for one."""
        return cls(crawl) if crawl.settings.journal else None

    def opened(self, spider: Spider) -> None:
        """Start to write."""
        self._spider = spider.name
        self._requests = RequestWriter(spider)
        self._thread.start()

    def judged(self, judged: Judged, page: FollowedPage | None) -> None:
        """Write a dropped page, soon."""
        if not judged.dropped or judged.not_modified:
            return
        self._dropped_pages += 1
        size = len(judged.response.body)
        try:
            if self._queued_bytes - self._taken_bytes + size > MOST_WAITING:
                raise OSError(f"more than {MOST_WAITING} bytes wait to be written")
            request, omitted = self._requests.json_of(judged.as_sent)
        except Exception as error:
            self._tell(error)
            return
        waiting = _Waiting(judged.response, judged.verdict, request, omitted, time.time())
        if self._thread.put(waiting):
            self._queued_bytes += size

    async def closed(self) -> None:
        """Write what is left, and the closing figures."""
        await self._thread.close()
        failed = self._dropped_pages - self._written
        for name, value in (
            ("journaled", self._written),
            ("journal_bytes", self._written_bytes),
            ("journal_failed", failed),
            ("journal_removed", self._segments.removed),
        ):
            if value:
                self._crawl.crawler.stats.set_value(f"simhash_gate/{name}", value)
        if self._written:
            logger.info("Dropped pages are kept in %s: %d of them", self._folder, self._written)
        if failed:
            logger.error("Dropped pages that are not in the journal: %d", failed)

    def _work(self, batches: Iterator[list[_Waiting]]) -> None:
        try:
            self._segments.check()
        except OSError as error:
            self._tell(error)
        for batch in batches:
            for waiting in batch:
                self._write(waiting)
        self._segments.close()

    def _write(self, waiting: _Waiting) -> None:
        try:
            records = pack(self._drop(waiting), _stored(waiting.response))
            self._segments.append(records)
            self._written += 1
            self._written_bytes += len(records)
        except Exception as error:
            self._tell(error)
        finally:
            self._taken_bytes += len(waiting.response.body)

    def _drop(self, waiting: _Waiting) -> Drop:
        response, verdict, match = waiting.response, waiting.verdict, waiting.verdict.match
        return Drop(
            url=response.url,
            time=waiting.time,
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
            request=waiting.request,
            omitted=waiting.omitted,
            response=_attributes(response),
            matched_markdown=verdict.kept.markdown if verdict.kept else "",
        )

    def _tell(self, error: object) -> None:
        """Say once for each reason why pages are not kept; the crawl goes on."""
        if isinstance(error, OSError):
            error = why(error)
        elif isinstance(error, Exception):
            error = f"{type(error).__name__}: {error}"
        if str(error) not in self._warned:
            self._warned.add(str(error))
            logger.error(
                "%sJOURNAL: dropped pages are not kept in %s: %s", PREFIX, self._folder, error
            )


def _stored(response: Response) -> Stored:
    headers = [
        (name, value) for name in response.headers for value in response.headers.getlist(name)
    ]
    address = str(response.ip_address or "")
    return Stored(response.status, headers, response.body, address)


def _attributes(response: Response) -> dict[str, Any]:
    """Return what `response_of` needs beside what HTTP knows."""
    found: dict[str, Any] = {"flags": list(map(str, response.flags)), "protocol": response.protocol}
    if isinstance(response, HtmlResponse):
        found["encoding"] = response.encoding
    if type(response) is not HtmlResponse:
        found["class"] = f"{type(response).__module__}.{type(response).__qualname__}"
    return found

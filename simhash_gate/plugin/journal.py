"""Keeps every dropped response in a journal: packed and written on a thread of its own."""

from __future__ import annotations

import logging
import queue
import time
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy import signals
from scrapy.http import HtmlResponse

from simhash_gate.common.complaints import MissingExtraError
from simhash_gate.fingerprints.hamming import to_hex
from simhash_gate.gate.policy import SettingsError
from simhash_gate.journal.drop import Drop, Stored
from simhash_gate.journal.segments import Segments
from simhash_gate.journal.warc import need_fastwarc, pack
from simhash_gate.plugin.awaiting import LONGEST_CLOSING, done_within
from simhash_gate.plugin.requests import RequestWriter
from simhash_gate.plugin.signals import near_duplicate_dropped
from simhash_gate.settings import PREFIX

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from simhash_gate.gate.verdict import Verdict
    from simhash_gate.settings import Settings

logger = logging.getLogger(__name__)

MOST_WAITING = 64 << 20
"""Bytes of bodies that wait to be written; what comes on top of them is not kept."""


class _Waiting(NamedTuple):
    response: Response
    verdict: Verdict
    request: dict[str, Any]
    unsaid: list[str]
    time: float


class Journal:
    """Writes what the gate drops to a folder. What can't be written is counted, and told once.

    Raises `SettingsError` where the package that it needs is not installed.
    """

    def __init__(self, crawler: Crawler, settings: Settings, pipeline: str) -> None:
        try:
            need_fastwarc()
        except MissingExtraError as error:
            raise SettingsError(f"{PREFIX}JOURNAL: {error}") from None
        self._crawler = crawler
        self._pipeline = pipeline
        self._folder = Path(settings.journal).absolute()
        self._segments = Segments(self._folder, settings.journal_bytes)
        self._queue: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._closed: Future[None] | None = None
        self._told: set[str] = set()
        # Each is changed by one thread: the first two by the crawl's, the others by the journal's.
        self._dropped_pages = self._queued_bytes = 0
        self._taken_bytes = self._written = self._written_bytes = 0
        crawler.signals.connect(self._open, signals.spider_opened)
        crawler.signals.connect(self._dropped, near_duplicate_dropped)
        crawler.signals.connect(self._close, signals.spider_closed)

    def _open(self, spider: Spider) -> None:
        self._spider = spider.name
        self._requests = RequestWriter(spider)
        closed = self._closed = Future()
        work = partial(self._work, closed)
        Thread(target=work, name="simhash_gate-journal", daemon=True).start()

    def _dropped(self, request: Request, response: Response, verdict: Verdict) -> None:
        self._dropped_pages += 1
        try:
            if self._queued_bytes - self._taken_bytes + len(response.body) > MOST_WAITING:
                raise OSError(f"more than {MOST_WAITING} bytes wait to be written")
            said, unsaid = self._requests.json_of(request)
        except Exception as error:
            self._tell(error)
            return
        self._queued_bytes += len(response.body)
        self._queue.put(_Waiting(response, verdict, said, unsaid, time.time()))

    async def _close(self) -> None:
        if self._closed is None:
            return
        self._queue.put(None)
        if not await done_within(self._closed, LONGEST_CLOSING):
            logger.error(
                "The crawl ends without all that it dropped in the journal: the disk hangs"
            )
        failed = self._dropped_pages - self._written
        for name, value in (
            ("journaled", self._written),
            ("journal_bytes", self._written_bytes),
            ("journal_failed", failed),
            ("journal_removed", self._segments.removed),
        ):
            if value:
                self._crawler.stats.set_value(f"simhash_gate/{name}", value)
        if self._written:
            logger.info("Dropped pages are kept in %s: %d of them", self._folder, self._written)
        if failed:
            logger.error("Dropped pages that are not in the journal: %d", failed)

    def _work(self, closed: Future[None]) -> None:
        try:
            try:
                self._segments.check()
            except OSError as error:
                self._tell(error)
            while (waiting := self._queue.get()) is not None:
                self._write(waiting)
            self._segments.close()
        except Exception:
            logger.exception("The journal failed")
        finally:
            closed.set_result(None)

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
        response, verdict = waiting.response, waiting.verdict
        assert verdict.match is not None
        return Drop(
            url=response.url,
            time=waiting.time,
            spider=self._spider,
            pipeline=self._pipeline,
            outcome=verdict.outcome,
            reason=verdict.reason,
            matched_url=verdict.match.record.url,
            distance=verdict.match.distance,
            threshold=verdict.policy.threshold,
            title=verdict.title,
            words=verdict.page.words if verdict.page else 0,
            fingerprint=None if verdict.fingerprint is None else to_hex(verdict.fingerprint),
            request=waiting.request,
            unsaid=waiting.unsaid,
            response=_beside(response),
        )

    def _tell(self, error: object) -> None:
        """Say once for each reason why pages are not kept; the crawl goes on."""
        if isinstance(error, OSError):
            error = f"{error.strerror or error}"
        elif isinstance(error, Exception):
            error = f"{type(error).__name__}: {error}"
        if str(error) not in self._told:
            self._told.add(str(error))
            logger.error(
                "%sJOURNAL: dropped pages are not kept in %s: %s", PREFIX, self._folder, error
            )


def _stored(response: Response) -> Stored:
    headers = [
        (name, value) for name in response.headers for value in response.headers.getlist(name)
    ]
    address = str(response.ip_address or "")
    return Stored(response.status, headers, response.body, address)


def _beside(response: Response) -> dict[str, Any]:
    """Return what `response_of` needs beside what HTTP knows."""
    found: dict[str, Any] = {"flags": list(map(str, response.flags)), "protocol": response.protocol}
    if isinstance(response, HtmlResponse):
        found["encoding"] = response.encoding
    if type(response) is not HtmlResponse:
        found["class"] = f"{type(response).__module__}.{type(response).__qualname__}"
    return found

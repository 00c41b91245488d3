"""Keeps every dropped response in a journal, and recovers them (`SIMHASH_GATE_RECOVER`).

Responses are packed and written on a separate thread. In a recovery, they go to their callbacks.
Then nothing is fetched: the spider's `start` does not run, and no request is sent.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydispatch.dispatcher import getAllReceivers, liveReceivers
from scrapy import Request, Spider, signals
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Headers, HtmlResponse, Response
from scrapy.settings import BaseSettings
from scrapy.utils.misc import load_object

from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import MissingExtraError, how_many, why
from simhash_gate.fingerprints.hamming import to_hex
from simhash_gate.journal.contents import Found, drops, journal_files, load
from simhash_gate.journal.segments import MOST_BYTES, Segments
from simhash_gate.journal.warc import Drop, Stored, need_fastwarc, pack
from simhash_gate.plugin.listeners import Crawl, FollowedPage, Judged, Listener
from simhash_gate.plugin.requests import RECOVERED_KEY, RequestWriter, request_of
from simhash_gate.plugin.spider_middleware import (
    GateComponent,
    OutputFilter,
    is_installed,
    refusing,
    settings_of,
)
from simhash_gate.plugin.threads import LineThread
from simhash_gate.values import PREFIX, SettingsError

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self


logger = logging.getLogger(__name__)

_Waiting = tuple[Response, Callable[[], Drop]]
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
        """Start to write."""
        self._spider = spider.name
        self._requests = RequestWriter(spider)
        self._thread.start()

    def judged(self, judged: Judged, page: FollowedPage | None) -> None:
        """Pass a dropped page to the thread that writes."""
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
        drop = partial(self._drop, judged, request, omitted, time.time())
        if self._thread.put((judged.response, drop)):
            self._queued_bytes += size

    async def closed(self) -> None:
        """Write the pages that are left, and the closing figures."""
        await self._thread.close()
        failed = self._dropped_pages - self._written
        for name, value in (("journaled", self._written), ("journal_failed", failed)):
            if value:
                self._stats.set_value(f"simhash_gate/{name}", value)
        if self._written:
            logger.info("Dropped pages are kept in %s: %d of them", self._folder, self._written)
        if failed:
            logger.error("Dropped pages that are not in the journal: %d", failed)

    def _work(self, pages: Iterator[_Waiting]) -> None:
        try:
            self._segments.check()
        except OSError as error:
            self._tell(error)
        for response, drop in pages:
            try:
                self._segments.append(pack(drop(), _stored(response)))
                self._written += 1
            except Exception as error:
                self._tell(error)
            finally:
                self._taken_bytes += len(response.body)
        self._segments.close()

    def _drop(self, judged: Judged, request: dict[str, Any], omitted: list[str], at: float) -> Drop:
        verdict, match = judged.verdict, judged.verdict.match
        return Drop(
            url=judged.response.url,
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
            request=request,
            omitted=omitted,
            response=_attributes(judged.response),
            matched_markdown=verdict.kept.markdown if verdict.kept else "",
        )

    def _tell(self, error: Exception) -> None:
        reason = why(error) if isinstance(error, OSError) else f"{type(error).__name__}: {error}"
        if self._once(reason):
            logger.error(
                "%sJOURNAL: dropped pages are not kept in %s: %s", PREFIX, self._folder, reason
            )


def _stored(response: Response) -> Stored:
    headers = [
        (name, value) for name in response.headers for value in response.headers.getlist(name)
    ]
    address = str(response.ip_address or "")
    return Stored(response.status, headers, response.body, address)


def _attributes(response: Response) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        "flags": list(map(str, response.flags)),
        "protocol": response.protocol,
    }
    if isinstance(response, HtmlResponse):
        attributes["encoding"] = response.encoding
    if type(response) is not HtmlResponse:
        attributes["class"] = f"{type(response).__module__}.{type(response).__qualname__}"
    return attributes


SETTING = f"{PREFIX}RECOVER"
OUTERMOST = -20_000
UNUSED = {
    "HTTPCACHE_ENABLED": False,
    "JOBDIR": None,
    "SCHEDULER": "scrapy.core.scheduler.Scheduler",
    "DUPEFILTER_CLASS": "scrapy.dupefilters.RFPDupeFilter",
    f"{PREFIX}JOURNAL": "",
    f"{PREFIX}VERDICTS": "",
    f"{PREFIX}REPORT": "",
}
"""Settings of a recovery. It fills no cache, takes no requests from a queue, which other crawlers
may share, and does not change the journal, the log and the report of the crawl."""


def install(settings: BaseSettings) -> None:
    """Add the middlewares of a recovery to the settings of a crawl."""
    for name, component in (
        ("DOWNLOADER_MIDDLEWARES", RecoverDownloaderMiddleware),
        ("SPIDER_MIDDLEWARES", RecoverSpiderMiddleware),
    ):
        settings.setdefault_in_component_priority_dict(name, component, OUTERMOST)
    for name, value in UNUSED.items():
        settings.set(name, value, priority="cmdline")


def check_journal(path: str, settings: BaseSettings) -> None:
    """Raise `SettingsError` if the journal can't be recovered with these settings."""
    if not is_installed(settings, RecoverSpiderMiddleware):
        raise SettingsError(f"{SETTING} needs the add-on: ADDONS = {{'simhash_gate.Addon': 0}}")
    if not Path(path).exists():
        raise SettingsError(f"{SETTING} = {path!r}: no such file or folder")
    try:
        journal_files(path)
    except OSError as error:
        raise SettingsError(f"{SETTING} = {path!r}: {why(error)}") from None
    try:
        need_fastwarc()
    except MissingExtraError as error:
        raise SettingsError(f"{SETTING}: {error}") from None


class _Recover(GateComponent):
    """The base of both middlewares of a recovery."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._warned: set[str] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware. Raises `SettingsError`, which stops the crawl before it starts."""
        with refusing():
            if not settings_of(crawler).enabled:
                raise SettingsError(f"{SETTING} needs the gate, but {PREFIX}ENABLED is False")
            return cls(crawler)

    def _count(self, name: str) -> None:
        self._crawler.stats.inc_value(f"simhash_gate/{name}")

    def _failed(self, place: object, error: object) -> None:
        """Count a page that can't be recovered. Log each reason once."""
        self._count("recover_failed")
        if str(error) not in self._warned:
            self._warned.add(str(error))
            logger.error("Not recovered: %s: %s", place, error)


class RecoverSpiderMiddleware(_Recover, OutputFilter):
    """Starts the crawl with the requests of the journal, and stops all others."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._path = settings_of(crawler).recover
        crawler.signals.connect(self._closed, signals.spider_closed)

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Request]:
        """Yield the requests of this spider's dropped pages in place of its start requests."""
        spider = self._crawler.spider
        assert spider is not None
        self._ask_for_no_more(spider)
        others: Counter[str] = Counter()
        for dropped in drops(self._path, self._failed):
            if dropped.drop.spider != spider.name:
                others[dropped.drop.spider] += 1
                continue
            try:
                request = request_of(dropped.drop.request, spider)
            except ValueError as error:
                self._failed(dropped.place, error)
                continue
            if dropped.drop.omitted:
                self._incomplete(dropped)
            request.meta[RECOVERED_KEY] = dropped
            yield request.replace(dont_filter=True)
        for name, number in others.most_common():
            pages = how_many(number, "page")
            logger.warning("Not recovered: %s that the spider %r dropped", pages, name)

    def _goes_on(self, response: Response, output: Any) -> bool:
        if isinstance(output, Request):
            self._count("not_fetched")
            return False
        return True

    def _ask_for_no_more(self, spider: Spider) -> None:
        """Disconnect the spider's handlers of `spider_idle`: no further request is fetched."""
        manager = self._crawler.signals
        for receiver in list(liveReceivers(getAllReceivers(self._crawler, signals.spider_idle))):
            if getattr(receiver, "__self__", None) is spider:
                manager.disconnect(receiver, signals.spider_idle)

    def _incomplete(self, dropped: Found) -> None:
        self._count("recovered_incomplete")
        names = ", ".join(map(str, dropped.drop.omitted))
        if names not in self._warned:
            self._warned.add(names)
            logger.warning(
                "Recovered without %s, which JSON can't say: %s",
                names,
                without_credentials(dropped.drop.url),
            )

    def _closed(self) -> None:
        recovered, failed, not_fetched = (
            self._crawler.stats.get_value(f"simhash_gate/{name}", 0)
            for name in ("recovered", "recover_failed", "not_fetched")
        )
        logger.info(
            "Recovered from %s: %s; %d could not be recovered; requests that were not "
            "fetched, as nothing is in a recovery: %d",
            self._path, how_many(recovered, "page"), failed, not_fetched,
        )  # fmt: skip


class RecoverDownloaderMiddleware(_Recover):
    """Answers the requests of the journal with their stored responses, and refuses all others."""

    def process_request(self, request: Request) -> Response:
        """Return the dropped response. Raises `IgnoreRequest` if there is none."""
        dropped: Found | None = request.meta.get(RECOVERED_KEY)
        if dropped is None or dropped.drop.request.get("url") != request.url:
            self._count("not_fetched")
            raise IgnoreRequest(f"nothing is fetched in a recovery ({SETTING})")
        try:
            return _response(load(dropped.place), dropped)
        except Exception as error:  # a damaged file may raise anything
            self._failed(dropped.place, error)
            raise IgnoreRequest(f"{dropped.place}: {error}") from error

    def process_response(self, request: Request, response: Response) -> Response:
        """Count the response."""
        self._count("recovered")
        return response


def _response(stored: Stored, dropped: Found) -> Response:
    """Return the response that was dropped. Raises `ValueError` if its class can't be loaded."""
    attributes = dropped.drop.response
    cls = HtmlResponse
    if name := attributes.get("class"):
        try:
            cls = load_object(name)
        except Exception as error:
            raise ValueError(f"the class {name} of its response: {error}") from error
        if not (isinstance(cls, type) and issubclass(cls, HtmlResponse)):
            raise ValueError(f"{name} is no class of responses")
    return cls(
        dropped.drop.url,
        status=stored.status,
        headers=Headers(stored.headers),
        body=stored.body,
        flags=[*attributes.get("flags", ()), "recovered"],
        ip_address=ip_address(stored.ip_address) if stored.ip_address else None,
        protocol=attributes.get("protocol"),
        encoding=attributes.get("encoding"),
    )

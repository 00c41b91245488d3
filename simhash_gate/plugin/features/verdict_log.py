"""The verdict log of a crawl, and its report."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote
from weakref import WeakKeyDictionary

from scrapy import Spider
from scrapy import __version__ as scrapy_version

from simhash_gate.common.files import check_writable, open_anew, private_folder, whole_file
from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import MissingExtraError, why
from simhash_gate.gate.verdict import encode, line_of
from simhash_gate.page import Page
from simhash_gate.plugin.followed import FollowedPage
from simhash_gate.plugin.listeners import Crawl, Judged, Listener
from simhash_gate.plugin.reading import Bounded
from simhash_gate.plugin.threads import LineThread
from simhash_gate.report.differences import changes_in, lines_of, parts_of
from simhash_gate.report.html import check_installed, render
from simhash_gate.report.summary import Summary
from simhash_gate.values import PREFIX, SettingsError

Line = Mapping[str, Any]

logger = logging.getLogger(__name__)

MOST_CHANGES = 50  # of one page, that are written down


class VerdictLog(Listener):
    """Writes the verdict log and the report, as far as the settings ask for them.

    `SIMHASH_GATE_VERDICTS` is written line by line, `SIMHASH_GATE_REPORT` when the spider closes.
    Raises `SettingsError` if a report needs a package that is not installed.
    """

    def __init__(self, crawl: Crawl) -> None:
        super().__init__(crawl)
        self._thread: LineThread[Line] = LineThread("verdict", self._work)
        self._held: WeakKeyDictionary[FollowedPage, Line] = WeakKeyDictionary()
        self._texts = ReportTexts() if crawl.settings.report else None
        if crawl.settings.report:
            try:
                check_installed()
            except MissingExtraError as error:
                raise SettingsError(f"{PREFIX}REPORT: {error}") from None

    def opened(self, spider: Spider) -> None:
        self._spider, started = spider.name, datetime.now()
        # To the microsecond: of two crawls that begin in one second, each has files of its own.
        at = started.isoformat(timespec="microseconds").replace(":", "-")
        self._in_paths = {"name": quote(spider.name, safe=""), "time": at}
        self._head: Line = self._settings.crawl_line(
            "crawl",
            spider.name,
            run=self._crawl.store.run.name,
            started=round(started.timestamp(), 3),
            scrapy=scrapy_version,
        )
        self._thread.start()

    def judged(self, judged: Judged, page: FollowedPage | None) -> None:
        if self._texts is not None:
            self._texts.judged(judged)
        verdict = judged.verdict
        line = line_of(
            verdict,
            url=judged.response.url,
            dropped=judged.dropped,
            size=len(judged.response.body),
            at=round(time.time(), 3),
        )
        match, kept = verdict.match, verdict.kept
        line["held"] = judged.held and not judged.dropped
        line["matched_run"] = match.record.run if match else None
        line["matched_key"] = match.record.key if match else None
        if verdict.outcome == "unchanged" and page is not None:
            self._held[page] = line
        if verdict.means.changed:
            line["listing"] = verdict.listing
        if verdict.means.changed and kept is not None:
            found = changes_in(parts_of(*map(lines_of, (kept.markdown, verdict.markdown))))
            line["changes"] = [change.shown()._asdict() for change in found[:MOST_CHANGES]]
        self._put(line)

    def moved(self, page: FollowedPage) -> None:
        """Write down that the items of an unchanged page were delivered, in place of its line."""
        line = self._held.get(page)
        if page.news and line is not None:
            came = {"held": False, "reason": f"{line['reason']}; its items came: {page.news}"}
            self._put({"came": {**line, **came}})

    async def closed(self) -> None:
        """Write the last lines and the report. Wait for a disk that hangs, but not for ever."""
        self._put()
        await self._thread.close()

    def _put(self, *lines: Line) -> None:
        for line in (*self._crawl.lines, *lines):
            # The head is part of the first line: so every line is still a verdict.
            self._thread.put({**line, **self._head})
            self._head = {}
        self._crawl.lines.clear()

    def _work(self, lines: Iterator[Line]) -> None:
        written = _written(lines, self._settings.verdicts % self._in_paths)
        if not self._settings.report:
            deque(written, maxlen=0)
            return
        path = Path(self._settings.report % self._in_paths)
        try:  # a wrong path is reported at the start, and not after hours
            private_folder(path.parent)
            check_writable(path)
        except OSError as error:
            logger.error(
                "%sREPORT: %s can't be written: %s; it is tried again when the spider closes",
                PREFIX, path, why(error),
            )  # fmt: skip
        summary = Summary()
        for line in written:
            summary.add_line(line)
        summary.add_line(self._head)
        summary.missed = self._thread.missed
        report = render(summary, name=self._spider, texts=self._texts)
        try:
            private_folder(path.parent)
            with whole_file(path) as file:  # replaced only when all is written
                file.write(report)
        except OSError as error:
            logger.error("%sREPORT: %s could not be written: %s", PREFIX, path, why(error))
        else:
            logger.info("The gate's report: %s (%d kB)", path.absolute(), len(report) // 1000)


def _written(lines: Iterator[Line], path: str) -> Iterator[Line]:
    """Yield lines, and write each at once: it stays even if the crawl is killed.

    A failure is logged, and no more lines are written. With the path "", nothing is written.
    """
    failed = "verdicts are not written"
    try:
        if path:
            private_folder(Path(path).parent)
            with open_anew(path) as file:
                failed = "no more verdicts are written"
                for line in lines:
                    yield line
                    file.write(encode(line))
                    file.flush()
    except OSError as error:
        logger.error("%sVERDICTS: %s to %s: %s", PREFIX, failed, path, why(error))
    yield from lines


MOST_BYTES = 32 << 20


class ReportTexts:
    """Keeps the articles of kept pages, and of duplicates that differ from them, by URL.

    The articles used last stay. A call with names of pages returns their Markdown if it is there.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._articles: Bounded[str, Page] = Bounded(most_bytes)

    def judged(self, judged: Judged) -> None:
        """Keep the article of a judged page if the report may show it."""
        verdict = judged.verdict
        page, match = verdict.page, verdict.match
        if page is None or not page.article:
            return
        if verdict.record is not None:
            self._keep(verdict.record.url, page)
        elif verdict.rejected and match is not None:
            kept = match.record
            self._articles.get(kept.url)  # the article of the kept page counts as used now
            if match.distance or (page.title, page.words) != (kept.title, kept.words):
                self._keep(without_credentials(judged.response.url), page)

    def __call__(self, names: Collection[str]) -> Mapping[str, str]:
        """Return the Markdown of those pages that are kept, by name."""
        return {name: page.markdown for name in names if (page := self._articles.get(name))}

    def _keep(self, name: str, page: Page) -> None:
        if self._articles.get(name) is None:  # the first page of a name stays
            # Only the article is copied: the page may have much more in memory by now.
            page = Page("", 0, None, 0, False, None, url=page.url, article=page.article)
            self._articles.put(name, page, len(page.article))

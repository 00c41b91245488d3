"""The verdicts of a crawl, written down and summed up: off the event loop, and never in its way."""

from __future__ import annotations

import logging
import time
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy import signals

from simhash_gate.common.complaints import MissingExtraError, why
from simhash_gate.common.files import check_writable, open_anew, private_folder
from simhash_gate.gate.line import line_of
from simhash_gate.gate.policy import SettingsError
from simhash_gate.plugin.lines import LineFile, LineThread
from simhash_gate.plugin.places import fill_in
from simhash_gate.report.html import check_installed, render, write
from simhash_gate.report.summary import Summary
from simhash_gate.settings import PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from simhash_gate.gate.verdict import Verdict
    from simhash_gate.plugin.lines import Line
    from simhash_gate.settings import Settings

logger = logging.getLogger(__name__)


class VerdictLog:
    """Takes down what the gate says of each response, as far as the settings ask for it.

    `SIMHASH_GATE_VERDICTS` is written line by line, `SIMHASH_GATE_REPORT` when the spider closes.
    Raises `SettingsError` where a report needs a package that is not installed.
    """

    def __init__(self, crawler: Crawler, settings: Settings) -> None:
        self._settings = settings
        self._thread: LineThread | None = None
        if settings.report:
            try:
                check_installed()
            except MissingExtraError as error:
                raise SettingsError(f"{PREFIX}REPORT: {error}") from None
        if settings.verdicts or settings.report:
            crawler.signals.connect(self._open, signals.spider_opened)

    def add(self, response: Response, verdict: Verdict, *, dropped: bool = False) -> None:
        """Take down a verdict."""
        if self._thread is not None:
            size = len(response.body)
            at = round(time.time(), 3)
            self.add_line(line_of(verdict, url=response.url, dropped=dropped, size=size, at=at))

    def add_line(self, line: Line) -> None:
        """Take down a line of any kind; readers pass over what they do not know."""
        if self._thread is not None:
            self._thread.put(line)

    def _open(self, spider: Spider) -> None:
        self._thread = LineThread("verdict", partial(self._work, spider.name))
        self._thread.start()

    async def close(self) -> None:
        """Write what is left, and the report; waits for a disk that hangs, but not for ever."""
        if self._thread is not None:
            await self._thread.close()

    def _work(self, spider: str, batches: Iterator[list[Line]]) -> None:
        summary = Summary() if self._settings.report else None
        report = Path(fill_in(self._settings.report, spider))
        path = fill_in(self._settings.verdicts, spider)
        if summary is not None:
            _check(report)
        with closing(LineFile(path, open_anew, setting="VERDICTS", what="verdict")) as file:
            for lines in batches:
                file.write(lines)
                if summary is not None:
                    for line in lines:
                        summary.add_line(line)
        if summary is not None:
            assert self._thread is not None
            summary.missed = self._thread.missed
            _report(summary, report, spider)


def _report(summary: Summary, path: Path, spider: str) -> None:
    report = render(summary, name=spider)
    try:
        write(report, path)
    except OSError as error:
        logger.error("%sREPORT: %s could not be written: %s", PREFIX, path, why(error))
    else:
        logger.info("The gate's report: %s (%d kB)", path.absolute(), len(report) // 1000)


def _check(report: Path) -> None:
    """Say at the start of the crawl, not after hours, that its report can't be written."""
    try:
        private_folder(report.parent)
        check_writable(report)
    except OSError as error:
        logger.error(
            "%sREPORT: %s can't be written: %s; it is tried again when the spider closes",
            PREFIX, report, why(error),
        )  # fmt: skip

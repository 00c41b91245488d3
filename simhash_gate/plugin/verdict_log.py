"""The verdicts of a crawl, written down and summed up: off the event loop, and never in its way."""

from __future__ import annotations

import logging
import queue
import time
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from scrapy import signals

from simhash_gate.complaints import MissingExtraError, why
from simhash_gate.gate.line import encode, line_of
from simhash_gate.gate.policy import SettingsError
from simhash_gate.plugin.awaiting import LONGEST_CLOSING, done_within
from simhash_gate.plugin.places import fill_in
from simhash_gate.report.page import check_installed, render, write
from simhash_gate.report.summary import Summary
from simhash_gate.settings import PREFIX
from simhash_gate.wording import how_many
from simhash_gate.writing import check_writable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import BinaryIO

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from simhash_gate.gate.verdict import Verdict
    from simhash_gate.settings import Settings

logger = logging.getLogger(__name__)

MOST_WAITING = 10_000
"""Lines beyond these are left out: a disk that hangs must not fill the memory."""


class VerdictLog:
    """Takes down what the gate says of each response, as far as the settings ask for it.

    `SIMHASH_GATE_VERDICTS` is written line by line, `SIMHASH_GATE_REPORT` when the spider closes.
    Raises `SettingsError` where a report needs a package that is not installed.
    """

    def __init__(self, crawler: Crawler, settings: Settings) -> None:
        self._settings = settings
        self._lines: queue.SimpleQueue[Mapping[str, Any] | None] = queue.SimpleQueue()
        self._done: Future[None] = Future()
        self._summary = Summary() if settings.report else None
        self._is_on = bool(settings.verdicts or settings.report)
        self._missed = 0
        self._thread: Thread | None = None
        if settings.report:
            try:
                check_installed()
            except MissingExtraError as error:
                raise SettingsError(f"{PREFIX}REPORT: {error}") from None
        if self._is_on:
            crawler.signals.connect(self._open, signals.spider_opened)

    def add(self, response: Response, verdict: Verdict, *, dropped: bool = False) -> None:
        """Take down a verdict."""
        if self._is_on:
            size = len(response.body)
            at = round(time.time(), 3)
            self.add_line(line_of(verdict, url=response.url, dropped=dropped, size=size, at=at))

    def add_line(self, line: Mapping[str, Any]) -> None:
        """Take down a line of any kind; readers pass over what they do not know."""
        if not self._is_on:
            return
        if self._lines.qsize() < MOST_WAITING:
            self._lines.put(line)
        else:
            self._missed += 1

    def _open(self, spider: Spider) -> None:
        work, name = partial(self._work, spider.name), "simhash_gate-log"
        self._thread = Thread(target=work, name=name, daemon=True)
        self._thread.start()

    async def close(self) -> None:
        """Write what is left, and the report; waits for a disk that hangs, but not for ever."""
        if self._thread is None:  # the spider was never opened, or nothing is asked for
            return
        self._lines.put(None)
        if not await done_within(self._done, LONGEST_CLOSING):
            logger.error("The crawl ends without all of its verdicts written: the disk hangs")
        if self._missed:
            missed = how_many(self._missed, "verdict")
            logger.error("Not written down: %s; the disk was too slow", missed)

    def _work(self, spider: str) -> None:
        try:
            report = Path(fill_in(self._settings.report, spider))
            if self._summary is not None:
                _check(report)
            log = _LogFile(fill_in(self._settings.verdicts, spider))
            while lines := self._waiting():
                log.write(lines)
                self._sum_up(lines)
                if lines[-1] is None:
                    break
            log.close()
            if self._summary is not None:
                self._summary.missed = self._missed
                self._report(report, spider)
        except Exception:
            logger.exception("The gate's verdicts could not be written down")
        finally:
            self._done.set_result(None)

    def _waiting(self) -> list[Mapping[str, Any] | None]:
        """Return the lines that wait, at least one; the last is None at the end of the crawl."""
        lines = [self._lines.get()]
        with suppress(queue.Empty):
            while lines[-1] is not None:
                lines.append(self._lines.get_nowait())
        return lines

    def _sum_up(self, lines: Sequence[Mapping[str, Any] | None]) -> None:
        if self._summary is not None:
            for line in lines:
                if line is not None:
                    self._summary.add_line(line)

    def _report(self, path: Path, spider: str) -> None:
        assert self._summary is not None
        report = render(self._summary, name=spider)
        try:
            write(report, path)
        except OSError as error:
            logger.error("%sREPORT: %s could not be written: %s", PREFIX, path, why(error))
        else:
            logger.info("The gate's report: %s (%d kB)", path.absolute(), len(report) // 1000)


def _check(report: Path) -> None:
    """Say at the start of the crawl, not after hours, that its report can't be written."""
    try:
        report.parent.mkdir(parents=True, exist_ok=True)
        check_writable(report)
    except OSError as error:
        logger.error(
            "%sREPORT: %s can't be written: %s; it is tried again when the spider closes",
            PREFIX, report, why(error),
        )  # fmt: skip


class _LogFile:
    """Lines in a file; after a failure, which the log names, it writes no more. "" is no file."""

    def __init__(self, path: str) -> None:
        self._file: BinaryIO | None = None
        if path:
            try:
                Path(path).parent.mkdir(parents=True, exist_ok=True)
                self._file = Path(path).open("wb")  # noqa: SIM115
            except OSError as error:
                logger.error(
                    "%sVERDICTS: %s can't be written: %s; no verdict is kept",
                    PREFIX, path, why(error),
                )  # fmt: skip

    def write(self, lines: Sequence[Mapping[str, Any] | None]) -> None:
        """Write lines, so that they are there whatever becomes of the crawl."""
        if self._file is not None:
            try:
                self._file.write(b"".join(encode(line) for line in lines if line is not None))
                self._file.flush()
            except OSError as error:
                logger.error(
                    "%sVERDICTS: no more verdicts are written to %s: %s",
                    PREFIX, self._file.name, why(error),
                )  # fmt: skip
                self.close()

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            with suppress(OSError):  # after a failure, what it still holds can't be written
                self._file.close()
            self._file = None

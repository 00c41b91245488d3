"""What a crawl writes as it goes: on a thread of its own, and never in the crawl's way."""

from __future__ import annotations

import logging
import queue
import time
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, BinaryIO, Generic, TypeVar
from urllib.parse import quote

from simhash_gate.common.files import private_folder
from simhash_gate.common.wording import how_many, why
from simhash_gate.gate.verdict import encode
from simhash_gate.plugin.awaiting import LONGEST_CLOSING, done_within
from simhash_gate.values import PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    Line = Mapping[str, Any]

logger = logging.getLogger(__name__)

T = TypeVar("T")

MOST_WAITING = 10_000
"""Lines beyond these are left out: a disk that hangs must not fill the memory."""


class LineThread(Generic[T]):
    """Runs `work` on a thread, with the lines that are put: an iterator of lists, as they come.

    `what` is the word for a line. `missed` counts those that were left out. All methods are for
    one thread, that of the event loop.
    """

    def __init__(self, what: str, work: Callable[[Iterator[list[T]]], None]) -> None:
        self.missed = 0
        self._what = what
        self._work = work
        self._lines: queue.SimpleQueue[T | None] = queue.SimpleQueue()
        self._done: Future[None] | None = None

    def start(self) -> None:
        """Start the thread, unless it runs already."""
        if self._done is None:
            self._done = Future()
            name = f"simhash_gate-{self._what.replace(' ', '-')}s"
            Thread(target=self._run, args=(self._done,), name=name, daemon=True).start()

    def put(self, line: T) -> bool:
        """Hand a line over; tell whether there was room for it."""
        if self._lines.qsize() >= MOST_WAITING:
            self.missed += 1
            return False
        self._lines.put(line)
        return True

    async def close(self) -> None:
        """Wait until all is written; where the disk hangs, not for ever. The log says what is not.

        Does nothing if the thread was never started.
        """
        if self._done is None:
            return
        self._lines.put(None)
        if not await done_within(self._done, LONGEST_CLOSING):
            logger.error(
                "The crawl ends without all of its %ss written: the disk hangs", self._what
            )
        if self.missed:
            missed = how_many(self.missed, self._what)
            logger.error("Not written down: %s; the disk was too slow", missed)

    def _run(self, done: Future[None]) -> None:
        try:
            self._work(self._batches())
        except Exception:
            logger.exception("The crawl's %ss could not be written down", self._what)
        finally:
            done.set_result(None)

    def _batches(self) -> Iterator[list[T]]:
        while True:
            waiting = [self._lines.get()]
            with suppress(queue.Empty):
                while waiting[-1] is not None:
                    waiting.append(self._lines.get_nowait())
            if lines := [line for line in waiting if line is not None]:
                yield lines
            if waiting[-1] is None:
                return


class LineFile:
    """A file of JSON Lines, in a folder that is made; a `path` of "" is no file.

    After a failure, which the log tells with the name of the setting, it writes no more.
    """

    def __init__(
        self, path: str, open_file: Callable[[str], BinaryIO], *, setting: str, what: str
    ) -> None:
        self._file: BinaryIO | None = None
        self._says = f"{PREFIX}{setting}", what, path
        if path:
            try:
                private_folder(Path(path).parent)
                self._file = open_file(path)
            except OSError as error:
                logger.error("%s: %ss are not written to %s: %s", *self._says, why(error))

    def write(self, lines: Sequence[Line]) -> None:
        """Write lines, so that they are there whatever becomes of the crawl."""
        if self._file is not None:
            try:
                for line in lines:
                    self._file.write(encode(line))
                    self._file.flush()
            except OSError as error:
                logger.error("%s: no more %ss are written to %s: %s", *self._says, why(error))
                self.close()

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            with suppress(OSError):  # after a failure, what it still holds can't be written
                self._file.close()
            self._file = None


def fill_in(pattern: str, spider: str) -> str:
    """Return the path that a setting names by the spider, `%(name)s`, and the time, `%(time)s`."""
    return pattern % {"name": quote(spider, safe=""), "time": time.strftime("%Y-%m-%dT%H-%M-%S")}

"""Page-reading processes that load what they need while Scrapy still does, so no page waits."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING
from weakref import finalize

from simhash_gate.values import FLAG, read_one, whole_number
from simhash_gate.workers.cores import default_workers
from simhash_gate.workers.process import end_process, start_process

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from subprocess import Popen

    from scrapy.settings import BaseSettings


class HeadStart:
    """The processes of one crawl, until its gate takes them; if it never does, they are ended."""

    def __init__(self) -> None:
        self._processes: list[Popen[bytes]] = []
        finalize(self, _end, self._processes)

    def begin(self, settings: BaseSettings) -> None:
        """Start as many processes as the settings say; none where they can't be used."""
        # The gate itself will say what is wrong.
        with suppress(ValueError, TypeError, OverflowError, OSError):
            if read_one(settings, "ENABLED", FLAG, True):
                count = read_one(settings, "WORKERS", whole_number(0), default_workers())
                while len(self._processes) < count:
                    self._processes.append(start_process())

    def take(self) -> list[Popen[bytes]]:
        """Hand the processes over."""
        taken = list(self._processes)
        self._processes.clear()
        return taken


def taken(addons: Iterable[object]) -> Iterator[Popen[bytes]]:
    """Yield the processes that the add-ons of a crawl have started; they are handed over."""
    for addon in addons:
        head_start = getattr(addon, "head_start", None)
        if isinstance(head_start, HeadStart):
            yield from head_start.take()


def _end(processes: list[Popen[bytes]]) -> None:
    for process in processes:
        end_process(process)
        process.wait()

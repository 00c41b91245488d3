"""The pages of a source, read in several processes, in order, a few ahead."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, wait
from contextlib import closing
from itertools import islice
from typing import TypeVar

from simhash_gate.options import Options
from simhash_gate.page import Page
from simhash_gate.settings import Settings
from simhash_gate.sources import Entry
from simhash_gate.workers.pool import InlineReader, ReadError, WorkerPool

Reader = WorkerPool | InlineReader

T = TypeVar("T")

AHEAD = 16  # entries for each process: keeps it busy, and bounds what is in memory
AHEAD_BYTES = 64 * 1024 * 1024  # of their bodies


def read_pages(
    entries: Iterable[Entry], settings: Settings, *, known: bool = False
) -> Iterator[tuple[Entry, Page | ReadError | None]]:
    """Yield each entry, in order, with its page, or why it could not be read; None if skipped.

    With `known`, what a corpus knows of a page is taken for it: a title, words and a fingerprint.
    """

    def read(reader: Reader, entry: Entry) -> Future[Page]:
        if not (known and entry.known):
            return reader.read(entry.body, entry.url, entry.encoding)
        bits, title, words, _ = entry.known
        future: Future[Page] = Future()
        future.set_result(Page(title, words, bits, 0, listing=False, reason=None))
        return future

    for entry, page in _in_order(entries, read, settings, settings.workers):
        if isinstance(page, Page) and page.unreadable:
            yield entry, ReadError(page.reason)
        else:
            yield entry, page


def extract_pages(
    entries: Iterable[Entry],
    settings: Settings,
    function: Callable[[bytes, str, str | None, Options], T],
    *,
    workers: int | None = None,
) -> Iterator[tuple[Entry, T | ReadError | None]]:
    """Yield each entry, in order, with what a function makes of its page, or why not.

    The function is pickled, and returns anything but None, which stands for a skipped entry.
    `workers` replaces the number of processes in the settings.
    """

    processes = settings.workers if workers is None else workers
    return _in_order(
        entries, lambda to, it: to.read(it.body, it.url, it.encoding, function), settings, processes
    )


def _in_order(
    entries: Iterable[Entry],
    read: Callable[[Reader, Entry], Future[T]],
    settings: Settings,
    processes: int,
) -> Iterator[tuple[Entry, T | ReadError | None]]:
    """Yield each entry, in order, with what `read` promises, or why not; None if skipped."""
    waiting: deque[tuple[Entry, Future[T] | None]] = deque()
    most, held = AHEAD * max(1, processes), 0
    reader: Reader = InlineReader(settings.options)
    if processes:
        reader = WorkerPool(settings.options, processes, memory=settings.worker_memory)
    with closing(reader):
        for entry in entries:
            waiting.append((entry, None if entry.skipped else read(reader, entry)))
            held += len(entry.body)
            while len(waiting) > most or held > AHEAD_BYTES:
                for first, result in _results(waiting, (len(waiting) + 1) // 2):
                    held -= len(first.body)
                    yield first, result
        yield from _results(waiting, len(waiting))


def _results(
    waiting: deque[tuple[Entry, Future[T] | None]], number: int
) -> Iterator[tuple[Entry, T | ReadError | None]]:
    # To wait once for many takes less time than to wait for each.
    wait([future for _, future in islice(waiting, number) if future is not None][-1:])
    for _ in range(number):
        entry, future = waiting.popleft()
        result: T | ReadError | None
        try:
            result = None if future is None else future.result()
        except ReadError as error:
            result = error
        except Exception as error:  # no process could be started, for one
            result = ReadError(f"{type(error).__name__}: {error}")
        yield entry, result

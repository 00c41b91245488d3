"""Read the pages of a source in several processes, in order, a few in advance."""

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

AHEAD = 16  # entries for each process: it is always busy, and memory is bounded
AHEAD_BYTES = 64 * 1024 * 1024  # of their bodies


def read_pages(
    entries: Iterable[Entry], settings: Settings, *, known: bool = False
) -> Iterator[tuple[Entry, Page | ReadError | None]]:
    """Yield each entry, in order, with its page, the error of reading it, or None if skipped.

    With `known`, an entry of a corpus is not read again: its title, words and fingerprint are used.
    """

    def read(reader: Reader, entry: Entry) -> Future[Page]:
        if not (known and entry.known):
            return reader.read(entry.body, entry.url, entry.encoding)
        bits, title, words, _ = entry.known
        future: Future[Page] = Future()
        future.set_result(Page(title, words, bits, 0, listing=False, reason=None))
        return future

    for entry, page in _in_order(entries, read, settings):
        if isinstance(page, Page) and page.unreadable:
            yield entry, ReadError(page.reason)
        else:
            yield entry, page


def extract_pages(
    entries: Iterable[Entry],
    settings: Settings,
    function: Callable[[bytes, str, str | None, Options], T],
) -> Iterator[tuple[Entry, T | ReadError | None]]:
    """Yield each entry, in order, with the result of `function` for it, or the error of reading it.

    The function must be picklable, and must not return None, which stands for a skipped entry.
    """

    def read(reader: Reader, entry: Entry) -> Future[T]:
        return reader.read(entry.body, entry.url, entry.encoding, function)

    return _in_order(entries, read, settings)


def _in_order(
    entries: Iterable[Entry], read: Callable[[Reader, Entry], Future[T]], settings: Settings
) -> Iterator[tuple[Entry, T | ReadError | None]]:
    """Yield each entry, in order, with the result of `read` or its error, or None if skipped."""
    waiting: deque[tuple[Entry, Future[T] | None]] = deque()
    most, waiting_bytes = AHEAD * max(1, settings.workers), 0
    reader: Reader = InlineReader(settings.options)
    if settings.workers:
        reader = WorkerPool(settings.options, settings.workers, memory=settings.worker_memory)
    with closing(reader):
        for entry in entries:
            waiting.append((entry, None if entry.skipped else read(reader, entry)))
            waiting_bytes += len(entry.body)
            while len(waiting) > most or waiting_bytes > AHEAD_BYTES:
                for first, result in _results(waiting, (len(waiting) + 1) // 2):
                    waiting_bytes -= len(first.body)
                    yield first, result
        yield from _results(waiting, len(waiting))


def _results(
    waiting: deque[tuple[Entry, Future[T] | None]], number: int
) -> Iterator[tuple[Entry, T | ReadError | None]]:
    # Waiting once for many results takes less time than waiting for each.
    wait([future for _, future in islice(waiting, number) if future is not None][-1:])
    for _ in range(number):
        entry, future = waiting.popleft()
        result: T | ReadError | None
        try:
            result = None if future is None else future.result()
        except ReadError as error:
            result = error
        except Exception as error:  # for example, no process could be started
            result = ReadError(f"{type(error).__name__}: {error}")
        yield entry, result

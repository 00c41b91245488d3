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
from simhash_gate.workers.pool import InlineReader, ReadError, WorkerPool, page_of

T = TypeVar("T")

AHEAD = 16  # entries for each process: it is always busy, and memory is bounded
AHEAD_BYTES = 64 * 1024 * 1024  # of their bodies


def read_pages(
    entries: Iterable[Entry], settings: Settings, *, known: bool = False
) -> Iterator[tuple[Entry, Page | ReadError | None]]:
    """Yield each entry, in order, with its page, the error of reading it, or None if skipped.

    With `known`, an entry of a corpus is not read again, and has None for a page.
    """
    for entry, page in extract_pages(entries, settings, page_of, known=known):
        yield entry, ReadError(page.reason) if isinstance(page, Page) and page.unreadable else page


def extract_pages(
    entries: Iterable[Entry],
    settings: Settings,
    function: Callable[[bytes, str, str | None, Options], T],
    *,
    known: bool = False,
) -> Iterator[tuple[Entry, T | ReadError | None]]:
    """Yield each entry, in order, with the result of `function` for it, or the error of reading it.

    The function must be picklable, and must not return None, which stands for a skipped entry, and
    for one of a corpus if `known` is True.
    """
    waiting: deque[tuple[Entry, Future[T] | None]] = deque()
    most, waiting_bytes = AHEAD * max(1, settings.workers), 0
    reader: WorkerPool | InlineReader = InlineReader(settings.options)
    if settings.workers:
        reader = WorkerPool(settings.options, settings.workers, memory=settings.worker_memory)
    with closing(reader):
        for entry in entries:
            read = None
            if not (entry.skipped or (known and entry.known)):
                read = reader.read(entry.body, entry.url, entry.encoding, function)
            waiting.append((entry, read))
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

"""Entries -> pages: read in several processes, in order, a few ahead."""

from __future__ import annotations

from collections import deque
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from simhash_gate.offline.page_cache import CachingReader
from simhash_gate.workers.pool import InlineReader, ReadError, WorkerPool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future

    from simhash_gate.offline.page_cache import PageCache
    from simhash_gate.options import Options
    from simhash_gate.page.page import Page
    from simhash_gate.settings import Settings
    from simhash_gate.sources.entry import Entry

T = TypeVar("T")

AHEAD = 4  # entries for each process: keeps it busy, and bounds what is in memory


def read_pages(
    entries: Iterable[Entry], settings: Settings, cache: PageCache | None = None
) -> Iterator[tuple[Entry, Page | ReadError | None]]:
    """Yield each entry, in order, with its page, or why it could not be read; None if skipped.

    A page that the cache has comes from there, without its Markdown.
    """
    uncached = _reader(settings)
    with closing(uncached if cache is None else CachingReader(uncached, cache)) as reader:
        yield from in_order(entries, reader.read, settings.workers)


def extract_pages(
    entries: Iterable[Entry],
    settings: Settings,
    function: Callable[[bytes, str, str | None, Options], T],
) -> Iterator[tuple[Entry, T | ReadError | None]]:
    """Yield each entry, in order, with what a function makes of its page, or why not.

    The function is pickled, and returns anything but a string; None stands for an entry skipped.
    """
    with closing(_reader(settings)) as reader:
        yield from in_order(entries, partial(reader.extract, function), settings.workers)


def _reader(settings: Settings) -> WorkerPool | InlineReader:
    if not settings.workers:
        return InlineReader(settings.options)
    return WorkerPool(settings.options, settings.workers, settings.timeout, settings.worker_memory)


def in_order(
    entries: Iterable[Entry], read: Callable[[bytes, str, str | None], Future[T]], processes: int
) -> Iterator[tuple[Entry, T | ReadError | None]]:
    """Yield each entry, in order, with what `read` promises, or why not; None if skipped."""
    waiting: deque[tuple[Entry, Future[T] | None]] = deque()
    for entry in entries:
        future = None if entry.skipped else read(entry.body, entry.url, entry.encoding)
        waiting.append((entry, future))
        yield from _results(waiting, AHEAD * max(1, processes))
    yield from _results(waiting, 0)


def _results(
    waiting: deque[tuple[Entry, Future[T] | None]], most: int
) -> Iterator[tuple[Entry, T | ReadError | None]]:
    """Take the first as long as it is done, or more than `most` wait."""
    while waiting and (len(waiting) > most or _is_done(waiting[0][1])):
        entry, future = waiting.popleft()
        result: T | ReadError | None
        try:
            result = future.result() if future else None
        except ReadError as error:
            result = error
        except Exception as error:  # no process could be started, for one
            result = ReadError(f"{type(error).__name__}: {error}")
        yield entry, result


def _is_done(future: Future[T] | None) -> bool:
    return future is None or future.done()

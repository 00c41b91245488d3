"""Entries -> pages: read in several processes, in order, a few ahead."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from simhash_gate.offline.page_cache import CachingReader
from simhash_gate.workers import InlineReader, ReadError, WorkerPool

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from concurrent.futures import Future

    from simhash_gate.offline.entry import Entry
    from simhash_gate.offline.page_cache import PageCache
    from simhash_gate.pages import Page
    from simhash_gate.settings import Settings

AHEAD = 4  # entries for each process: keeps it busy, and bounds what is in memory


def read_pages(
    entries: Iterable[Entry], settings: Settings, cache: PageCache | None = None
) -> Iterator[tuple[Entry, Page | ReadError | None]]:
    """Yield each entry, in order, with its page, or why it could not be read; None if skipped.

    A page that the cache has comes from there, without its Markdown.
    """
    uncached = (
        WorkerPool(settings.options, settings.workers, settings.timeout, settings.worker_memory)
        if settings.workers
        else InlineReader(settings.options)
    )
    reader = uncached if cache is None else CachingReader(uncached, cache)
    ahead = AHEAD * max(1, settings.workers)
    waiting: deque[tuple[Entry, Future[Page] | None]] = deque()
    try:
        for entry in entries:
            future = None
            if not entry.skipped:
                future = reader.read(entry.body, entry.url, entry.encoding)
            waiting.append((entry, future))
            while waiting and (len(waiting) > ahead or _is_done(waiting[0][1])):
                yield _result(*waiting.popleft())
        while waiting:
            yield _result(*waiting.popleft())
    finally:
        reader.close()


def _is_done(future: Future[Page] | None) -> bool:
    return future is None or future.done()


def _result(entry: Entry, future: Future[Page] | None) -> tuple[Entry, Page | ReadError | None]:
    try:
        return entry, future.result() if future else None
    except ReadError as error:
        return entry, error
    except Exception as error:  # no process could be started, for one
        return entry, ReadError(f"{type(error).__name__}: {error}")

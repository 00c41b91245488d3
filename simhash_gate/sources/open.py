"""Open sources of all kinds: their pages, in order, and existing stores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial

from simhash_gate.common.wording import Complain, Say
from simhash_gate.sources import Entry, File, Source, find
from simhash_gate.sources.files import manifest, read_file
from simhash_gate.sources.find import files_of, look_at, names_store, shown, total
from simhash_gate.sources.httpcache import http_cache
from simhash_gate.sources.parquet import parquet_pages
from simhash_gate.sources.warc import wacz, warc
from simhash_gate.stores import open_store
from simhash_gate.stores.base import refusal
from simhash_gate.stores.store import Store

__all__ = ["names_store", "open_kept", "open_pages", "pages_of", "shown"]

_SPIDERS_FILE = "that of a spider is sqlite:///.scrapy/simhash_gate/SPIDER.sqlite"
_READERS: dict[str, Callable[[File, Complain, int], Iterator[Entry]]] = {
    find.HTML: read_file,
    find.TEXT: partial(read_file, of_text=True),
    find.WARC: warc,
    find.WACZ: wacz,
    find.PARQUET: parquet_pages,
    find.JSONL: manifest,
    find.CACHE: http_cache,
}


@contextmanager
def open_kept(url: str) -> Iterator[Store]:
    """Open an existing store. Raises StoreError if there is none, and makes none."""
    if url.partition(":")[0].lower() == "memory":
        raise refusal(url, "a store in memory ends with its crawl")
    if url == "sqlite:":
        raise refusal(url, f"name the file; {_SPIDERS_FILE}")
    with closing(open_store(url, create=False)) as store:
        yield store


def open_pages(
    paths: Sequence[str], complain: Complain, max_bytes: int, say: Say, written: Iterable[str] = ()
) -> Source:
    """Return the pages of several sources of any kind, in order, but not what is `written`.

    `say` gets a description of each folder. Raises `MissingExtraError` if a package is missing.
    """
    given = look_at(paths, complain, say, written=written)
    return Source(pages_of(files_of(given, complain), complain, max_bytes), lambda: total(given))


def pages_of(files: Iterable[File], complain: Complain, max_bytes: int) -> Iterator[Entry]:
    """Yield the pages of some files, in order."""
    for file in files:
        if file.kind == find.STORE:
            complain(shown(file.path), "a store has no pages to read. Name the files of the crawl")
        else:
            yield from _READERS[file.kind](file, complain, max_bytes)

"""The way into all sources: which kind a path or URL names, and its pages."""

from __future__ import annotations

import os
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from simhash_gate.sources import httpcache, warc
from simhash_gate.sources.files import HTML, TEXT, page_files
from simhash_gate.sources.jsonl import shown_path
from simhash_gate.sources.manifest import manifest
from simhash_gate.stores import StoreError, open_store
from simhash_gate.stores.urls import without_password

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simhash_gate.common.wording import Complain
    from simhash_gate.sources import Source
    from simhash_gate.stores import Store

_SPIDERS_FILE = "that of a spider is sqlite:///.scrapy/simhash_gate/SPIDER.sqlite"


def names_store(path: str) -> bool:
    """Tell if a source is the URL of a store. That of a crawl, `sqlite:`, has no path."""
    return "://" in path or path == "sqlite:"


@contextmanager
def open_kept(url: str) -> Iterator[Store]:
    """Open a store that exists. Raises StoreError, and makes none."""
    if url.partition(":")[0].lower() == "memory":
        raise StoreError(f"store URL {url!r}: a store in memory ends with its crawl")
    if url == "sqlite:":
        raise StoreError(f"store URL {url!r}: name the file; {_SPIDERS_FILE}")
    with closing(open_store(url, create=False)) as store:
        yield store


def open_pages(
    path: str, complain: Complain, max_bytes: int, *, for_replay: bool = False
) -> Source:
    """Return the pages of a folder, a file of HTML or text, a WARC file, or JSON Lines.

    A replay needs the URL of each page: with `for_replay`, a folder is an HttpCache, and any file
    but a WARC file is a manifest with URLs. Raises `MissingExtraError` if a package is missing.
    """
    if _is_dir(path):
        if for_replay or _is_http_cache(path):
            return httpcache.http_cache(path, complain, max_bytes)
        return page_files([path], complain, max_bytes)
    if path.lower().endswith(warc.SUFFIXES):
        return warc.warc(path, complain, max_bytes)
    if for_replay:
        return manifest(path, complain, max_bytes, needs_url=True)
    if path.lower().endswith(HTML + TEXT) or _starts_with_a_tag(path):
        return page_files([path], complain, max_bytes)
    return manifest(path, complain, max_bytes, holds_pages=True)


def distinct(paths: Sequence[str]) -> list[str]:
    """Return each source once, without the files of a folder that is a source too."""
    if len(paths) == 1:
        return list(paths)
    folders = {os.path.realpath(path) for path in paths if _is_page_folder(path)}
    known: set[str] = set()
    found = []
    for path in paths:
        place = path if names_store(path) else os.path.realpath(path)
        within = not folders.isdisjoint(map(str, Path(place).parents)) and (
            _is_page_folder(place) or place.lower().endswith(HTML + TEXT)
        )
        if place not in known and not within:
            known.add(place)
            found.append(path)
    return found


def shown(*paths: str) -> str:
    """Return sources as messages show them: the URLs of stores without passwords."""
    return ", ".join(
        without_password(path) if names_store(path) else shown_path(path) for path in paths
    )


def _is_page_folder(path: str) -> bool:
    return not names_store(path) and _is_dir(path) and not _is_http_cache(path)


def _is_dir(path: str) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 - Path raises for a name that no file can have


def _is_http_cache(path: str) -> bool:
    """Tell by the first folder with files whether they are those of a cache."""
    for folder, folders, names in os.walk(path):
        if httpcache.FILES.issubset(names):
            return True
        folders.sort()
        for name in names:
            if folder == path and name.endswith(httpcache.DATABASES):
                return True
            if name.lower().endswith(HTML + TEXT):
                return False
    return False


def _starts_with_a_tag(path: str) -> bool:
    try:
        with Path(path).open("rb") as file:
            return file.read(64).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<")
    except (OSError, ValueError):
        return False

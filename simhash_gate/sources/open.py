"""What pages are read from: told by what stands at the path."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from simhash_gate.sources import files, httpcache, manifest, text, warc
from simhash_gate.sources.jsonl import shown_path
from simhash_gate.stores.urls import without_password

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simhash_gate.common.complaints import Complain
    from simhash_gate.sources.entry import Source


def names_store(path: str) -> bool:
    """Tell if a source is the URL of a store; a crawl's own, `sqlite:`, is one without a path."""
    return "://" in path or path == "sqlite:"


def shown(*paths: str) -> str:
    """Return sources as messages show them: the URLs of stores without their passwords."""
    return ", ".join(
        without_password(path) if names_store(path) else shown_path(path) for path in paths
    )


def open_source(path: str, complain: Complain, max_bytes: int) -> Source:
    """Return the pages of an HttpCache folder, a WARC file (`.warc`, `.warc.gz`) or a manifest.

    Raises `MissingExtraError` where reading it takes a package that is not installed.
    """
    if Path(path).is_dir():
        return httpcache.http_cache(path, complain, max_bytes)
    if path.lower().endswith(warc.SUFFIXES):
        return warc.warc(path, complain, max_bytes)
    return manifest.manifest(path, complain, max_bytes, needs_url=True)


def open_pages(path: str, complain: Complain, max_bytes: int) -> Source:
    """Return the pages of what `open_source` reads, of folders and files of HTML or text too.

    JSON Lines need no URL, and may hold pages. Raises `MissingExtraError`.
    """
    if _is_dir(path):
        if _is_http_cache(path):
            return httpcache.http_cache(path, complain, max_bytes)
        return files.page_files([path], complain, max_bytes)
    if path.lower().endswith(warc.SUFFIXES):
        return warc.warc(path, complain, max_bytes)
    if path.lower().endswith(files.SUFFIXES + text.SUFFIXES) or _starts_with_a_tag(path):
        return files.page_files([path], complain, max_bytes)
    return manifest.inline_pages(path, complain, max_bytes)


def distinct(paths: Sequence[str]) -> list[str]:
    """Return the sources without those that come again, or that are read with a folder of them."""
    if len(paths) == 1:
        return list(paths)
    folders = {os.path.realpath(path) for path in paths if _is_page_folder(path)}
    known: set[str] = set()
    found = []
    for path in paths:
        place = path if names_store(path) else os.path.realpath(path)
        within = not folders.isdisjoint(map(str, Path(place).parents)) and (
            _is_page_folder(place) or place.lower().endswith(files.SUFFIXES + text.SUFFIXES)
        )
        if place not in known and not within:
            known.add(place)
            found.append(path)
    return found


def _is_page_folder(path: str) -> bool:
    return not names_store(path) and _is_dir(path) and not _is_http_cache(path)


def _is_dir(path: str) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 - a path may be no valid one at all


def _is_http_cache(path: str) -> bool:
    """Tell by the first folder that has files if they are those of a cache."""
    for folder, folders, names in os.walk(path):
        if httpcache.FILES.issubset(names):
            return True
        folders.sort()
        for name in names:
            if folder == path and name.endswith(httpcache.DATABASES):
                return True
            if name.lower().endswith(files.SUFFIXES + text.SUFFIXES):
                return False
    return False


def _starts_with_a_tag(path: str) -> bool:
    try:
        with Path(path).open("rb") as file:
            return file.read(64).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<")
    except (OSError, ValueError):
        return False

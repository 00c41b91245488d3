"""A Scrapy HttpCache folder, as `FilesystemCacheStorage` writes it."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from simhash_gate.common.files import open_database
from simhash_gate.common.warc import GZIP
from simhash_gate.common.wording import Complain, complaining
from simhash_gate.sources import TOO_LARGE, Entry, File, read_body
from simhash_gate.sources.http import gunzip, read_headers, response

# `meta` is a Python literal. The pickled copy beside it is never opened: a pickle can run any code.
FILES = frozenset({"meta", "response_headers", "response_body"})
NOT_FILES = "a DBM cache can't be replayed, only one of FilesystemCacheStorage"
_FOREIGN = "not written by Scrapy's FilesystemCacheStorage"
_META_BYTES = 1 << 20
DATABASES = (".db", ".db.db", ".db.dat", ".db.pag")  # DbmCacheStorage has one for each spider


def http_cache(file: File, complain: Complain, max_bytes: int) -> Iterator[Entry]:
    """Yield the responses of a cache in the order in which they were stored."""
    # A temporary database: a cache may have millions of entries.
    with closing(open_database("", check_same_thread=False)) as database:
        database.execute("CREATE TABLE cached (timestamp REAL, folder BLOB)")
        database.executemany("INSERT INTO cached VALUES (?, ?)", _cached(file.path, complain))
        for (folder,) in database.execute("SELECT folder FROM cached ORDER BY timestamp, folder"):
            place = os.fsdecode(folder)
            with complaining(complain, place):
                yield _entry(place, max_bytes)


def _cached(path: str, complain: Complain) -> Iterator[tuple[float, bytes]]:
    for folder, _, names in os.walk(path):  # errors were reported when the folder was searched
        if FILES.isdisjoint(names):
            continue
        if missing := sorted(FILES.difference(names)):
            complain(folder, f"a cache entry without {' and '.join(missing)}")
            continue
        with complaining(complain, f"{folder}/meta"):
            yield _read_meta(folder)[0], os.fsencode(folder)


def _read_meta(folder: str) -> tuple[float, str, int, bool]:
    """Return time, URL and status in `meta`, and if it is gzip. Raises OSError and ValueError."""
    raw = read_body(f"{folder}/meta", _META_BYTES) or b""
    try:
        meta: Mapping[str, object] = ast.literal_eval(gunzip(raw, _META_BYTES).decode("utf-8"))
        timestamp, url, status = meta["timestamp"], meta["response_url"], meta["status"]
    except (ValueError, TypeError, KeyError, SyntaxError, RecursionError, MemoryError):
        raise ValueError(_FOREIGN) from None
    if not (isinstance(timestamp, float) and isinstance(url, str) and isinstance(status, int)):
        raise ValueError(_FOREIGN)
    return timestamp, url, status, raw.startswith(GZIP)


def _entry(place: str, max_bytes: int) -> Entry:
    # HTTPCACHE_GZIP compresses every file; a body alone may be gzip as the server sent it.
    timestamp, url, status, packed = _read_meta(place)
    folder, name = Path(place), Path(place).name
    fields: dict[str, Any] = {"url": url, "id": name, "request": name, "time": timestamp}
    body = read_body(folder / "response_body", max_bytes)
    head = read_body(folder / "response_headers", _META_BYTES) or b""
    if body is None:
        return Entry(place, skipped=TOO_LARGE, **fields)
    if packed:
        body, head = gunzip(body, max_bytes), gunzip(head, _META_BYTES)
    headers = read_headers(head)
    return response(place, body, status=status, headers=headers, max_bytes=max_bytes, **fields)

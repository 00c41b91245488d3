"""Sources of pages, a module for each kind; `open` opens all. Here are the values they yield."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path
from typing import Any, NamedTuple, cast

from simhash_gate.common.urls import without_credentials

TOO_LARGE = "too large"
STDIN = "-"


class Known(NamedTuple):
    """The result of an earlier reading of a page, in a corpus."""

    fingerprint: int
    title: str
    words: int
    pipeline: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One page on disk.

    `place` names the place of the page in messages. `path` is as the user wrote it. `url` never has
    a user name or a password. `encoding` is that of the HTTP header. `scope` replaces the scope of
    the URL. `request` is Scrapy's request fingerprint in hex, if the source has it. A page that a
    crawl would not judge has no body; `skipped` says why. `time` is the Unix time of its capture,
    None if unknown. A `guessed` URL was read from the page or its path: other pages may have the
    same. A page `of_text` has no HTML any more, and no structured data. Two `visit`s to one URL at
    different times belong to different crawls. `fields` are all values that its source has.
    """

    place: str
    body: bytes = b""
    path: str = ""
    url: str = ""
    id: Any = None
    encoding: str | None = None
    scope: str | None = None
    request: str = ""
    skipped: str = ""
    time: float | None = None
    guessed: bool = False
    known: Known | None = None
    of_text: bool = False
    visit: bool = False
    fields: dict[str, Any] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", without_credentials(self.url))

    @property
    def key(self) -> str:
        """The key of the page, as a crawl finds it by lists. It is the request fingerprint for a
        page without a URL, or of another request than a plain GET."""
        from simhash_gate.identity.keys import key_of  # it loads numpy

        if self.guessed or not self.url:
            return self.request or request_fingerprint(self.own_name)
        if self.request in ("", request_fingerprint(self.url)):
            return key_of(self.url)
        return self.request

    @property
    def name(self) -> str:
        """The name of the page in results: its URL, else its path, else its place."""
        return self.url or self.path or self.place

    @property
    def own_name(self) -> str:
        """A name that no other page has: the path of a page with a guessed URL, else its name."""
        return self.path if self.guessed else self.name


class File(NamedTuple):
    """A file of pages or fingerprints. An HttpCache or a store counts as one file.

    `folder` is the folder that the user named, "" if the user named the file itself.
    """

    path: str
    kind: str
    folder: str = ""


class Source(NamedTuple):
    """Pages in order, each read when it is needed. `total` counts them if that is cheap."""

    entries: Iterator[Entry]
    total: Callable[[], int | None]


def request_fingerprint(url: str) -> str:
    """Return, in hex, the request fingerprint that Scrapy gives a plain GET of the URL.

    So a replay against the store of a crawl finds the pages of that crawl `unchanged`.
    """
    from w3lib.url import canonicalize_url

    with suppress(ValueError):  # text that is not a URL is hashed as it is
        url = canonicalize_url(url)
    parts = {"method": "GET", "url": url, "body": "", "headers": {}}
    return hashlib.sha1(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[BufferedReader]:
    """Open a file, or STDIN, which is read once: `peek` shows its first bytes."""
    if path == STDIN:
        yield cast(BufferedReader, sys.stdin.buffer)
    else:
        with Path(path).open("rb") as file:
            yield file


def read_body(path: str | os.PathLike[str], max_bytes: int) -> bytes | None:
    """Return a file's content, or None if that is more than `max_bytes`. Raises OSError."""
    try:
        with opened(path) as file:
            body = file.read(max_bytes + 1)
    except ValueError as error:  # no file can have such a name
        raise OSError(str(error)) from None
    return None if len(body) > max_bytes else body

"""The text of a page for later: its Markdown and its links and, if needed, its source.

A store keeps it under the page's scope and digest, as `pack` writes it, within a budget of bytes.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

_FORMAT = 1
_HEAD = struct.Struct(">BI")  # the format, and the length of the part before the source
_LEVEL = 3
_NOTHING = {"url": "", "title": "", "markdown": "", "time": 0.0, "links": [], "source": None}


class Link(NamedTuple):
    """A link of a page: its absolute URL without fragment, and its text."""

    url: str
    text: str


class FetchedPage(NamedTuple):
    """A page as it was fetched. `body` has no content encoding any more.

    `encoding` is the declared one, if any. `headers` are in their order, in Latin-1. `key` is
    the key of the page, with the variant that was asked for.
    """

    key: str
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()
    encoding: str | None = None


@dataclass(frozen=True)
class KeptPage:
    """A kept text of a page. It is unpacked when it is first used.

    All values are empty if it can't be unpacked, for example if a later release wrote it.
    """

    packed: bytes = field(repr=False)

    @property
    def url(self) -> str:
        """The URL of the page."""
        return str(self._values["url"])

    @property
    def title(self) -> str:
        """Its title."""
        return str(self._values["title"])

    @property
    def markdown(self) -> str:
        """Its article as Markdown."""
        return str(self._values["markdown"])

    @property
    def time(self) -> float:
        """The Unix time at which it was fetched."""
        return float(self._values["time"])

    @property
    def links(self) -> tuple[Link, ...]:
        """The links of the whole page: `url` and `text` of each."""
        return tuple(Link(url, text) for url, text in self._values["links"])

    @property
    def source(self) -> FetchedPage | None:
        """The page as it was fetched, None if that was not kept."""
        source = self._values["source"]
        if source is None:
            return None
        key, headers, encoding = source
        pairs = tuple((name, value) for name, value in headers)
        return FetchedPage(key, self._values["body"], pairs, encoding)

    @cached_property
    def _values(self) -> dict[str, Any]:
        try:
            return _read(self.packed)
        except ValueError:
            return _NOTHING


def pack(
    *,
    url: str,
    title: str,
    markdown: str,
    time: float,
    links: Iterable[tuple[str, str]] = (),
    source: FetchedPage | None = None,
) -> bytes:
    """Return the text of a page as compressed bytes."""
    values = {
        "url": url,
        "title": title,
        "markdown": markdown,
        "time": round(time, 3),
        "links": [*map(list, links)],
        "source": source and [source.key, source.headers, source.encoding],
    }
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
    head = zlib.compress(text.encode("utf-8", "surrogatepass"), _LEVEL)
    body = zlib.compress(source.body, _LEVEL) if source is not None else b""
    return _HEAD.pack(_FORMAT, len(head)) + head + body


def unpack(packed: bytes) -> KeptPage:
    """Return the text that `pack` wrote. Raises ValueError for other bytes."""
    _read(packed)
    return KeptPage(packed)


def _read(packed: bytes) -> dict[str, Any]:
    try:
        kind, length = _HEAD.unpack_from(packed)
        if kind != _FORMAT:
            raise ValueError(f"its format is {kind}")
        start = _HEAD.size
        text = zlib.decompress(packed[start : start + length]).decode("utf-8", "surrogatepass")
        stored = json.loads(text)
        values = {name: stored[name] for name in _NOTHING}
        body = packed[start + length :]
        return {**values, "body": zlib.decompress(body) if body else b""}
    except (struct.error, zlib.error, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"no text of a page: {error}") from error

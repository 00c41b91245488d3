"""The text of a page for later: its Markdown and its links and, if needed, its source.

A store keeps it under the page's scope and digest, as `pack` writes it, within a budget of bytes.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

_FORMAT = 1
_HEAD = struct.Struct(">BI")  # the format, and the length of the part before the source
_LEVEL = 3


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
    """A kept text of a page, `packed` and unpacked.

    `markdown` is its article, `time` the Unix time at which it was fetched. `links` are those of
    the whole page. `source` is the page as it was fetched, None if that was not kept.
    """

    packed: bytes = field(repr=False)
    url: str = ""
    title: str = ""
    markdown: str = ""
    time: float = 0.0
    links: tuple[Link, ...] = ()
    source: FetchedPage | None = None

    @classmethod
    def of(cls, packed: bytes) -> KeptPage:
        """Unpack a text. All is empty if that fails, for example if a later release wrote it."""
        with suppress(ValueError):
            return unpack(packed)
        return cls(packed)


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
    try:
        kind, length = _HEAD.unpack_from(packed)
        if kind != _FORMAT:
            raise ValueError(f"its format is {kind}")
        head, rest = packed[_HEAD.size :][:length], packed[_HEAD.size + length :]
        stored = json.loads(zlib.decompress(head).decode("utf-8", "surrogatepass"))
        url, title, markdown = (str(stored[name]) for name in ("url", "title", "markdown"))
        links, source = tuple(Link(*link) for link in stored["links"]), None
        body = zlib.decompress(rest) if rest else b""
        if stored["source"] is not None:
            key, headers, encoding = stored["source"]
            pairs = tuple((name, value) for name, value in headers)
            source = FetchedPage(key, body, pairs, encoding)
        return KeptPage(packed, url, title, markdown, float(stored["time"]), links, source)
    except (struct.error, zlib.error, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"no text of a page: {error}") from error

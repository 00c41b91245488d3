"""Take a URL apart, in the form that all URLs of one request have."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit

from w3lib.url import canonicalize_url

_INDEX = re.compile(r"(?:index|default)(?:\.\w{2,5})?\Z", re.IGNORECASE)
_MOST_PARTS = 100  # of a path, and of a query; the rest becomes one part
_PORTS = {"http": ":80", "https": ":443"}
_UNREADABLE = "(unreadable)"


class Address(NamedTuple):
    """The parts of a URL in the form that all URLs of one request have.

    `extra` are the sorted parameters in the path (`;name=value`), `slash` whether it ends in one.
    """

    scheme: str
    host: str
    path: tuple[str, ...]
    extra: tuple[str, ...] = ()
    slash: bool = False
    query: tuple[tuple[str, str], ...] = ()

    @property
    def has_index(self) -> bool:
        """Whether the path ends in an index page."""
        return bool(self.path) and _INDEX.match(self.path[-1]) is not None

    @property
    def bare_path(self) -> tuple[str, ...]:
        """The path without an index page at its end."""
        return self.path[:-1] if self.has_index else self.path

    @property
    def url(self) -> str:
        """The URL."""
        path = "/".join(("", *self.path)) + "".join(f";{pair}" for pair in self.extra)
        path += "/" if self.slash or not path else ""
        query = "&".join(f"{name}={value}" for name, value in self.query)
        return f"{self.scheme}://{self.host}{path}{'?' if query else ''}{query}"


@lru_cache(maxsize=4_096)
def address_of(url: str) -> Address:
    """Return the address of a URL. A URL that can't be read becomes an address of its own."""
    try:
        parts = urlsplit(canonicalize_url(url))
    except ValueError:
        return Address("", _UNREADABLE, (url,))
    segments = parts.path.split("/", _MOST_PARTS)[1:]
    slash = bool(segments) and not segments[-1]
    if slash:
        segments.pop()
    extra: tuple[str, ...] = ()
    if ";" in parts.path:
        extra = tuple(sorted(pair for part in segments for pair in part.split(";")[1:] if pair))
        segments = [part.partition(";")[0] for part in segments]
    query = [pair.partition("=")[::2] for pair in parts.query.split("&", _MOST_PARTS) if pair]
    host = parts.netloc.lower().rpartition("@")[2].removesuffix(_PORTS.get(parts.scheme, "@"))
    return Address(parts.scheme, host, tuple(segments), extra, slash, tuple(query))

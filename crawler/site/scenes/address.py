"""The parts of a URL that a site reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

if TYPE_CHECKING:
    from collections.abc import Collection


class Address(NamedTuple):
    """A URL as the site sees it; `host` is blank where the URL has none."""

    host: str
    path: str
    query: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, url: str) -> Address:
        """Return the address of a URL, or of a path with a query."""
        parts = urlsplit(url)
        query = tuple(parse_qsl(parts.query, keep_blank_values=True))
        return cls(parts.hostname or "", parts.path or "/", query)

    def first(self, name: str, default: str = "") -> str:
        """Return the first value of a parameter."""
        return next((value for key, value in self.query if key == name), default)

    def without(self, names: Collection[str]) -> Address:
        """Return the address without some parameters."""
        return self._replace(query=tuple(pair for pair in self.query if pair[0] not in names))

    def plain(self) -> str:
        """Return path and query, with the parameters in the order of their names."""
        return with_query(self.path, dict(sorted(self.query)))

    def __str__(self) -> str:
        query = urlencode(self.query)
        return f"{self.path}?{query}" if query else self.path


def with_query(path: str, query: dict[str, str]) -> str:
    """Return a path with parameters."""
    return f"{path}?{urlencode(query)}" if query else path


def also(href: str, query: str) -> str:
    """Return a URL with another parameter, like a=1, at its end."""
    return f"{href}{'&' if '?' in href else '?'}{query}"

"""Take a URL apart, in the form that all URLs of one request have. Find the names in paths."""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit

import mmh3
from w3lib.url import canonicalize_url

ANY = "*"
"""Stands in an address for a part that may have any value."""
SIGNS = frozenset({ANY, "#", "x"})
"""`mask` returns one of these for a part that is not a word: a name, a number, a code."""
MANY = 30
"""After this many words at one place of a path, the rare ones are names: those that came less than
4 times, or in less than 1 of 30 paths."""
MOST_PLACES = 2_000
_INDEX = re.compile(r"(?:index|default)(?:\.\w{2,5})?\Z", re.IGNORECASE)
_CODE = re.compile(r"(?=[^/]*\d)[0-9a-f]{8,}(?:-[0-9a-f]+)*\Z", re.IGNORECASE)
_JOINS = re.compile(r"[-_+.,]|%[0-9a-f]{2}", re.IGNORECASE)
_DEEPEST = 6  # parts of a path that tell kinds apart
_LONGEST_WORD = 24
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
    def masked(self) -> tuple[str, ...]:
        """The first parts of the path, with numbers and names masked."""
        return tuple(map(mask, self.path[:_DEEPEST]))

    @property
    def kind(self) -> str:
        """The host and the masked path: one program of the site makes all pages of a kind."""
        return f"{self.host}/{'/'.join(self.masked)}"

    @property
    def has_index(self) -> bool:
        """Whether the path ends in an index page."""
        return bool(self.path) and _INDEX.match(self.path[-1]) is not None

    @property
    def bare_path(self) -> tuple[str, ...]:
        """The path without an index page at its end."""
        return self.path[:-1] if self.has_index else self.path

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers in the path."""
        return tuple(int(part[:18]) for part in self.path if part.isdecimal())

    @property
    def digest(self) -> int:
        """A signed 64-bit hash, the same in every process."""
        return int(mmh3.hash64(self.url.encode("utf-8", "replace"))[0])

    @property
    def url(self) -> str:
        """The URL, with `*` for parts of the path that may have any value."""
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


@lru_cache(maxsize=4_096)
def mask(part: str) -> str:
    """Return a part of a path in lower case if it is a word, else the sign of its kind."""
    if part.isdecimal():
        return "#"
    if len(part) >= 8 and _CODE.match(part):
        return "x"
    if len(part) > _LONGEST_WORD or any(map(str.isdecimal, part)):
        return ANY
    return ANY if len(_JOINS.findall(part)) > 1 else part.lower()


class Words:
    """Counts the words at each place of paths. All parts of paths are results of `mask`.

    Its memory is bounded. The oldest places are forgotten first.
    """

    def __init__(self) -> None:
        self._met: OrderedDict[str, Counter[str]] = OrderedDict()
        self._often: OrderedDict[str, frozenset[str]] = OrderedDict()

    def masked(self, before: str, parts: Iterable[str]) -> str:
        """Return a place with the parts of a path below it, and `*` for names."""
        for part in parts:
            before += f"/{self.word(before, part)}"
        return before

    def word(self, before: str, word: str) -> str:
        """Return a word at a place, or `*` for a name."""
        often = self._often.get(before)
        return word if often is None or word in often or word in SIGNS else ANY

    def count(self, before: str, parts: Iterable[str]) -> str:
        """Count the words of a path. Return a place whose names it can tell from now on, or ""."""
        many = ""
        for word in parts:
            if before not in self._often and word not in SIGNS:
                counts = self._met.setdefault(before, Counter())
                counts[word] += 1
                many = many or (before if len(counts) >= MANY else "")
                if len(self._met) > MOST_PLACES:
                    self._met.popitem(last=False)
            before += f"/{self.word(before, word)}"
        if many:
            counts = self._met.pop(many)
            least = max(4, counts.total() / MANY)
            self._often[many] = frozenset(word for word in counts if counts[word] >= least)
            if len(self._often) > MOST_PLACES:
                self._often.popitem(last=False)
        return many

    def forget_counts(self) -> None:
        """Count anew at the places whose names are not known yet."""
        self._met.clear()

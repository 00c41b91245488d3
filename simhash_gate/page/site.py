"""The site's part of a title: known by what the site calls itself, by its domain, by its place."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterable

SEPARATOR = re.compile(r"\s+[-–—|·•»«:/]+\s+|\s*[|»«]\s*")
"""What stands between the parts of a title."""

_WORD = re.compile(r"\w+")
_SUFFIXES = frozenset(
    {"ac", "co", "com", "edu", "gob", "gov", "go", "gouv", "ne", "net", "or", "org"}
)
_MOST_NAMES = 50
_LEAST = 4  # letters: a shorter name is in many a word
_TIMES = 3  # as long as the name within: with more words it says something else
_MORE = 6


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a title as they are compared: case and punctuation tell nothing."""
    return tuple(_WORD.findall(text.casefold()))


class Site:
    """The site of a page, by the names that it gives itself, and by its address.

    `address` is what the last part of the page's own address says.
    """

    def __init__(self, names: Iterable[str], url: str) -> None:
        host, path = _host_and_path(url)
        self.is_front = bool(host) and not path.strip("/")
        self.address = _said_by(path)
        known = islice(names, _MOST_NAMES)
        self._names = {joined for name in known if (joined := _joined(name))}
        label, labels = _names_of(host)
        self._known = self._names | labels
        self._names |= label

    def is_named(self, text: str) -> bool:
        """Tell if a text is a name of the site, and nothing else."""
        joined = _joined(text)
        return joined in self._known or joined.removeprefix("the") in self._known

    def is_ending(self, part: str) -> bool:
        """Tell if a part of a title that stands last is the site's: a name, or much of one."""
        joined = _joined(part)
        if not joined or joined in self._known:
            return True
        return any(
            (len(name) >= _LEAST and name in joined and len(joined) <= _TIMES * len(name) + _MORE)
            or (len(joined) >= _LEAST and joined in name)
            for name in self._names
        )

    def taken_off(self, title: str) -> str:
        """Return a title without the parts of the site, at its end or else at its start."""
        edges = [0, *(edge for found in SEPARATOR.finditer(title) for edge in found.span())]
        edges.append(len(title))
        parts = [slice(*edges[i : i + 2]) for i in range(0, len(edges), 2)]
        first, last = 0, len(parts) - 1
        while last and self.is_ending(title[parts[last]]):
            last -= 1
        if last == len(parts) - 1 and last and self.is_named(title[parts[0]]):
            first = 1
        return title[parts[first].start : parts[last].stop].strip()


def is_front(url: str) -> bool:
    """Tell if this is the address of a site's front page."""
    host, path = _host_and_path(url)
    return bool(host) and not path.strip("/")


def _joined(text: str) -> str:
    return "".join(words_of(text))


def _host_and_path(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
        return parts.hostname or "", parts.path
    except ValueError:
        return "", ""


def _said_by(path: str) -> str:
    said = unquote(path.rstrip("/").rpartition("/")[2])
    return " ".join(said.replace("-", " ").replace("_", " ").split())


@lru_cache(maxsize=256)
def _names_of(host: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return what a title may call a host: what was registered, and any part, or all of it."""
    labels = [label for label in host.removeprefix("www.").split(".") if label]
    if len(labels) < 2 or labels[-1].isdigit():
        return frozenset(), frozenset()
    names = labels[:-1]
    while len(names) > 1 and names[-1] in _SUFFIXES:
        names.pop()
    label = _joined(names[-1])
    wholes = {_joined(".".join(labels)), label + _joined(labels[-1])}
    return frozenset({label, *wholes}), frozenset({*map(_joined, names), label, *wholes})

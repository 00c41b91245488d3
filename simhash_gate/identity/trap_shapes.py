"""The shapes of URLs for the trap shield: what a site's program makes in one way has one.

A rule needs shapes that never mix what may differ, however often it is linked: those of `parts`.
Here endless addresses must come together, whatever they are called.

A part of a path is kept as it is where the site uses it often, and becomes `*` where it is one of
many. Digits become 0. No list of words is needed, and no site is known beforehand.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import urlsplit

DEEPEST = 6
"""Parts of a path that are told apart."""
MOST_COUNTED = 4_096
"""Parts of paths that are counted in one scope."""

_OFTEN = 4
_SHARE = 0.03
_SURELY = 12
_MOST_KEYS = 6
_LONGEST = 60
_DIGITS = re.compile(r"\d+")
_REPEATS = "(again)"
_DEEPER = "(deeper)"


class Shape(NamedTuple):
    """The shape of a URL, and the groups of shapes that it belongs to.

    `group` are those that begin alike, one branch of the site; `keys` those with the same
    parameters under any path, "" for a URL without.
    """

    name: str
    group: str
    keys: str = ""


class TrapShapes:
    """Tells the shapes of one scope's URLs, and learns which parts of paths are frequent."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._frequent: set[str] = set()

    def __len__(self) -> int:
        """How many parts of URLs are counted."""
        return len(self._counts)

    def of(self, url: str) -> Shape:
        """Return the shape of a URL, which is counted."""
        try:
            parts = urlsplit(url)
        except ValueError:
            return Shape("(unreadable)", "(unreadable)")
        name = self._part("", parts.netloc.rpartition("@")[2], folded=False)
        segments = [segment for segment in parts.path.split("/") if segment]
        query = "?" if parts.query else ""
        seen: set[str] = set()
        group = name
        for place, segment in enumerate(segments):
            if segment in seen and not segment.isdigit():
                name += f"/{_REPEATS}"
                break
            if place == DEEPEST:
                name += f"/{_DEEPER}"
                break
            seen.add(segment)
            name += "/" + self._part(name + "/", segment)
            if place == 0:
                group = name
        if len(segments) > 1:
            group += "/.."
        keys = self._keys(parts.query)
        return Shape(name + query + keys, group + query, query and f"(any path)?{keys}")

    def groups_of(self, url: str) -> tuple[str, str]:
        """Return the `group` and the `keys` of a URL, which is not counted."""
        try:
            parts = urlsplit(url)
        except ValueError:
            return "", ""
        name = self._known("", parts.netloc.rpartition("@")[2][:_LONGEST])
        segments = [segment for segment in parts.path.split("/") if segment]
        if segments:
            name += "/" + self._known(name + "/", _plain(segments[0]))
        name += "/.." if len(segments) > 1 else ""
        if not parts.query:
            return name, ""
        keys = sorted({self._known("?", _plain(key)) for key in _keys(parts.query)})
        return f"{name}?", f"(any path)?{'&'.join(keys[:_MOST_KEYS])}"

    def _keys(self, query: str) -> str:
        if not query:
            return ""
        return "&".join(sorted({self._part("?", key) for key in _keys(query)})[:_MOST_KEYS])

    def _part(self, before: str, part: str, *, folded: bool = True) -> str:
        """Count a part of a URL, and return it, or `*` where it is one of many in its place."""
        part = _plain(part) if folded else part[:_LONGEST]
        counts = self._counts
        key = before + part
        whole = counts[before] = counts.get(before, 0) + 1
        count = counts[key] = counts.get(key, 0) + 1
        if key in self._frequent:
            return part
        if len(counts) > MOST_COUNTED:
            self._forget()
        if count < _OFTEN or count < min(_SHARE * whole, _SURELY):
            return "*"
        self._frequent.add(key)  # and it remains so, however many others a trap makes of it
        return part

    def _known(self, before: str, part: str) -> str:
        return part if before + part in self._frequent else "*"

    def _forget(self) -> None:
        """Halve the counts, and forget what was met once, and what is rare."""
        left = [(key, count >> 1) for key, count in self._counts.items() if count > 1]
        left.sort(key=lambda entry: -entry[1])
        self._counts = dict(left[: MOST_COUNTED // 2])
        self._frequent &= self._counts.keys()


def _keys(query: str) -> set[str]:
    return {pair.partition("=")[0] for pair in query.split("&", 50)[:50]}


def _plain(part: str) -> str:
    return part if part.isalpha() and len(part) <= _LONGEST else _DIGITS.sub("0", part[:_LONGEST])

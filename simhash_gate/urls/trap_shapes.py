"""The shapes of URLs: addresses that a site's program makes in one way have one.

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
_MOST_KEYS = 6
_LONGEST = 60
_DIGITS = re.compile(r"\d+")
_REPEATS = "(again)"
_DEEPER = "(deeper)"


class Shape(NamedTuple):
    """The shape of a URL, and the group of shapes that begin alike: one branch of the site."""

    name: str
    group: str


class Shapes:
    """Tells the shapes of one scope's URLs, and learns which parts of paths are frequent."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def of(self, url: str) -> Shape:
        """Return the shape of a URL, which is counted."""
        try:
            parts = urlsplit(url)
        except ValueError:
            return Shape("(unreadable)", "(unreadable)")
        name = self._part("", parts.netloc.rpartition("@")[2])
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
        return Shape(name + query + self._keys(parts.query), group + query)

    def group_of(self, url: str) -> str:
        """Return the group of a URL, which is not counted."""
        try:
            parts = urlsplit(url)
        except ValueError:
            return ""
        name = self._known("", _plain(parts.netloc.rpartition("@")[2]))
        segments = [segment for segment in parts.path.split("/") if segment]
        if segments:
            name += "/" + self._known(name + "/", _plain(segments[0]))
        return name + ("/.." if len(segments) > 1 else "") + ("?" if parts.query else "")

    def _keys(self, query: str) -> str:
        if not query:
            return ""
        keys = {pair.partition("=")[0] for pair in query.split("&", 50)[:50]}
        return "&".join(sorted({self._part("?", key) for key in keys})[:_MOST_KEYS])

    def _part(self, before: str, part: str) -> str:
        """Count a part of a URL, and return it, or `*` where it is one of many in its place."""
        part = _plain(part)
        counts = self._counts
        counts[before] = counts.get(before, 0) + 1
        counts[before + part] = counts.get(before + part, 0) + 1
        if len(counts) > MOST_COUNTED:
            self._forget()
        return self._known(before, part)

    def _known(self, before: str, part: str) -> str:
        count = self._counts.get(before + part, 0)
        return part if count >= _OFTEN and count >= _SHARE * self._counts.get(before, 0) else "*"

    def _forget(self) -> None:
        """Halve the counts, and forget what was met once."""
        self._counts = {key: count >> 1 for key, count in self._counts.items() if count > 1}
        while len(self._counts) > MOST_COUNTED // 2:
            del self._counts[next(iter(self._counts))]


def _plain(part: str) -> str:
    return _DIGITS.sub("0", part[:_LONGEST])

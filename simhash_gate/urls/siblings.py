"""Finds, for a page, those of the pages before whose URLs differ from its own in little."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from simhash_gate.urls.known import LONGEST_VIEW, OTHER_VIEW
from simhash_gate.urls.parts import whole
from simhash_gate.urls.rules import reduction_by

if TYPE_CHECKING:
    from collections.abc import Callable

    from simhash_gate.urls.fetched import Fetched
    from simhash_gate.urls.parts import Parts
    from simhash_gate.urls.rules import Rule

MOST_SEEN = 12_000
"""Pages whose URLs are compared with new ones."""
_GROUP = 4
_PAIRS = 6
_PARAMETERS = 6
_MOST_SEGMENTS = 500
_MOST_PATHS = 3
_NOTHING: frozenset[str] = frozenset()


class Siblings:
    """Groups the last pages by their URLs, each without something that may not matter.

    A page is in several groups, a group keeps the last few pages.
    """

    def __init__(self) -> None:
        self._groups: dict[int, list[Fetched]] = {}
        self._ring: deque[tuple[Fetched, tuple[int, ...]]] = deque()
        self._segments: dict[str, set[str]] = {}
        self._places: dict[tuple[str, str], set[int]] = {}
        self._paths: dict[tuple[str, str], dict[Rule, None]] = {}

    def propose(self, scope: str, shape: str, rule: Rule) -> None:
        """Compare URLs with those that differ by this rule: it speaks for itself once."""
        if rule.kind == "segment":
            segments = self._segments.setdefault(scope, set())
            if len(segments) < _MOST_SEGMENTS:
                segments.add(rule.name)
        elif rule.kind == "place":
            self._places.setdefault((scope, whole(shape)), set()).add(int(rule.name))
        elif rule.kind == "path":
            known = self._paths.setdefault((scope, whole(shape)), {})
            if len(known) < _MOST_PATHS:
                known[rule] = None

    def keys(self, scope: str, page: Fetched, matters: Callable[[str], bool]) -> tuple[int, ...]:
        """Return the groups of a page; those without a parameter that surely `matters` are none."""
        parts, shape = page.parts, page.shape
        found = self._keys(scope, parts, shape, matters)
        if parts.query and self._paths:
            for rule in self._paths.get((scope, whole(shape)), ()):
                moved = reduction_by(rule).apply(parts)
                if moved != parts:
                    found += self._keys(scope, moved, shape, matters)
        return found

    def _keys(
        self, scope: str, parts: Parts, shape: str, matters: Callable[[str], bool]
    ) -> tuple[int, ...]:
        path = self._path(scope, parts)
        at = hash((scope, path))
        if not parts.query and not self._places:
            return (hash((at, ())),)
        query = tuple(sorted(parts.query))
        found = [(at, query)]
        names = dict.fromkeys([name for name, _ in query])
        if len(names) > 1:
            found.append((at, ()))
        found += [
            (at, tuple([pair for pair in query if pair[0] != name]))
            for name in list(names)[:_PARAMETERS]
            if not matters(name)
        ]
        places = self._places.get((scope, whole(shape)), ()) if self._places else ()
        found += [
            (hash((scope, (*path[:place], "*", *path[place + 1 :]))), query)
            for place in places
            if place < len(path)
        ]
        return tuple(dict.fromkeys(map(hash, found)))

    def _path(self, scope: str, parts: Parts) -> tuple[str, ...]:
        """Return the path as far as it seldom fails to matter."""
        extra = self._segments.get(scope, _NOTHING)
        found = []
        for segment in parts.segments:
            bare = segment.partition(";")[0].lower()
            view = len(bare) <= LONGEST_VIEW and OTHER_VIEW.match(bare)
            if bare not in extra and not view:
                found.append(bare)
        if found and (found[-1] == "index" or found[-1].startswith(("index.", "default."))):
            found.pop()
        return tuple(found)

    def of(self, keys: tuple[int, ...], *but: str | None) -> list[Fetched]:
        """Return some pages of the same groups, those that differ least first, but some URLs."""
        found: dict[str, Fetched] = {}
        for key in keys:
            for other in self._groups.get(key, ()):
                if other.url not in but:
                    found[other.url] = other
            if len(found) >= _PAIRS:
                break
        return list(found.values())[:_PAIRS]

    def remember(self, page: Fetched, keys: tuple[int, ...]) -> None:
        """Add a page to its groups; beyond `MOST_SEEN`, the oldest page is forgotten."""
        for key in keys:
            group = self._groups.setdefault(key, [])
            group.append(page)
            if len(group) > _GROUP:
                del group[0]
        self._ring.append((page, keys))
        if len(self._ring) > MOST_SEEN:
            oldest, its_keys = self._ring.popleft()
            for key in its_keys:
                group = self._groups.get(key, [])
                if group and group[0] is oldest:  # no group has an older page
                    del group[0]
                if not group:
                    self._groups.pop(key, None)

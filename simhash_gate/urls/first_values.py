"""Which value of a parameter a page was asked for with first.

Links of a page to itself, such as those to its present version, mostly have one value each: they
say nothing about the values that come later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simhash_gate.urls.parts import Parts

MOST_PAGES = 100_000
"""Pages and parameters that are remembered at least half as long as others come."""
_PARAMETERS = 6
_NONE: frozenset[str] = frozenset()


class FirstValues:
    """Remembers a hash of the first value, by the URL without the parameter."""

    def __init__(self) -> None:
        self._new: dict[int, int] = {}
        self._old: dict[int, int] = {}

    def later(self, scope: str, parts: Parts, reduced: Parts) -> frozenset[str]:
        """Note a URL, and what rules leave of it; return the parameters that came with another
        value before."""
        found = []
        forms = (parts,) if reduced == parts else (parts, reduced)
        for name, value in parts.query[:_PARAMETERS]:
            said = hash(value)
            for _, host, segments, _, query in forms:
                rest = tuple([pair for pair in query if pair[0] != name])
                if self._first(hash((scope, host, segments, name, rest)), said) != said:
                    found.append(name)
        return frozenset(found) if found else _NONE

    def _first(self, page: int, value: int) -> int:
        first = self._new.get(page)
        if first is None:
            first = self._new[page] = self._old.get(page, value)
            if len(self._new) > MOST_PAGES // 2:
                self._old, self._new = self._new, {}
        return first

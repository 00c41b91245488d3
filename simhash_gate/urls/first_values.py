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
        forms = (parts,) if reduced == parts else (parts, reduced)
        found = [
            name
            for name, value in parts.query[:_PARAMETERS]
            for form in forms
            if self._has_other(scope, form, name, value)
        ]
        return frozenset(found) if found else _NONE

    def is_later(self, scope: str, parts: Parts, name: str) -> bool:
        """Note a parameter of a URL; tell whether it came with another value before."""
        values = [value for its, value in parts.query[:_PARAMETERS] if its == name]
        return any(self._has_other(scope, parts, name, value) for value in values)

    def _has_other(self, scope: str, parts: Parts, name: str, value: str) -> bool:
        _, host, segments, _, query = parts
        rest = tuple([pair for pair in query if pair[0] != name])
        said = hash(value)
        return self._first(hash((scope, host, segments, name, rest)), said) != said

    def _first(self, page: int, value: int) -> int:
        first = self._new.get(page)
        if first is None:
            first = self._new[page] = self._old.get(page, value)
            if len(self._new) > MOST_PAGES // 2:
                self._old, self._new = self._new, {}
        return first

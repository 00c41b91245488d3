"""Pairs of pages that a person has judged.

Labels are JSON Lines: `{"a": …, "b": …, "duplicate": true}`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import complaining
from simhash_gate.offline.logs import OF_A_LOG
from simhash_gate.sources.jsonl import json_objects

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from simhash_gate.collection.neighbours import Scope
    from simhash_gate.common.wording import Complain

_EXAMPLE = '{"a": "https://…", "b": "https://…", "duplicate": true}'


@dataclass(frozen=True)
class Label:
    """Two pages, by URL or else by path, and whether they are duplicates."""

    a: str
    b: str
    duplicate: bool

    @property
    def names(self) -> frozenset[str]:
        """The two pages, in whichever order."""
        return frozenset((self.a, self.b))


def read_labels(path: str, complain: Complain) -> list[Label]:
    """Read the labels of a file, or those of an audit in a verdict log.

    Of two labels of one pair, the later one counts.
    """
    labels: dict[frozenset[str], Label] = {}
    for place, line in json_objects(path, complain, _EXAMPLE):
        if "a" not in line and not OF_A_LOG.isdisjoint(line):
            continue
        with complaining(complain, place):
            label = _label(line)
            labels[label.names] = label
    return list(labels.values())


def with_distances(labels: Iterable[Label], scopes: Iterable[Scope]) -> Iterator[tuple[Label, int]]:
    """Yield each label whose two pages are in one of the scopes, with their distance."""
    pages: dict[str, dict[str, int]] = {}
    for scope in scopes:
        for page in scope.pages:
            pages.setdefault(page.name, {}).setdefault(page.scope, page.fingerprint)
    for label in labels:
        a, b = pages.get(label.a, {}), pages.get(label.b, {})
        for name in sorted(a.keys() & b.keys()):
            yield label, (a[name] ^ b[name]).bit_count()


def unknown(labels: Sequence[Label], scopes: Sequence[Scope]) -> int:
    """Return how many labels name two pages that are not in one scope."""
    known = {label.names for label, _ in with_distances(labels, scopes)}
    return sum(label.names not in known for label in labels)


def _label(line: dict[str, Any]) -> Label:
    for key in ("a", "b"):
        if not isinstance(line.get(key), str):
            raise ValueError(f"{key!r} is {line.get(key)!r}: expected a URL, or a path")
    if not isinstance(line.get("duplicate"), bool):
        raise ValueError(f"'duplicate' is {line.get('duplicate')!r}: expected true or false")
    a, b = without_credentials(line["a"]), without_credentials(line["b"])
    return Label(a, b, line["duplicate"])

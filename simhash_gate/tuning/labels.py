"""Pairs of pages that somebody labelled: JSON Lines, `{"a": …, "b": …, "duplicate": true}`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simhash_gate.common.files import open_to_append
from simhash_gate.common.urls import without_credentials
from simhash_gate.gate.verdict import encode
from simhash_gate.sources.jsonl import json_objects

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simhash_gate.collection.gathered import Member
    from simhash_gate.common.complaints import Complain

_EXAMPLE = '{"a": "https://…", "b": "https://…", "duplicate": true}'


@dataclass(frozen=True)
class Label:
    """Two pages by URL, or path where they have none, and whether they are duplicates.

    `sampled` tells that the pair was drawn at random among those of its distance.
    """

    a: str
    b: str
    duplicate: bool
    sampled: bool = False

    @property
    def names(self) -> frozenset[str]:
        """The two pages, in whichever order."""
        return frozenset((self.a, self.b))


def read_labels(path: str, complain: Complain, *, missing_ok: bool = False) -> list[Label]:
    """Read the labels of a file; of two on one pair the later one counts."""
    if missing_ok and not Path(path).exists():
        return []
    labels: dict[frozenset[str], Label] = {}
    for place, line in json_objects(path, complain, _EXAMPLE):
        try:
            label = _label(line)
        except ValueError as error:
            complain(place, str(error))
        else:
            labels[label.names] = label
    return list(labels.values())


def append_label(path: str, label: Label) -> None:
    """Add a line that is on disk when this returns. Raises OSError."""
    line: dict[str, Any] = {"a": label.a, "b": label.b, "duplicate": label.duplicate}
    if label.sampled:
        line["sampled"] = True
    with open_to_append(path) as file:
        file.write(encode(line))
        file.flush()
        os.fsync(file.fileno())


def with_distances(
    labels: Iterable[Label], members: Iterable[Member]
) -> Iterator[tuple[Label, str, int]]:
    """Yield each label whose two pages are of one scope, with that scope and their distance."""
    pages: dict[str, dict[str, int]] = {}
    for member in members:
        pages.setdefault(member.name, {}).setdefault(member.scope, member.fingerprint)
    for label in labels:
        a, b = pages.get(label.a, {}), pages.get(label.b, {})
        for scope in sorted(a.keys() & b.keys()):
            yield label, scope, (a[scope] ^ b[scope]).bit_count()


def _label(line: dict[str, Any]) -> Label:
    for key in ("a", "b"):
        if not isinstance(line.get(key), str):
            raise ValueError(f"{key!r} is {line.get(key)!r}: expected a URL, or a path")
    if not isinstance(line.get("duplicate"), bool):
        raise ValueError(f"'duplicate' is {line.get('duplicate')!r}: expected true or false")
    a, b = without_credentials(line["a"]), without_credentials(line["b"])
    return Label(a, b, line["duplicate"], line.get("sampled") is True)

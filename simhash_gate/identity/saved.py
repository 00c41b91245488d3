"""What hosts have shown, as lines of JSON: for the next crawl."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, get_args

from simhash_gate.identity.atoms import Atom, AtomKind
from simhash_gate.values import TEXT, checked, json_value

if TYPE_CHECKING:
    from simhash_gate.identity.keys import Canonical
    from simhash_gate.identity.learning import Host

MOST = 2_000
"""Atoms of one host that are kept; those with the fewest contents go first."""
_KINDS = frozenset(get_args(AtomKind))
_CONTENTS = json_value("a count", int, lambda value: value >= 0)
_PLACE = re.compile(r"-?\d{1,8}( .+)?")


class AtomsError(ValueError):
    """Lines about parts of URLs that can't be read."""


def entries_of(scope: str, host: Host) -> list[dict[str, Any]]:
    """Return a line for each atom that a host has shown, those with most contents first."""
    found = {(kind, atom): (contents, acts) for kind, atom, contents, acts in host.atoms()}
    for of, contents in host.earlier.items():
        known, acts = found.get(of, (0, False))
        found[of] = max(known, contents), acts
    lines = [
        _line(scope, kind, atom, contents, acts)
        for (kind, atom), (contents, acts) in sorted(found.items())
        if contents > 1
    ]
    lines.sort(key=lambda line: -line["contents"])
    return lines[:MOST]


def _line(
    scope: str, urls: str, atom: tuple[str, str, str], contents: int, acts: bool = False
) -> dict[str, Any]:
    kind, name, value = atom
    line: dict[str, Any] = {"scope": scope, "urls": urls, "kind": kind, "name": name}
    return line | {"value": value, "contents": contents, "acts": acts}


def links_of(scope: str, links: Canonical, at: float) -> list[dict[str, Any]]:
    """Return the line of a host whose canonical links say nothing for a while after a Unix time.

    Its contents are the Unix time at which they do again.
    """
    line = _line(scope, "", ("canonical", "", ""), int(links.off))
    return [line] if links.off > at else []


def load(
    host: Host,
    entries: Iterable[Mapping[str, Any]],
    *,
    trusted: bool = False,
    links: Canonical | None = None,
) -> None:
    """Let a host, and its canonical links, go on from what was known.

    An atom with enough contents acts once a page of this crawl confirms it; if `trusted`, one that
    acted does at once.
    """
    for entry in entries:
        if entry["kind"] == "canonical":
            if links is not None:
                links.off = max(links.off, float(entry.get("contents", 0)))
            continue
        atom = Atom(entry["kind"], entry.get("name", ""), entry.get("value", ""))
        kind = entry.get("urls", "")
        host.earlier[kind, atom] = int(entry.get("contents", 0))
        if trusted and entry.get("acts"):
            host.trust(kind, atom)


def from_json(data: bytes | str, where: str) -> list[dict[str, Any]]:
    """Return the lines of a JSON array, as a store keeps it. Raises `AtomsError` for others."""
    try:
        found = json.loads(data)
        if not isinstance(found, list):
            raise ValueError("expected a list")
    except json.JSONDecodeError as error:
        raise AtomsError(f"{where}: not JSON: {error}") from None
    except (ValueError, RecursionError) as error:
        raise AtomsError(f"{where}: {error}") from None
    for number, entry in enumerate(found, 1):
        try:
            _check(entry)
        except ValueError as error:
            raise AtomsError(f"{where}: line {number}: {error}") from None
    return found


def _check(entry: Any) -> None:
    """Raise ValueError for a line that `entries_of` can't have written."""
    if not isinstance(entry, dict):
        raise ValueError("no object")
    for name in ("scope", "urls", "kind", "name", "value"):
        checked(entry, name, TEXT)
    if not entry.get("scope"):
        raise ValueError("no scope")
    checked(entry, "contents", _CONTENTS)
    kind, value = entry.get("kind"), entry.get("value") or ""
    if kind not in _KINDS | {"canonical"}:
        raise ValueError(f"kind {kind!r} is unknown")
    no_place = kind in ("segment", "place") and not _PLACE.fullmatch(value)
    if no_place or (kind == "page" and value.count(" ") != 2):
        raise ValueError(f"value {value!r} is no {kind}")


def merged(known: bytes, entries: Iterable[Mapping[str, Any]], where: str) -> bytes:
    """Return what a store is to keep of a host: what it has, and newer lines in place of theirs.

    Raises `AtomsError` for what the store has; `where` names it.
    """
    found = {_name(entry): entry for entry in [*from_json(known or b"[]", where), *entries]}
    # The line of canonical links comes first: a Unix time is more than any count.
    most = sorted(found.values(), key=lambda each: -each.get("contents", 0))
    return json.dumps(most[:MOST], ensure_ascii=False).encode("utf-8", "replace")


def _name(entry: Mapping[str, Any]) -> tuple[str, ...]:
    return (entry.get("urls", ""), entry["kind"], entry.get("name", ""), entry.get("value", ""))

"""The atoms of hosts as lines of JSON, for the next crawl."""

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
"""Atoms of one host that are saved. Those with the fewest contents are left out."""
_KINDS = frozenset(get_args(AtomKind))
_CONTENTS = json_value("a count", int, lambda value: value >= 0)
_PLACE = re.compile(r"-?\d{1,8}( .+)?")


class AtomsError(ValueError):
    """Lines about parts of URLs that can't be read."""


def entries_of(scope: str, host: Host) -> list[dict[str, Any]]:
    """Return a line for each atom of a host, those with most contents first."""
    atoms = {(kind, atom): (contents, acts) for kind, atom, contents, acts in host.atoms()}
    for place, earlier in host.earlier.items():
        contents, acts = atoms.get(place, (0, False))
        atoms[place] = max(contents, earlier), acts
    lines = [
        _line(scope, kind, atom, contents, acts)
        for (kind, atom), (contents, acts) in sorted(atoms.items())
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
    """Return a line, in a list, if the canonical links of a host are ignored at a Unix time.

    Its `contents` are the Unix time until which they are ignored. Else the list is empty.
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
    """Give a host, and its canonical links, what an earlier crawl learnt.

    An atom with enough contents acts once a page of this crawl confirms it. If `trusted`, an atom
    that acted then acts at once.
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
    """Return the lines of a JSON array, as a store keeps it. Raises `AtomsError` if it has none."""
    try:
        entries = json.loads(data)
        if not isinstance(entries, list):
            raise ValueError("expected a list")
    except json.JSONDecodeError as error:
        raise AtomsError(f"{where}: not JSON: {error}") from None
    except (ValueError, RecursionError) as error:
        raise AtomsError(f"{where}: {error}") from None
    for number, entry in enumerate(entries, 1):
        try:
            _check(entry)
        except ValueError as error:
            raise AtomsError(f"{where}: line {number}: {error}") from None
    return entries


def _check(entry: Any) -> None:
    """Raise ValueError for a line that `entries_of` never writes."""
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


def merged(stored: bytes, entries: Iterable[Mapping[str, Any]], where: str) -> bytes:
    """Return the stored lines of a host, with newer ones in place of those of the same atoms.

    Raises `AtomsError` for stored lines that are broken. `where` names the store.
    """
    lines = {_name(entry): entry for entry in [*from_json(stored or b"[]", where), *entries]}
    # The line of canonical links comes first: a Unix time is more than any count.
    most = sorted(lines.values(), key=lambda line: -line.get("contents", 0))
    return json.dumps(most[:MOST], ensure_ascii=False).encode("utf-8", "replace")


def _name(entry: Mapping[str, Any]) -> tuple[str, ...]:
    return (entry.get("urls", ""), entry["kind"], entry.get("name", ""), entry.get("value", ""))

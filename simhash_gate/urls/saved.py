"""Rules as JSON: what a store keeps for the next crawl, and what a person reads and edits."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, get_args

from simhash_gate.urls.evidence import (
    ENOUGH_CONTENTS,
    ENOUGH_VALUES,
    MOST_EARLIER,
    POOLED,
    Evidence,
    State,
    Word,
)
from simhash_gate.urls.parts import MASKS, whole
from simhash_gate.urls.rules import KINDS, Rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simhash_gate.urls.learner import Learner

MOST_KEPT = 1_000
"""Rules of one scope that are kept for later crawls: those with the most evidence."""
_MOST = 1_000_000_000
_NEEDED = {
    "host": ("name", "value"),
    "path parameter": ("name",),
    "segment": ("name", "value"),
    "place": ("name",),
    "parameter": ("name",),
    "value": ("name", "value"),
    "path": ("name", "value"),
}
_FROM_START = re.compile(r"[0-9]{1,3}\Z")
_PLACE = re.compile(r"-?[0-9]{1,3}\Z")
_PATH = re.compile(r"(?:\.|(?:/[^/?#*]+)*)/\*(?:[_-]\*)?(?:\.[^/?#*]+)?\Z")
_NUMBERS = ("support", "against", "contradictions", "contents", "values")


class RulesError(ValueError):
    """A file of rules can't be read; the message says where, and what is wrong."""


def entries_of(learner: Learner) -> dict[str, list[dict[str, Any]]]:
    """Return what is known of rules, by scope, as JSON has it, in the order of shape and rule.

    Rules with next to no evidence are left out, but for those that fail on a part of a shape.
    """
    found: dict[str, list[tuple[str, Rule, Evidence]]] = {}
    for scope, shape, rule, evidence in learner.evidence():
        cut = whole(shape) != shape and evidence.contradictions
        if evidence.word or cut or evidence.support + evidence.earlier >= POOLED:
            found.setdefault(scope, []).append((shape, rule, evidence))
    return {
        scope: [_entry(scope, *each) for each in _most(found[scope])] for scope in sorted(found)
    }


def _most(found: list[tuple[str, Rule, Evidence]]) -> list[tuple[str, Rule, Evidence]]:
    found.sort(key=lambda each: (not each[2].word, -each[2].support - each[2].earlier))
    return sorted(found[:MOST_KEPT], key=lambda each: each[:2])


def _entry(scope: str, shape: str, rule: Rule, evidence: Evidence) -> dict[str, Any]:
    told: dict[str, Any] = {"scope": scope, "shape": shape, "kind": rule.kind}
    told |= {"name": rule.name} if rule.name else {}
    told |= {"value": rule.value} if rule.value else {}
    told |= {
        "state": evidence.state,
        "support": round(min(evidence.support + evidence.earlier, 1_000), 1),
        "against": round(evidence.against, 1),
        "contradictions": evidence.contradictions,
        "contents": len(evidence.contents),
        "values": len(evidence.values),
    }
    told |= {"word": evidence.word} if evidence.word else {}
    told["examples"] = [list(pair) for pair in evidence.examples]
    return told


def to_json(entries: Iterable[dict[str, Any]]) -> str:
    """Return entries as JSON for a person: one a line."""
    lines = [json.dumps(entry, ensure_ascii=False) for entry in entries]
    return "[\n" + ",\n".join(lines) + "\n]\n" if lines else "[]\n"


def from_json(text: str | bytes, where: str) -> list[dict[str, Any]]:
    """Return the entries in JSON, checked. Raises `RulesError`; `where` names its source."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RulesError(f"{where}: not JSON: {error}") from None
    if not isinstance(found, list):
        raise RulesError(f"{where}: expected a list of rules")
    for number, entry in enumerate(found, 1):
        _check(entry, f"{where}: rule {number}")
    return found


def _check(entry: Any, where: str) -> None:
    if not isinstance(entry, dict):
        raise RulesError(f"{where}: expected an object")
    for name in ("scope", "shape", "kind"):
        if not isinstance(entry.get(name), str) or not entry[name]:
            raise RulesError(f"{where}: {name!r} is {entry.get(name)!r}: expected a text")
    for name, allowed in (("kind", KINDS), ("word", get_args(Word)), ("state", get_args(State))):
        if name in entry and entry[name] not in allowed:
            known = ", ".join(each for each in allowed if each)
            raise RulesError(f"{where}: {name!r} is {entry[name]!r}: expected one of {known}")
    for name in ("name", "value"):
        if not isinstance(entry.get(name, ""), str):
            raise RulesError(f"{where}: {name!r} is {entry[name]!r}: expected a text")
    for name in _NUMBERS:
        number = entry.get(name, 0)
        fits = isinstance(number, int | float) and 0 <= number <= _MOST
        if not fits or isinstance(number, bool):
            told = f"{name!r} is {number!r:.40}: expected a number of 0 to {_MOST}"
            raise RulesError(f"{where}: {told}")
    _check_rule(entry, where)


def _check_rule(entry: dict[str, Any], where: str) -> None:
    """Refuse a rule that does not say what it takes out of a URL."""
    kind = entry["kind"]
    for name in _NEEDED.get(kind, ()):
        if not entry.get(name):
            raise RulesError(f"{where}: {name!r} is missing: a rule of kind {kind!r} needs it")
    if kind == "value" and entry["value"] not in MASKS:
        known = ", ".join(MASKS)
        raise RulesError(f"{where}: 'value' is {entry['value']!r}: expected one of {known}")
    if kind == "path" and not _PATH.match(entry["value"]):
        found = repr(entry["value"])
        raise RulesError(f"{where}: 'value' is {found}: expected a path such as '/wiki/*'")
    place = {"place": "name", "segment": "value"}.get(kind)
    allowed = _FROM_START if kind == "place" else _PLACE
    if place and not allowed.match(entry[place]):
        raise RulesError(f"{where}: {place!r} is {entry[place]!r}: expected a place in the path")


def merged(known: bytes, entries: Iterable[dict[str, Any]], where: str) -> bytes:
    """Return what a store is to keep of a scope: what it has, and newer entries in place of theirs.

    What a person said of a rule stays, if the newer entry has no word. Raises `RulesError` for what
    the store has; `where` names it.
    """
    found = {_key(entry): entry for entry in from_json(known or b"[]", where)}
    for entry in entries:
        said = found.get(_key(entry), {}).get("word")
        found[_key(entry)] = {"word": said, **entry} if said else entry
    most = sorted(found, key=lambda key: (not found[key].get("word"), -_support(found[key])))
    kept = [found[key] for key in sorted(most[:MOST_KEPT])]
    return json.dumps(kept, ensure_ascii=False).encode("utf-8", "replace")


def _key(entry: dict[str, Any]) -> tuple[str, str, str, str]:
    return (entry["shape"], entry["kind"], entry.get("name", ""), entry.get("value", ""))


def _support(entry: dict[str, Any]) -> float:
    return float(entry.get("support", 0))


def load(learner: Learner, entries: Iterable[dict[str, Any]], *, trusted: bool = False) -> None:
    """Let a learner go on from what was known. Rules are on probation: the site must confirm them.

    If `trusted`, those that were active act at once.
    """
    for entry in entries:
        rule = Rule(entry["kind"], entry.get("name", ""), entry.get("value", ""))
        learner.put(entry["scope"], entry["shape"], rule, _evidence(entry, trusted=trusted))


def _evidence(entry: dict[str, Any], *, trusted: bool) -> Evidence:
    support = float(entry.get("support", 0))
    evidence = Evidence(
        against=float(entry.get("against", 0)),
        contradictions=max(0, int(entry.get("contradictions", 0)) - 1),
        word=entry.get("word", ""),
        earlier=min(int(support), MOST_EARLIER),
        contents=tuple(range(min(int(entry.get("contents", 0)), ENOUGH_CONTENTS))),
        values=tuple(range(min(int(entry.get("values", 0)), ENOUGH_VALUES))),
        examples=tuple(_pairs(entry.get("examples"))),
    )
    if trusted and entry.get("state") == "active" and evidence.word != "forbidden":
        evidence.word = "pinned"
    return evidence


def _pairs(examples: Any) -> Iterator[tuple[str, str]]:
    for pair in examples[:2] if isinstance(examples, list) else ():
        if isinstance(pair, list) and len(pair) == 2 and all(isinstance(u, str) for u in pair):
            yield pair[0], pair[1]

"""The lines of `simhash-gate store export`: a page, what is known of one, or of a site, in each."""

from __future__ import annotations

import base64
import json
from dataclasses import fields
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from simhash_gate.common.wording import complaining
from simhash_gate.fingerprints.hamming import from_hex, to_hex
from simhash_gate.history.notes import notes_of
from simhash_gate.history.texts import unpack
from simhash_gate.history.versions import History
from simhash_gate.identity.saved import from_json
from simhash_gate.sources.jsonl import first_object, json_objects
from simhash_gate.stores import PageHistory, Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from simhash_gate.common.wording import Complain

SITE_MEMORY = "site_memory"
URL_RULES = "url_rules"
HISTORY = "page_history"
NOTES = "site_notes"
TEXT = "kept_text"
_EXAMPLE = "those that `simhash-gate store export` writes"
_PAGE = ("request", "digest", "sketch")
_LATEST = 253_402_300_799.0  # the end of the year 9999, the last that every store can show


class Repeated(NamedTuple):
    """A scope, and what it repeats, as `Store.site_memory` has it."""

    scope: str
    memory: bytes


class Rules(NamedTuple):
    """A scope, and the rules about its URLs."""

    scope: str
    entries: list[dict[str, Any]]


class Notes(NamedTuple):
    """A scope, and the notes on it, as `Store.site_notes` has them."""

    scope: str
    notes: bytes


class Text(NamedTuple):
    """A text that is kept under the digest of a page, and when it was seen last."""

    scope: str
    digest: int
    at: float
    data: bytes


Exported = Record | Repeated | Rules | PageHistory | Notes | Text


def page_line(record: Record) -> dict[str, Any]:
    """Return all of a record; times are Unix times."""
    line = {item.name: getattr(record, item.name) for item in fields(record)}
    hexadecimal = {name: to_hex(line[name]) for name in ("fingerprint", "digest")}
    return line | hexadecimal | {"sketch": _base64(record.sketch)}


def memory_line(repeated: Repeated) -> dict[str, Any]:
    """Return what a scope repeats."""
    return {"scope": repeated.scope, SITE_MEMORY: _base64(repeated.memory)}


def rules_line(rules: Rules) -> dict[str, Any]:
    """Return the rules about the URLs of a scope."""
    return {"scope": rules.scope, URL_RULES: rules.entries}


def history_line(history: PageHistory) -> dict[str, Any]:
    """Return what is known of the visits to a page; times are Unix times."""
    line = {name: getattr(history, name) for name in ("scope", "request", "url", "run", "seen")}
    return line | {HISTORY: _base64(history.history)}


def notes_line(notes: Notes) -> dict[str, Any]:
    """Return the notes on a scope."""
    return {"scope": notes.scope, NOTES: notes_of(notes.notes)}


def text_line(text: Text) -> dict[str, Any]:
    """Return a text of a page."""
    line = {"scope": text.scope, "digest": to_hex(text.digest), "at": text.at}
    return line | {TEXT: _base64(text.data)}


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def is_exported(path: str) -> bool:
    """Tell if the first line of a file is one that `store export` writes."""
    first = first_object(path)
    return any(key in first for key in _READERS) or all(key in first for key in _PAGE)


def read_exported(path: str, complain: Complain) -> Iterator[Exported]:
    """Yield what the lines of a file, or of stdin, are. Records have no run yet."""
    for place, line in json_objects(path, complain, _EXAMPLE):
        with complaining(complain, place):
            read = next((read for key, read in _READERS.items() if key in line), _record)
            yield read(line)


def _repeated(line: dict[str, Any]) -> Repeated:
    return Repeated(_of(line, "scope"), _of(line, SITE_MEMORY))


def _rules(line: dict[str, Any]) -> Rules:
    scope = _of(line, "scope")
    entries = from_json(json.dumps(line[URL_RULES]), repr(URL_RULES))
    return Rules(scope, [entry | {"scope": scope} for entry in entries])


def _history(line: dict[str, Any]) -> PageHistory:
    history = _of(line, HISTORY)
    History.decode(history)
    scope, request, url = (_of(line, name) for name in ("scope", "request", "url"))
    return PageHistory(scope, request, url, "", _of(line, "seen"), history)


def _notes(line: dict[str, Any]) -> Notes:
    notes = line[NOTES]
    if not isinstance(notes, dict):
        raise ValueError(f"{NOTES!r} is {notes!r}: expected an object")
    return Notes(_of(line, "scope"), json.dumps(notes).encode())


def _text(line: dict[str, Any]) -> Text:
    data = _of(line, TEXT)
    unpack(data)
    return Text(_of(line, "scope"), _of(line, "digest"), _of(line, "at"), data)


_READERS: dict[str, Callable[[dict[str, Any]], Exported]] = {
    SITE_MEMORY: _repeated,
    URL_RULES: _rules,
    HISTORY: _history,
    NOTES: _notes,
    TEXT: _text,
}


def _record(line: dict[str, Any]) -> Record:
    """Return the record of a line. Raises ValueError that names the key and its value."""
    # Run and settled are those of the run that imports it.
    names = [item.name for item in fields(Record) if item.name not in ("run", "settled")]
    return Record(**{name: _of(line, name) for name in names}, run="")


def _of(line: dict[str, Any], name: str) -> Any:
    if name not in line:
        raise ValueError(f"no {name!r}: expected a line such as {_EXAMPLE}")
    value = line[name]
    try:
        return _value(name, value)
    except ValueError as error:
        shown = repr(value)
        shown = shown if len(shown) <= 80 else f"{shown[:80]}…"
        raise ValueError(f"{name!r} is {shown}: {error}") from None


def _value(name: str, value: Any) -> Any:
    if name in ("fingerprint", "digest"):
        return from_hex(_checked(value, str))
    if name in ("first_seen", "last_seen", "seen", "at"):
        seconds = float(_checked(value, int, float))
        if not (isfinite(seconds) and abs(seconds) <= _LATEST):
            raise ValueError("expected a time")
        return seconds
    if name == "words":
        if not 0 <= _checked(value, int) < 1 << 63:
            raise ValueError("expected a count")
        return value
    text = _checked(value, str)
    if name in ("sketch", SITE_MEMORY, HISTORY, TEXT):
        return base64.b64decode(text, validate=True)
    return text


def _checked(value: Any, *kinds: type) -> Any:
    if not isinstance(value, kinds) or isinstance(value, bool):
        raise ValueError("expected a string" if str in kinds else "expected a number")
    return value

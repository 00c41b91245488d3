"""The lines of `simhash-gate store export`: a page in each, or what is kept beside pages."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Generator, Iterator
from dataclasses import fields, replace
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from simhash_gate.common.wording import Complain, complaining
from simhash_gate.compare.site_memory import SiteMemory
from simhash_gate.fingerprints.hamming import to_hex
from simhash_gate.history.notes import merged as merged_notes
from simhash_gate.history.texts import unpack
from simhash_gate.history.versions import History
from simhash_gate.offline.chosen import Chosen, texts_of
from simhash_gate.sources import STDIN, File, find
from simhash_gate.sources.fingerprints import FINGERPRINT
from simhash_gate.sources.jsonl import first_object, json_objects
from simhash_gate.stores import Blob, Record
from simhash_gate.stores.base import HISTORY, KEPT_TEXT, NEVER, SITE_MEMORY, SITE_NOTES
from simhash_gate.stores.histories import history_in
from simhash_gate.stores.store import Store
from simhash_gate.values import TEXT, ValueKind, checked, json_value

_EXAMPLE = "those that `simhash-gate store export` writes"
_PAGE = {"key", "digest", "sketch"}
_BLOB = {"kind", "scope", "data"}
_LATEST = 253_402_300_799.0  # the end of the year 9999, the last that every store can show
_TIME = json_value("a time", float, lambda value: -_LATEST <= value <= _LATEST)
_BASE64 = ValueKind("Base64", partial(base64.b64decode, validate=True))
_VALUES = {
    **dict.fromkeys(("fingerprint", "digest"), FINGERPRINT),
    **dict.fromkeys(("first_seen", "last_seen", "at"), _TIME),
    **dict.fromkeys(("sketch", "data"), _BASE64),
    **dict.fromkeys(("words", "gave"), json_value("a count", int, range(1 << 63).__contains__)),
}
"""The kinds of values; those of other names are texts."""


class BlobKind(NamedTuple):
    """A kind of what is kept beside pages: its name in messages, and what its data must be.

    `check` raises ValueError for other data. `merge` puts what a store knows together with more.
    """

    named: str
    check: Callable[[bytes], object]
    merge: Callable[[bytes, bytes], bytes] = lambda _known, more: more
    is_json: bool = False


def _notes(data: bytes) -> None:
    if not isinstance(json.loads(data), dict):
        raise ValueError("expected an object")


def _last_visit(data: bytes) -> float:
    its = History.decode(history_in(data))
    return its.gone or (its.last.last_seen if its.last else NEVER)


KINDS = {  # of what two stores know of a page, only the times tell which is later
    HISTORY: BlobKind("histories", _last_visit, lambda *both: max(both, key=_last_visit)),
    KEPT_TEXT: BlobKind("texts", unpack),
    SITE_MEMORY: BlobKind("site memories", SiteMemory, lambda *both: SiteMemory(*both).encode()),
    SITE_NOTES: BlobKind("notes on sites", _notes, merged_notes, is_json=True),
}


def page_line(record: Record) -> dict[str, Any]:
    """Return all of a record; times are Unix times."""
    line = {item.name: getattr(record, item.name) for item in fields(record)}
    hexadecimal = {name: to_hex(line[name]) for name in ("fingerprint", "digest")}
    return line | hexadecimal | {"sketch": _base64(record.sketch)}


def blob_line(blob: Blob) -> dict[str, Any]:
    """Return all of a blob. Raises ValueError for data that its kind can't have."""
    kind = KINDS[blob.kind]
    kind.check(blob.data)
    line: dict[str, Any] = {name: getattr(blob, name) for name in ("kind", "scope", "key", "at")}
    return line | {"data": json.loads(blob.data) if kind.is_json else _base64(blob.data)}


def exported(store: Store, chosen: Chosen, complain: Complain) -> Generator[dict[str, Any]]:
    """Yield the lines of the pages of a store that are chosen, and of what is kept beside them."""
    scopes, texts = set(), set()
    for record in chosen.of(store):
        scopes.add(record.scope)
        texts.add((record.scope, to_hex(record.digest)))
        yield page_line(record)
    for history in chosen.histories(store):
        texts |= texts_of(history)
        with complaining(complain, f"history of {history.url}"):
            yield blob_line(history.blob)
    for text in store.blobs(KEPT_TEXT, chosen.scope, data=False):
        if not chosen or (text.scope, text.key) in texts:
            data = store.get(KEPT_TEXT, text.scope, text.key)
            with complaining(complain, f"text of {text.scope}"):
                yield blob_line(replace(text, data=data))
    memories = (it for it in store.blobs(SITE_MEMORY) if it.scope in scopes or not chosen)
    for blob in chain(memories, chosen.notes(store)):
        with complaining(complain, f"{KINDS[blob.kind].named} of {blob.scope}"):
            yield blob_line(blob)


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def is_exported(file: File) -> bool:
    """Tell if the first line of a file is one that `store export` writes."""
    if file.kind != find.JSONL:
        return False
    first = first_object(file.path)
    is_empty = file.path == STDIN and not first
    return is_empty or any(first.keys() >= keys for keys in (_PAGE, _BLOB))


def read_exported(path: str, complain: Complain) -> Iterator[Record | Blob]:
    """Yield what the lines of a file, or of stdin, are. They belong to no run yet."""
    for place, line in json_objects(path, complain, _EXAMPLE):
        with complaining(complain, place):
            yield _blob(line) if "kind" in line else _record(line)


def _blob(line: dict[str, Any]) -> Blob:
    kind = KINDS.get(_of(line, "kind"))
    if kind is None:
        raise ValueError(f"'kind' is {line['kind']!r}: expected one of {', '.join(KINDS)}")
    if kind.is_json:
        line = line | {"data": _base64(json.dumps(line.get("data")).encode())}
    scope, key, at, data = (_of(line, name) for name in ("scope", "key", "at", "data"))
    try:
        kind.check(data)
    except ValueError as error:
        raise ValueError(f"'data' of {line['kind']!r}: {error}") from None
    return Blob(line["kind"], scope, key, data, at)


def _record(line: dict[str, Any]) -> Record:
    """Return the record of a line. Raises ValueError that names the key and its value."""
    # Run and settled are those of the run that imports it.
    names = [item.name for item in fields(Record) if item.name not in ("run", "settled")]
    return Record(**{name: _of(line, name) for name in names}, run="")


def _of(line: dict[str, Any], name: str) -> Any:
    value = checked(line, name, _VALUES.get(name, TEXT))
    if value is None:
        raise ValueError(f"no {name!r}: expected a line such as {_EXAMPLE}")
    return value

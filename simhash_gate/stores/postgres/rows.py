"""Records as PostgreSQL holds them, and the statements that ask for them."""

from __future__ import annotations

import re
from struct import Struct
from typing import TYPE_CHECKING, Any

from psycopg.types.numeric import Int8

from simhash_gate.fingerprints.blocks import probes, split
from simhash_gate.stores.base import Answer, Match, Record
from simhash_gate.stores.postgres.connection import Prepared
from simhash_gate.stores.ranking import NEAR_REACH, reach
from simhash_gate.stores.values import signed, unsigned

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simhash_gate.stores.base import Window

_BLOCKS = 4
_LENGTH = Struct("!i")
_INT4, _INT8, _UINT8, _FLOAT8, _BOOL = (Struct(f"!{form}").pack for form in "iqQd?")
_INT4_TYPE, _TEXT_TYPE = 23, 25  # their oids, the same on every server
_ARRAY = Struct("!iiIii")  # its dimensions, whether there are NULLs, type, length, first index
# An `answer` is the number of fields, then each: its type, its length, and what it is.
_FIELD = Struct("!4xi")
_NUMBERS = Struct("!4x8xi8x?8x?8xq8xq8xq8xd8xd")  # what comes before the texts
_DISTANCE_AT, _NOTHING = 8, b"\xff\xff\xff\xff"  # the length of NULL
# Beyond two flipped bits a block, there are about as many keys to ask for as a scope has pages.
_FARTHEST_PROBE = 3 * _BLOCKS - 1
_MOST_PAGES = (1 << 63) - 1

# A noncharacter, which no text of the web should have; it escapes itself too.
_ESCAPE = "\U0010fffe"
_UNSTORABLE = re.compile(f"[\0\ud800-\udfff{_ESCAPE}]")
_ESCAPED = re.compile(f"{_ESCAPE}([0-9a-f]{{6}})")

_STORED = "url, request, fingerprint, digest, words, title, first_seen, last_seen, sketch"
# What `check_and_add` is always asked with, in order, and what it can be told by name.
_NEEDED = (
    *("bigint", "text", "integer", "text", "text", "bigint", "bigint", "bigint", "text"),
    *("double precision", "double precision", "bytea", "boolean"),
    *("integer", "integer", "bigint", "double precision"),
)
_EXACT = (("exact", "boolean"),)
_PROBES = (("scan", "boolean"), *((f"probes{block}", "integer[]") for block in range(_BLOCKS)))
_REFUSED = (("refused", "text[]"),)


def _asked_with(*named: tuple[str, str]) -> Prepared:
    types = [*_NEEDED, *(kind for _, kind in named)]
    names = [""] * len(_NEEDED) + [f"{name} => " for name, _ in named]
    values = ", ".join(f"{name}${place}" for place, name in enumerate(names, 1))
    return Prepared(", ".join(types), f"SELECT check_and_add({values})")


# Keyed by whether only equal texts count, whether it looks beyond the page's own buckets, and
# whether there are pages to pass over.
_QUESTIONS = {
    (exact, probing, refusing): _asked_with(
        *_EXACT * exact, *_PROBES * probing, *_REFUSED * refusing
    )
    for exact in (False, True)
    for probing in (False, True)
    for refusing in (False, True)
}
_PAGES = f"""
SELECT page.id, scope.name, pipeline.name, page.settled OR run.state = 'ended', run.name, {_STORED}
FROM page
JOIN scope ON scope.id = page.scope
JOIN pipeline ON pipeline.id = page.pipeline
JOIN run ON run.id = page.run
WHERE (page.durable OR counts(run.state, run.expires))
"""
PAGES_AFTER = f"{_PAGES} AND page.id > %(after)s ORDER BY page.id LIMIT 1000"
PAGES_OF_SCOPE_AFTER = f"""{_PAGES}
    AND (page.scope, page.id) > (%(scope)s, %(after)s)
    AND (page.scope, page.id) < (%(scope)s + 1, 0)
ORDER BY page.scope, page.id LIMIT 1000
"""
LIVES = """
SELECT EXISTS (
    SELECT FROM run WHERE name = %s AND state = 'live' AND expires > clock_timestamp()
)
"""
VERSIONS = """
SELECT pipeline.name, kept.pages
FROM (SELECT pipeline, count(*) AS pages FROM page GROUP BY pipeline) AS kept
JOIN pipeline ON pipeline.id = kept.pipeline
"""
SITE_MEMORY = """
SELECT repeated FROM site_memory WHERE scope = (SELECT id FROM scope WHERE name = %s)
"""
CURRENT = f"""{_PAGES}
    AND page.bucket0 = bucket((SELECT id FROM scope WHERE name = %s), %s, 0)
    AND page.fingerprint = %s AND page.request = %s AND run.name = %s
ORDER BY page.id DESC LIMIT 1
"""


def question(
    record: Record,
    run: int,
    pipeline: int,
    radius: int | None,
    refused: Sequence[Record],
    *,
    near: int,
    exact: bool,
    window: Window,
) -> tuple[Prepared, list[bytes | None]]:
    """Return the statement that checks and adds, and its arguments, in PostgreSQL's binary form.

    `run` and `pipeline` are the numbers of the record's.
    """
    reached = -1 if radius is None else reach(radius, near)
    scanning, probing = reached > _FARTHEST_PROBE, reached > NEAR_REACH
    asked = [
        _INT8(run),
        as_stored(record.scope).encode(),
        _INT4(pipeline),
        as_stored(record.url).encode(),
        as_stored(record.request).encode(),
        _UINT8(record.fingerprint),
        _UINT8(record.digest),
        _INT8(record.words),
        as_stored(record.title).encode(),
        _FLOAT8(record.first_seen),
        _FLOAT8(record.last_seen),
        record.sketch,
        _BOOL(record.settled),
        None if radius is None else _INT4(radius),
        _INT4(near),
        _INT8(max(0, min(window.pages, _MOST_PAGES))),
        _FLOAT8(window.since(record)),
    ]
    if exact:
        asked.append(_BOOL(True))
    if probing:
        keys = _keys(record.fingerprint, -1 if scanning else reached)
        asked += [_BOOL(scanning), *(_array(_INT4_TYPE, map(_INT4, some)) for some in keys)]
    if refused:
        names = [_identity_in_scope(other).encode() for other in refused]
        asked.append(_array(_TEXT_TYPE, names))
    return _QUESTIONS[exact, probing, bool(refused)], asked


def identity(record: Record) -> tuple[str, str, str, Int8]:
    """Return scope, run, request and fingerprint: what tells a record from every other."""
    scope, run, request, fingerprint = record.identity
    return as_stored(scope), as_stored(run), as_stored(request), Int8(signed(fingerprint))


def _identity_in_scope(record: Record) -> str:
    """Return what the server's function `identity` does."""
    _, run, request, fingerprint = identity(record)
    return f"{fingerprint} {len(run)} {run}{request}"


def listed(row: Sequence[Any]) -> Record:
    """Return the record of a row of PAGES_AFTER, PAGES_OF_SCOPE_AFTER or CURRENT."""
    _, scope, pipeline, *rest = row
    return matched(from_stored(scope), from_stored(pipeline), rest)


def read_answer(scope: str, pipeline: str, said: bytes) -> Answer | None:
    """Return what an `answer` says, which comes as PostgreSQL sends rows; None: run not live.

    Taken as a column each, its fields would cost the server and psycopg more than looking for them.
    """
    if said.startswith(_NOTHING, _DISTANCE_AT):
        return None
    distance, added, settled, *values, first_seen, last_seen = _NUMBERS.unpack_from(said)
    texts: list[bytes] = []
    at = _NUMBERS.size
    while at < len(said):
        start = at + _FIELD.size
        at = start + _FIELD.unpack_from(said, at)[0]
        texts.append(said[start:at])
    run, url, request, title = (text.decode() for text in texts[:4])
    row = (settled, run, url, request, *values, title, first_seen, last_seen, texts[4])
    return Answer(added, Match(matched(scope, pipeline, row), distance))


def matched(scope: str, pipeline: str, row: Sequence[Any]) -> Record:
    """Return the record of a row of an answer, less its outcome and distance."""
    settled, run, url, request, fingerprint, digest, words, title, *rest = row
    first_seen, last_seen, sketch = rest
    return Record(
        scope,
        from_stored(url),
        from_stored(request),
        unsigned(fingerprint),
        unsigned(digest),
        words,
        from_stored(title),
        pipeline,
        from_stored(run),
        first_seen,
        last_seen,
        sketch,
        settled,
    )


def as_stored(text: str) -> str:
    """Return text with NUL and lone surrogates escaped: broken pages have them, no database."""
    if text.isascii() and "\0" not in text:
        return text
    return _UNSTORABLE.sub(lambda found: f"{_ESCAPE}{ord(found[0]):06x}", text)


def from_stored(stored: str) -> str:
    """Return the text that was given to `as_stored`."""
    if _ESCAPE not in stored:
        return stored
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), stored)


def _array(kind: int, values: Iterable[bytes]) -> bytes:
    """Return an array of a type as PostgreSQL's `array_recv` takes it."""
    parts = [_LENGTH.pack(len(value)) + value for value in values]
    return _ARRAY.pack(1, 0, kind, len(parts), 1) + b"".join(parts)


def _keys(fingerprint: int, radius: int) -> list[list[int]]:
    """Return what to look up in each block so that nothing within `radius` is missed."""
    keys: list[list[int]] = [[] for _ in range(_BLOCKS)]
    for table, flips in probes(_BLOCKS, radius) if radius >= 0 else ():
        block = split(_BLOCKS)[table]
        own = fingerprint >> block.shift & block.mask
        keys[table] = [own ^ flip for flip in flips]
    return keys

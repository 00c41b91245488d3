"""Candidates of a lookup in SQLite: multi-index hashing over four indexed 16-bit columns."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from simhash_gate.fingerprints.blocks import probes, split
from simhash_gate.stores.ranking import Candidate

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from simhash_gate.stores.base import Record

_BLOCKS = 4
# Beyond two flipped bits a block, there are about as many keys to ask for as a scope has pages.
_FARTHEST_PROBE = 3 * _BLOCKS - 1
_UNSIGNED = (1 << 64) - 1

_INSIDE = """
SELECT id, fingerprint, request = CAST(?5 AS TEXT) FROM record INDEXED BY {index}
WHERE scope = ?1 AND pipeline = CAST(?2 AS TEXT) AND first_seen >= ?3 AND id >= ?4
    AND (?6 IS NULL OR digest = ?6)
"""


def candidates(
    db: sqlite3.Connection,
    scope: int,
    record: Record,
    radius: int,
    since: float,
    first: int,
    *,
    exact: bool,
) -> Iterator[Candidate]:
    """Yield all that may be near `record` in a scope; what is within `radius` is among them.

    Visits records that were first seen at `since` or later and have the number `first` or more; if
    `exact`, those with the record's digest alone.
    """
    mine = signed(record.fingerprint)
    names = (scope, as_bytes(record.pipeline), since, first, as_bytes(record.request))
    asked = (*names, signed(record.digest) if exact else None)
    rows = db.execute(_statement(radius), (*asked, *_keys(record.fingerprint, radius)))
    for number, fingerprint, same_request in rows:
        distance = ((fingerprint ^ mine) & _UNSIGNED).bit_count()
        yield Candidate(number, distance, bool(same_request))


def signed(value: int) -> int:
    """Return an unsigned 64-bit value as the signed one that SQLite can hold."""
    return value - (1 << 64) if value >> 63 else value


def unsigned(value: int) -> int:
    """Return what `signed` was given."""
    return value & _UNSIGNED


def as_bytes(text: str) -> bytes:
    """Return text for CAST(? AS TEXT), which takes the lone surrogates of broken pages too."""
    return text.encode("utf-8", "surrogatepass")


def as_text(data: bytes) -> str:
    """Return the text that was given to `as_bytes`."""
    return data.decode("utf-8", "surrogatepass")


def _keys(fingerprint: int, radius: int) -> Iterator[int]:
    if radius <= _FARTHEST_PROBE:
        for table, flips in probes(_BLOCKS, radius):
            block = split(_BLOCKS)[table]
            key = fingerprint >> block.shift & block.mask
            yield from (key ^ flip for flip in flips)


@lru_cache
def _statement(radius: int) -> str:
    """Return the statement that visits all within `radius`; its keys go from ?7 on."""
    if radius > _FARTHEST_PROBE:
        return _INSIDE.format(index="record_scope")
    selects, next_key = [], 7
    for table, flips in probes(_BLOCKS, radius):
        keys = ", ".join(f"?{number}" for number in range(next_key, next_key + len(flips)))
        next_key += len(flips)
        inside = _INSIDE.format(index=f"record_block{table}")
        selects.append(f"{inside} AND block{table} IN ({keys})")
    return " UNION ALL ".join(selects)

"""Records as rows of a SQLite store, and back."""

from __future__ import annotations

from typing import Any

from simhash_gate.stores.base import Record
from simhash_gate.stores.values import as_parameter, signed, unsigned

# What the column `settled` says.
SETTLED, DURABLE = 1, 2

_COLUMNS = """url, request, fingerprint, digest, words, title, pipeline, run.name,
    first_seen, last_seen, sketch, settled OR NOT live, record.id, run, live
FROM record JOIN run ON run.id = run"""
SELECT = f"SELECT scope.name, {_COLUMNS} JOIN scope ON scope.id = scope"
# One record, of a scope that is known; its name is to be put in front of the row.
SELECT_ONE = f"SELECT {_COLUMNS} WHERE record.id = ? AND scope = ?"
# Where its rows have the record's number; what follows is the run's number, and whether it lives.
NUMBER = 13

INSERT = """
INSERT INTO record
    (id, scope, run, url, request, fingerprint, digest, words, title, pipeline, first_seen,
    last_seen, sketch, settled)
VALUES
    (?, ?, ?, CAST(? AS TEXT), CAST(? AS TEXT), ?, ?, ?, CAST(? AS TEXT), CAST(? AS TEXT), ?, ?, ?,
    ?)
"""


def to_row(number: int, record: Record, scope: int, run: int) -> tuple[Any, ...]:
    """Return the parameters of INSERT."""
    return (
        number,
        scope,
        run,
        as_parameter(record.url),
        as_parameter(record.request),
        signed(record.fingerprint),
        signed(record.digest),
        record.words,
        as_parameter(record.title),
        as_parameter(record.pipeline),
        record.first_seen,
        record.last_seen,
        record.sketch,
        SETTLED if record.settled else 0,
    )


def to_record(row: tuple[Any, ...]) -> Record:
    """Return the record in a row of SELECT."""
    values = list(row[:NUMBER])
    values[3:5] = unsigned(values[3]), unsigned(values[4])
    values[-1] = bool(values[-1])
    return Record(*values)

"""Records as a SQLite store holds them, and the statements that ask for them."""

from __future__ import annotations

import sqlite3
from typing import Any

from simhash_gate.stores.base import Record
from simhash_gate.stores.values import as_parameter, signed, unsigned

SETTLED, DURABLE = 1, 2
"""What the column `settled` says."""

_RECORDS = """
SELECT scope.name, url, request, fingerprint, digest, words, title, pipeline, run.name, first_seen,
    last_seen, sketch, settled, live, run, record.id
FROM record JOIN scope ON scope.id = scope LEFT JOIN run ON run.id = run
"""
RUN_NAME, MARK, RUN_LIVES, RUN, NUMBER = 8, 12, 13, 14, 15
ONE = f"{_RECORDS} WHERE record.id = ?"
PAGE = f"{_RECORDS} WHERE record.id > ? ORDER BY record.id LIMIT 1000"
PAGE_OF_SCOPE = f"""{_RECORDS}
WHERE record.id > ? AND scope = (SELECT id FROM scope WHERE name = CAST(? AS TEXT))
ORDER BY record.id LIMIT 1000
"""
INSERT = """
INSERT INTO record
    (id, scope, run, url, request, fingerprint, digest, words, title, pipeline, first_seen,
    last_seen, sketch, settled)
VALUES
    (?, ?, ?, CAST(? AS TEXT), CAST(? AS TEXT), ?, ?, ?, CAST(? AS TEXT), CAST(? AS TEXT), ?, ?, ?,
    ?)
"""
LAST = "SELECT max(last, coalesce((SELECT max(id) FROM record), 0)) FROM sequence"
SEE = "UPDATE record SET last_seen = max(last_seen, ?) WHERE id = ?"
IDENTICAL = """
SELECT id FROM record
WHERE id = ? AND scope = ? AND run = (SELECT id FROM run WHERE name = CAST(? AS TEXT))
    AND request = CAST(? AS TEXT)
"""
FORGET = "DELETE FROM record WHERE id = ?"
SETTLE = "UPDATE record SET settled = max(settled, ?) WHERE id = ?"
VERSIONS = "SELECT pipeline, count(*) FROM record GROUP BY pipeline"
RUN_NUMBER = "SELECT id FROM run WHERE name = CAST(? AS TEXT)"
ADD_RUN = "INSERT INTO run (name, live) VALUES (CAST(? AS TEXT), 1)"
LIVES = "SELECT live FROM run WHERE name = CAST(? AS TEXT)"
BURY = "DELETE FROM record WHERE run = ? AND settled < ?"
CLOSE_RUN = "UPDATE run SET live = 0 WHERE id = ?"
DROP_RUN = """
DELETE FROM run
WHERE id = ? AND id NOT IN (SELECT run FROM record) AND id NOT IN (SELECT run FROM history)
"""
SITE_MEMORY = """
SELECT repeated FROM site_memory JOIN scope ON scope.id = scope WHERE name = CAST(? AS TEXT)
"""
SITE_MEMORIES = """
SELECT name, repeated, scope FROM site_memory JOIN scope ON scope.id = scope WHERE scope > ?
ORDER BY scope LIMIT 100
"""
SWEEP_SITE_MEMORIES = """
DELETE FROM site_memory WHERE NOT EXISTS (SELECT 1 FROM record WHERE scope = site_memory.scope)
"""
SWEEP_SCOPES = """
DELETE FROM scope WHERE NOT EXISTS (SELECT 1 FROM record WHERE scope = scope.id)
    AND NOT EXISTS (SELECT 1 FROM history WHERE scope = scope.id)
"""
EMPTY_RUNS = """
SELECT id FROM run
WHERE NOT live AND id NOT IN (SELECT run FROM record) AND id NOT IN (SELECT run FROM history)
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
    """Return the record of a row of ONE, PAGE or PAGE_OF_SCOPE."""
    (
        scope, url, request, fingerprint, digest, words, title, pipeline, run, first_seen,
        last_seen, sketch, settled, live, *_,
    ) = row  # fmt: skip
    if run is None:
        raise sqlite3.DatabaseError(f"a record of {scope}, but not its run")
    return Record(
        scope,
        url,
        request,
        unsigned(fingerprint),
        unsigned(digest),
        words,
        title,
        pipeline,
        run,
        first_seen,
        last_seen,
        sketch,
        settled > 0 or not live,
    )

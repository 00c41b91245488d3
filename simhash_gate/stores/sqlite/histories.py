"""What runs know of the visits to pages, in a SQLite store; inside the store's transactions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simhash_gate.stores.base import MOST_HISTORIES, PageHistory, Record
from simhash_gate.stores.sqlite.mirror import scope_number
from simhash_gate.stores.values import as_bytes, as_parameter

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

# A scope is looked at whenever a history gets such a number: it has a few pages too many at most.
_SELDOM = 1_000

_OF_PAGE = """
scope = (SELECT id FROM scope WHERE name = CAST(?1 AS TEXT)) AND request = CAST(?2 AS TEXT)
"""
_OF_RUN = f"{_OF_PAGE} AND +run IN (SELECT id FROM run WHERE name = CAST(?3 AS TEXT))"
_NEWEST = f"""
SELECT history FROM history JOIN run ON run.id = run
WHERE {_OF_PAGE} AND (durable OR NOT live OR run.name = CAST(?3 AS TEXT))
ORDER BY seen DESC, run.name = CAST(?3 AS TEXT) DESC LIMIT 1
"""
_ENDED = """
SELECT history.id FROM history JOIN run ON run.id = run
WHERE scope = ? AND request = CAST(? AS TEXT) AND NOT live ORDER BY seen DESC
"""
# The plus keeps SQLite from looking up all that the run has kept.
_REPLACED = """
DELETE FROM history WHERE scope = ? AND request = CAST(? AS TEXT) AND +run = ? AND NOT durable
"""
_INSERT = """
INSERT INTO history (scope, run, seen, request, url, history)
VALUES (?, ?, ?, CAST(? AS TEXT), CAST(? AS TEXT), ?)
"""
_REMOVE = "DELETE FROM history WHERE id = ?"
_ROWS = "SELECT count(*) FROM history WHERE scope = ?"
_PAGES = "SELECT count(*) FROM (SELECT 1 FROM history WHERE scope = ? GROUP BY request)"
_SURPLUS = """
DELETE FROM history WHERE scope = ?1 AND request IN (
    SELECT request FROM history WHERE scope = ?1 GROUP BY request
    ORDER BY max(seen) DESC LIMIT -1 OFFSET ?2
)
"""
_OLDER = f"""
DELETE FROM history WHERE {_OF_RUN} AND id < (SELECT max(id) FROM history WHERE {_OF_RUN})
"""
_MAKE_DURABLE = f"UPDATE history SET durable = 1 WHERE {_OF_RUN}"
_FORGET = f"DELETE FROM history WHERE {_OF_PAGE}"
_FORGET_OF_RUN = f"DELETE FROM history WHERE {_OF_RUN}"
_BURY = "DELETE FROM history WHERE run = ? AND NOT durable"
_COUNTING = """
SELECT here.id, scope.name, request, url, run.name, seen, history
FROM history AS here JOIN scope ON scope.id = scope JOIN run ON run.id = run
WHERE here.id > ?1 AND (?2 IS NULL OR scope.name = CAST(?2 AS TEXT)) AND (durable OR NOT live)
    AND NOT EXISTS (
        SELECT 1 FROM history AS other JOIN run AS its ON its.id = other.run
        WHERE other.scope = here.scope AND other.request = here.request
            AND (other.durable OR NOT its.live) AND (other.seen, other.id) > (here.seen, here.id)
    )
ORDER BY here.id LIMIT 1000
"""


def newest(db: sqlite3.Cursor, scope: str, request: str, run: str) -> bytes:
    """Return what counts of a page for a run."""
    row = db.execute(_NEWEST, (as_bytes(scope), as_bytes(request), as_bytes(run))).fetchone()
    return bytes(row[0]) if row else b""


def keep(db: sqlite3.Cursor, history: PageHistory, run: int) -> None:
    """Keep the history of a page; of those of ended runs, only the newest stays."""
    scope, request = scope_number(db, history.scope), as_parameter(history.request)
    for row in db.execute(_ENDED, (scope, request)).fetchall()[1:]:
        db.execute(_REMOVE, row)
    db.execute(_REPLACED, (scope, request, run))
    url = as_parameter(history.url)
    db.execute(_INSERT, (scope, run, history.seen, request, url, history.history))
    if (db.lastrowid or 0) % _SELDOM == 0:
        counts = (db.execute(count, (scope,)).fetchone()[0] for count in (_ROWS, _PAGES))
        if all(count > MOST_HISTORIES for count in counts):
            db.execute(_SURPLUS, (scope, MOST_HISTORIES - MOST_HISTORIES // 20))


def make_durable(db: sqlite3.Cursor, record: Record) -> None:
    """Let what the run of a record kept of its page count for all runs."""
    names = (as_bytes(record.scope), as_bytes(record.request), as_bytes(record.run))
    db.execute(_OLDER, names)
    db.execute(_MAKE_DURABLE, names)


def forget(db: sqlite3.Cursor, scope: str, request: str, run: str | None) -> None:
    """Remove what a run kept of a page, or what all runs did."""
    page = (as_bytes(scope), as_bytes(request))
    if run is None:
        db.execute(_FORGET, page)
    else:
        db.execute(_FORGET_OF_RUN, (*page, as_bytes(run)))


def bury(db: sqlite3.Cursor, run: int) -> None:
    """Remove what a dead run kept, but for what is durable."""
    db.execute(_BURY, (run,))


def counting(
    db: sqlite3.Cursor, after: int, scope: str | None
) -> tuple[int | None, Iterator[PageHistory]]:
    """Return some of what counts for a new run, and the number after which there may be more."""
    asked = (after, None if scope is None else as_bytes(scope))
    rows: list[tuple[Any, ...]] = db.execute(_COUNTING, asked).fetchall()
    some = (
        PageHistory(scope, request, url, run, seen, bytes(history))
        for _, scope, request, url, run, seen, history in rows
    )
    return rows[-1][0] if rows else None, some

"""Records as rows of a SQLite store, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from simhash_gate.stores.base import make_record
from simhash_gate.stores.values import as_parameter, signed, unsigned

if TYPE_CHECKING:
    from simhash_gate.stores.base import Record

# What the column `settled` says.
SETTLED, DURABLE = 1, 2

_COLUMNS = """url, request, fingerprint, digest, words, title, pipeline, first_seen, last_seen,
    sketch, settled, run"""
# One record, of a scope that is known.
SELECT_ONE = f"SELECT {_COLUMNS} FROM record WHERE id = ? AND scope = ?"
SELECT = f"""
SELECT {_COLUMNS}, run.name, live, record.id, scope.name
FROM record JOIN run ON run.id = run JOIN scope ON scope.id = scope
"""
# What the rows have beside the record's values: that of SELECT_ONE only the first.
RUN, RUN_NAME, RUN_LIVES, NUMBER, SCOPE = range(11, 16)

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


class Run(NamedTuple):
    """A run that has records: what its number stands for."""

    name: str
    live: bool


def to_record(scope: str, run: Run, row: tuple[Any, ...]) -> Record:
    """Return the record of a scope and a run in a row of SELECT or SELECT_ONE."""
    (
        url, request, fingerprint, digest, words, title, pipeline, first_seen, last_seen,
        sketch, settled, *_,
    ) = row  # fmt: skip
    return make_record(
        scope,
        url,
        request,
        unsigned(fingerprint),
        unsigned(digest),
        words,
        title,
        pipeline,
        run.name,
        first_seen,
        last_seen,
        sketch,
        settled > 0 or not run.live,
    )

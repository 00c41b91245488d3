"""Parquet files of pages: a row for each, with the keys of a line of JSON Lines as columns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from simhash_gate.common.wording import complaining
from simhash_gate.sources.manifest import KEYS, PAGES, entry_of, is_pages
from simhash_gate.sources.parquet import load, open_parquet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simhash_gate.common.wording import Complain
    from simhash_gate.sources import Entry, File

_ROWS = 32
_BUFFER = 1 << 20
_PLAIN = (str, int, float, type(None))


def parquet_pages(file: File, complain: Complain, max_bytes: int) -> Iterator[Entry]:
    """Yield the pages of a Parquet file. Needs pyarrow."""
    pa, number = load(), 0
    folder = Path(file.path).parent
    with complaining(complain, file.path):
        # A group of rows may be larger than memory: it is read some rows at a time.
        opened = open_parquet(file.path, buffer_size=_BUFFER, pre_buffer=False)
        names = opened.schema_arrow.names
        if not is_pages(names):
            wanted = ", ".join(map(repr, PAGES))
            raise ValueError(f"no column {wanted}; there are {', '.join(names)}")
        known = [name for name in KEYS if name in names]
        try:
            for batch in opened.iter_batches(_ROWS, columns=known):
                columns = [_column(pa, batch.column(name), name) for name in known]
                for cells in zip(*columns, strict=True):
                    number += 1
                    place = f"{file.path}, row {number}"
                    with complaining(complain, place):
                        line = dict(zip(known, cells, strict=True))
                        yield entry_of(place, line, folder, max_bytes)
        except (pa.ArrowException, OSError) as error:
            raise ValueError(f"can't be read after row {number}: {error}") from None


def _column(pa: Any, column: Any, name: str) -> list[Any]:
    """Return the values of a column. HTML may be bytes; texts may be no UTF-8."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if pa.types.is_timestamp(kind):  # Python has no nanoseconds
        column = column.cast(pa.timestamp("us", kind.tz), safe=False)
    texts = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    values: list[Any] = column.cast(pa.large_binary() if texts else column.type).to_pylist()
    if texts or name != "html":
        values = [v.decode("utf-8", "replace") if isinstance(v, bytes) else v for v in values]
    if name == "id":  # it goes out as JSON
        values = [v if isinstance(v, _PLAIN) else str(v) for v in values]
    return values

"""Parquet files of fingerprints, and of pages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from simhash_gate.common.wording import Complain, complaining, need
from simhash_gate.sources import Entry, File
from simhash_gate.sources.files import PAGES, entry_of, is_pages
from simhash_gate.sources.fingerprints import Numbered, each_numbered

SUFFIX = ".parquet"
FINGERPRINT = "fingerprint"
_TEXTS = ("url", "scope", "title", "pipeline", "id")
_BATCH = 1 << 17


def load() -> ModuleType:
    """Return pyarrow, with pyarrow.parquet in it. Raises `MissingExtraError`."""
    pa: ModuleType = need("pyarrow", "a Parquet file", "parquet")
    need("pyarrow.parquet", "a Parquet file", "parquet")
    return pa


def open_parquet(path: str, **options: Any) -> Any:
    """Open a Parquet file. Raises `MissingExtraError`, ValueError and OSError."""
    pa = load()
    try:
        return pa.parquet.ParquetFile(path, page_checksum_verification=True, **options)
    except pa.ArrowException as error:
        raise ValueError(f"no Parquet file: {error}") from None


def columns_of(path: str) -> list[str]:
    """Return the names of the columns of a Parquet file, none if it can't be read."""
    with suppress(ValueError, OSError), open_parquet(path) as file:
        return [*file.schema_arrow.names]
    return []


class ParquetFile:
    """A Parquet file with a column `fingerprint`: whole numbers of 64 bits, or 16 hex digits.

    Columns `url`, `scope`, `title`, `pipeline`, `id` and `words` are read if they are there. Raises
    `MissingExtraError`, and ValueError or OSError for a file that can't be read.
    """

    def __init__(self, path: str) -> None:
        pa = load()
        self._path = path
        self._file = open_parquet(path)
        self._failures = (pa.ArrowException, OSError)
        schema = self._file.schema_arrow
        names = schema.names
        if FINGERPRINT not in names:
            raise ValueError(f"no column {FINGERPRINT!r}; there are {', '.join(names)}")
        self.named: list[str] = []
        for name in filter(names.__contains__, _TEXTS):
            kind = schema.field(name).type
            if _is_text(pa, kind):
                self.named.append(name)
            elif name != "id":  # other programs write ids as numbers
                raise ValueError(f"column {name!r} is {kind}: expected strings")
        kind = schema.field(FINGERPRINT).type
        has_words = "words" in names and pa.types.is_integer(schema.field("words").type)
        self._columns = [*self.named, *(["words"] if has_words else ())]
        self._hex = _is_text(pa, kind)
        if not (self._hex or pa.types.is_uint64(kind) or pa.types.is_int64(kind)):
            raise ValueError(f"column 'fingerprint' is {kind}: expected uint64, int64 or strings")

    def batches(self, complain: Complain) -> Iterator[tuple[Numbered, dict[str, list[Any]]]]:
        """Yield some fingerprints with their rows, and the other values of these rows by column.

        A row without a fingerprint is skipped. `complain` is called for a wrong one.
        """
        first = 1
        try:
            for batch in self._file.iter_batches(_BATCH, columns=[FINGERPRINT, *self._columns]):
                column = batch.column(FINGERPRINT)
                if self._hex:
                    place = f"{self._path}, row {{}}".format
                    found = each_numbered(column.to_pylist(), first, place, complain)
                else:
                    there = np.flatnonzero(column.is_valid()).astype(np.uint64)
                    present = column.drop_null().to_numpy(zero_copy_only=False)
                    # Databases without unsigned numbers keep the same bits as a negative number.
                    found = Numbered(there + np.uint64(first), present.astype(np.uint64))
                kept = load().array(found.numbers - np.uint64(first))
                texts = {name: batch.column(name).take(kept).to_pylist() for name in self._columns}
                yield found, texts
                first += len(batch)
        except self._failures as error:
            complain(f"{self._path}, after row {first - 1}", f"can't be read: {error}")


def _is_text(pa: Any, kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


_ROWS = 32
_BUFFER = 1 << 20
_PLAIN = (str, int, float, type(None))


def parquet_pages(file: File, complain: Complain, max_bytes: int) -> Iterator[Entry]:
    """Yield the pages of a Parquet file. Raises `MissingExtraError` without pyarrow."""
    pa, number = load(), 0
    folder = Path(file.path).parent
    with complaining(complain, file.path):
        # A group of rows may be larger than memory, so only some rows are read at a time.
        parquet = open_parquet(file.path, buffer_size=_BUFFER, pre_buffer=False)
        names = parquet.schema_arrow.names
        if not is_pages(names):
            wanted = ", ".join(map(repr, PAGES))
            raise ValueError(f"no column {wanted}; there are {', '.join(names)}")
        try:
            for batch in parquet.iter_batches(_ROWS):
                columns = [_column(pa, batch.column(name), name) for name in names]
                for cells in zip(*columns, strict=True):
                    number += 1
                    place = f"{file.path}, row {number}"
                    with complaining(complain, place):
                        line = dict(zip(names, cells, strict=True))
                        yield entry_of(place, line, folder, max_bytes)
        except (pa.ArrowException, OSError) as error:
            raise ValueError(f"can't be read after row {number}: {error}") from None


def _column(pa: Any, column: Any, name: str) -> list[Any]:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if pa.types.is_timestamp(kind):  # Python has no nanoseconds
        column = column.cast(pa.timestamp("us", kind.tz), safe=False)
    texts = _is_text(pa, kind)
    values: list[Any] = column.cast(pa.large_binary() if texts else column.type).to_pylist()
    if texts or name != "html":
        values = [v.decode("utf-8", "replace") if isinstance(v, bytes) else v for v in values]
    if name == "id":  # ids are written as JSON later
        values = [v if isinstance(v, _PLAIN) else str(v) for v in values]
    return values

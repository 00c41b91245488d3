"""The records of WARC files (ISO 28500), packed by gzip or not, whole or cut off."""

from __future__ import annotations

import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from io import BufferedReader
from math import inf
from typing import TYPE_CHECKING
from zipfile import BadZipFile, ZipExtFile

from simhash_gate.common.wording import Complain, why

if TYPE_CHECKING:
    from fastwarc.warc import WarcRecord

Opened = BufferedReader | ZipExtFile
GZIP = b"\x1f\x8b"
"""The first bytes of a gzip file."""


def read_records(
    file: Opened, path: str, complain: Complain, most: float = inf
) -> Iterator[tuple[str, WarcRecord, bytes]]:
    """Yield each whole record with its place and its block. Needs fastwarc.

    A block of more than `most` bytes is left out. `path` is the name of the file in messages.
    """
    from fastwarc.warc import ArchiveIterator

    place, number, damaged = path, 0, ""
    unpacked = _Unpacked(file)
    try:
        for number, record in enumerate(ArchiveIterator(unpacked, parse_http=False), 1):
            place = f"{path}, record {number}"
            length = record.headers.get("Content-Length") or ""
            if not length.isdecimal():
                complain(place, "cut off, or damaged: a record without its length")
                damaged = place
                continue
            block = record.reader.read() if int(length) <= most else b""
            size = len(block) or record.consume()
            if size == int(length):
                yield place, record, block
            else:  # fastwarc reads a record that is cut off as a shorter one, without an error
                complain(place, f"cut off: {size} of its {length} bytes are there")
                damaged = place
    except OSError as error:
        complain(place, f"{why(error)}; nothing after this can be read")
        return
    if unpacked.failure and damaged != place:
        complain(place, f"cut off, or damaged, after this: {unpacked.failure}")
    elif not number:
        complain(path, "no WARC record in it")


class _Unpacked(io.RawIOBase):
    """A WARC file, unpacked from gzip. It ends where reading fails; `failure` says why.

    (fastwarc itself takes the start of a cut-off gzip member for the end of the file.)
    """

    def __init__(self, file: Opened) -> None:
        self._packed = file
        self._file: Opened | gzip.GzipFile | None = None
        self._position = 0
        self.failure = ""

    def tell(self) -> int:
        return self._position

    def read(self, size: int = -1) -> bytes:
        try:
            if self._file is None:
                packed = self._packed.peek(2)[:2] == GZIP
                self._file = gzip.GzipFile(fileobj=self._packed) if packed else self._packed
            data = self._file.read1(size)
        except (OSError, EOFError, zlib.error, BadZipFile, lzma.LZMAError) as error:
            self.failure = str(error)
            return b""
        self._position += len(data)
        return data

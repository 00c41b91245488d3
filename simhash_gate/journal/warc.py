"""WARC files of dropped pages (ISO 28500, version 1.1): each WARC record is a gzip member.

A journal is read member by member and not by fastwarc, which ends at the first one that is damaged:
here the next one is found again.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import zlib
from datetime import datetime, timezone
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

from simhash_gate.common.wording import MissingExtraError, need
from simhash_gate.journal.dropped import DamagedError, Drop, Stored

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

LEVEL = 6  # of gzip: beyond it, pages take longer and get no smaller

_ABOUT = (
    b"software: simhash-gate\r\n"
    b"format: WARC file version 1.1\r\n"
    b"description: near-duplicate pages that were dropped\r\n"
)
_KEPT = "X-Archive-Orig-"
"""Before the name of a header that is about the transfer and not true of what is kept."""
_OF_THE_TRANSFER = frozenset({b"content-length", b"transfer-encoding"})

_CHUNK = 1 << 16
_MOST = 1 << 30  # bytes of one record, packed and unpacked: what has more is no dropped page
_MOST_IN_VAIN = 1 << 30  # bytes of a file that may be unpacked, and turn out to be no records
_MAGIC = b"\x1f\x8b\x08"  # RFC 1952, 2.3.1: gzip, deflated
_BEGINNING = b"WARC/"


class WarcRecord(NamedTuple):
    """One WARC record: its type, its WARC headers, its block."""

    kind: str
    headers: dict[str, str]
    block: bytes


class GzipMember(NamedTuple):
    """What a gzip member of a file holds, and the bytes at which it begins and ends."""

    start: int
    end: int
    data: bytes


class DamagedBytes(NamedTuple):
    """Bytes that can't be read, and why; without an `end` they are all that follow."""

    start: int
    end: int | None
    reason: str

    def __str__(self) -> str:
        if self.end is None:
            return f"{self.reason}; nothing after it can be read"
        return f"{self.reason}; {self.end - self.start} bytes from there are left out"


def need_fastwarc() -> None:
    """Raise `MissingExtraError` where fastwarc is not installed, or on Windows."""
    if not hasattr(os, "fork"):
        raise MissingExtraError("a journal of dropped pages needs the file locks of POSIX")
    need("fastwarc", "a journal of dropped pages", "warc")


def warcinfo() -> bytes:
    """Return the record that a file begins with."""
    return _packed("warcinfo", _ABOUT, _new_id(), content_type="application/warc-fields")


def pack(drop: Drop, stored: Stored) -> bytes:
    """Return the records of a dropped page: its metadata, then its response."""
    response, at = _new_id(), datetime.fromtimestamp(drop.time, timezone.utc)
    about = json.dumps(drop.as_json()).encode()
    return _packed(
        "metadata", about, _new_id(), at, content_type="application/json",
        url=drop.url, concurrent_to=response,
    ) + _packed(
        "response", _http(stored), response, at,
        content_type="application/http; msgtype=response",
        url=drop.url, ip_address=stored.ip_address,
    )  # fmt: skip


def members(file: BinaryIO) -> Iterator[GzipMember | DamagedBytes]:
    """Yield the gzip members of a file from here on, and what is damaged between. Raises OSError.

    After a gap comes the next member that is whole and begins as a WARC record does.
    """
    start, in_vain = file.tell(), 0
    while True:
        reading = _Reading(file, start)
        try:
            member = reading.member()
        except DamagedError as error:
            member, in_vain = _next_record(file, start + 1, in_vain + reading.taken)
            yield DamagedBytes(start, member and member.start, str(error))
        if member is None:
            return
        yield member
        start = member.end


def member_at(file: BinaryIO, start: int) -> GzipMember:
    """Return the gzip member that begins there. Raises `DamagedError` and OSError."""
    member = _Reading(file, start).member()
    if member is None:
        raise DamagedError("not there any more")
    return member


def record_of(data: bytes) -> WarcRecord:
    """Return the record that a gzip member holds. Raises `DamagedError`."""
    from fastwarc.warc import ArchiveIterator

    try:
        for found in ArchiveIterator(io.BytesIO(data), parse_http=False):
            block = found.reader.read()
            if found.headers.get("Content-Length") != str(len(block)):
                raise DamagedError("a record that is not as long as it says")
            return WarcRecord(str(found.headers.get("WARC-Type")), found.headers.to_dict(), block)
    except OSError as error:  # of fastwarc: the data are in memory
        raise DamagedError(str(error)) from None
    raise DamagedError("no WARC record")


def drop_of(metadata: WarcRecord) -> Drop | None:
    """Return what a metadata record says of a page, None if it is of another kind.

    Raises `DamagedError`.
    """
    if metadata.headers.get("Content-Type") != "application/json":
        return None
    try:
        known = json.loads(metadata.block)
    except (ValueError, RecursionError) as error:
        raise DamagedError(f"metadata that are no JSON: {error}") from None
    return Drop.of_json(known)


def stored_of(response: WarcRecord) -> Stored:
    """Return the HTTP response of a response record, as it was dropped. Raises `DamagedError`."""
    head, _, body = response.block.partition(b"\r\n\r\n")
    status_line, *lines = head.split(b"\r\n")
    status = status_line.split(b" ")[1:2]
    if not status_line.startswith(b"HTTP/") or not status or not status[0].isdigit():
        raise DamagedError("no HTTP status line")
    headers = []
    for line in lines:
        name, _, value = line.partition(b":")
        original = name.decode("latin-1").removeprefix(_KEPT)
        if original != name.decode("latin-1") or name.lower() not in _OF_THE_TRANSFER:
            headers.append((original.encode("latin-1"), value.strip()))
    ip_address = response.headers.get("WARC-IP-Address", "")
    return Stored(int(status[0]), headers, body, ip_address)


def _http(stored: Stored) -> bytes:
    """Return a response such that its headers are true of the body that is there."""
    try:
        phrase = HTTPStatus(stored.status).phrase
    except ValueError:
        phrase = "Unknown"
    lines = [f"HTTP/1.1 {stored.status} {phrase}".encode()]
    for name, value in stored.headers:
        kept = _KEPT.encode() if name.lower() in _OF_THE_TRANSFER else b""
        lines.append(kept + name + b": " + b" ".join(value.splitlines()))
    lines.append(b"Content-Length: %d" % len(stored.body))
    return b"\r\n".join([*lines, b"", stored.body])


def _new_id() -> str:
    return f"<urn:uuid:{uuid4()}>"


def _packed(
    kind: str, block: bytes, record_id: str, at: datetime | None = None, *, content_type: str,
    url: str = "", concurrent_to: str = "", ip_address: str = "",
) -> bytes:  # fmt: skip
    from fastwarc import warc

    made = warc.WarcRecord()
    made.init_headers(getattr(warc.WarcRecordType, kind))
    made.record_id = record_id
    if at is not None:
        made.record_date = at
    for name, value in (
        ("Content-Type", content_type),
        ("WARC-Target-URI", url),
        ("WARC-Concurrent-To", concurrent_to),
        ("WARC-IP-Address", ip_address),
    ):
        if value:
            made.headers[name] = value
    made.set_bytes_content(block)
    stream = io.BytesIO()
    made.write(stream, checksum_data=True)
    return gzip.compress(stream.getvalue(), LEVEL)


class _Reading:
    """One member that is read; `taken` counts its bytes, packed and unpacked."""

    def __init__(self, file: BinaryIO, start: int) -> None:
        self.taken = 0
        self._file = file
        self._start = start

    def member(self) -> GzipMember | None:
        """Return the member, None at the end of the file.

        Raises `DamagedError` where it is cut off or is none, and OSError.
        """
        self._file.seek(self._start)
        unpacker, found = zlib.decompressobj(16 + zlib.MAX_WBITS), []
        while not unpacker.eof:
            packed = self._file.read(_CHUNK)
            if not packed:
                if not self.taken:
                    return None
                raise DamagedError(f"cut off in the record at byte {self._start}")
            self.taken += len(packed)
            try:
                found.append(unpacker.decompress(packed))
            except zlib.error as error:
                reason = f"damaged in the record at byte {self._start}: {error}"
                raise DamagedError(reason) from None
            self.taken += len(found[-1])
            if self.taken > _MOST:
                raise DamagedError(f"the record at byte {self._start} is larger than any page")
        end = self._file.tell() - len(unpacker.unused_data)
        return GzipMember(self._start, end, b"".join(found))


def _next_record(file: BinaryIO, start: int, in_vain: int) -> tuple[GzipMember | None, int]:
    """Return the next whole record, None if there is none, and the bytes unpacked in vain.

    These are bounded: in a file that was made to, every few bytes could begin a long member.
    """
    for place in _beginnings(file, start):
        if in_vain > _MOST_IN_VAIN:
            break
        reading = _Reading(file, place)
        try:
            member = reading.member()
        except DamagedError:
            member = None
        if member is not None and member.data.startswith(_BEGINNING):
            return member, in_vain
        in_vain += reading.taken
    return None, in_vain


def _beginnings(file: BinaryIO, start: int) -> Iterator[int]:
    """Yield the places from there on where a member may begin."""
    while True:
        file.seek(start)
        chunk = file.read(_CHUNK)
        if len(chunk) < len(_MAGIC):
            return
        found = chunk.find(_MAGIC)
        while found >= 0:
            yield start + found
            found = chunk.find(_MAGIC, found + 1)
        start += len(chunk) - len(_MAGIC) + 1

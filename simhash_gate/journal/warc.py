"""WARC files of dropped pages (ISO 28500, version 1.1): each WARC record is a gzip member.

A journal is read member by member, since fastwarc alone takes the start of a member that is cut off
for the end of the file.
"""

from __future__ import annotations

import gzip
import io
import json
import zlib
from datetime import datetime, timezone
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

from simhash_gate.common.wording import need
from simhash_gate.journal.dropped import DamagedError, Drop, Stored

if TYPE_CHECKING:
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
_MOST = 1 << 30  # bytes of one record, unpacked: what has more is no dropped page


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


def need_fastwarc() -> None:
    """Raise `MissingExtraError` where fastwarc is not installed."""
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


def member_at(file: BinaryIO, start: int) -> GzipMember | None:
    """Return the gzip member that begins at a byte, None at the end of the file.

    Raises `DamagedError` where it is cut off or is none, and OSError.
    """
    file.seek(start)
    unpacker, size = zlib.decompressobj(16 + zlib.MAX_WBITS), 0
    found: list[bytes] = []
    while not unpacker.eof:
        packed = file.read(_CHUNK)
        if not packed and not found:
            return None
        try:
            found.append(unpacker.decompress(packed))
        except zlib.error as error:
            raise DamagedError(f"damaged in the record at byte {start}: {error}") from None
        size += len(found[-1])
        if not packed and not unpacker.eof:
            raise DamagedError(f"cut off in the record at byte {start}")
        if size > _MOST:
            raise DamagedError(f"the record at byte {start} is larger than any page")
    return GzipMember(start, file.tell() - len(unpacker.unused_data), b"".join(found))


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

"""WARC files of dropped pages (ISO 28500, version 1.1): each WARC record is a gzip member.

A journal is read member by member: fastwarc takes a member that is cut off for the end of the file.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import zlib
from dataclasses import MISSING, dataclass, fields
from datetime import datetime, timezone
from http.client import responses
from typing import Any, BinaryIO, NamedTuple
from uuid import uuid4

from simhash_gate.common.wording import DamagedError, MissingExtraError, need

_LAST_TIME = 253_402_300_800  # the year 10,000, which no calendar shows


@dataclass(frozen=True)
class Drop:
    """The metadata of a dropped page.

    `url` and `time` (Unix) are those of the response. `matched_url`, `distance` and `threshold`
    (bits), `outcome` and `reason` are those of the verdict, "" and 0 if no page matched. `pipeline`
    is the pipeline version, `fingerprint` 16 hex digits. `encoding` is that by which the crawl
    has read the page. `matched_markdown` is the Markdown of the matched page, if it is kept.
    """

    url: str
    time: float
    spider: str
    pipeline: str
    outcome: str
    reason: str
    matched_url: str
    distance: int
    threshold: int
    title: str
    words: int
    fingerprint: str | None
    encoding: str | None = None
    matched_markdown: str = ""

    @classmethod
    def of_json(cls, values: Any) -> Drop:
        """Read a drop from JSON values. Other keys are ignored. Raises `DamagedError`."""
        if not isinstance(values, dict):
            raise DamagedError("metadata that are no JSON object")
        present = {f.name: values[f.name] for f in fields(cls) if f.name in values}
        needed = [f.name for f in fields(cls) if f.default is MISSING]
        missing = [name for name in needed if name not in present]
        if missing:
            raise DamagedError(f"metadata without {', '.join(missing)}")
        for name, value in present.items():
            if not isinstance(value, _TYPES[name]):
                raise DamagedError(f"metadata whose {name!r} is {value!r}")
        if not 0 <= present["time"] < _LAST_TIME:
            raise DamagedError(f"metadata whose 'time' is {present['time']!r}")
        return cls(**present)


@dataclass(frozen=True, slots=True)
class Stored:
    """An HTTP response: headers in their order, the body without its content encoding."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes
    ip_address: str = ""


_TYPES: dict[str, Any] = {
    **dict.fromkeys((f.name for f in fields(Drop)), str),
    **dict.fromkeys(("distance", "threshold", "words"), int),
    "time": (int, float),
    **dict.fromkeys(("fingerprint", "encoding"), (str, type(None))),
}


LEVEL = 6  # of gzip: higher levels take longer, and make pages no smaller

_ABOUT = (
    b"software: simhash-gate\r\n"
    b"format: WARC file version 1.1\r\n"
    b"description: near-duplicate pages that were dropped\r\n"
)
_KEPT = b"X-Archive-Orig-"
"""Stands before the names of headers about the transfer, which are not true of the kept body."""
_OF_THE_TRANSFER = frozenset({b"content-length", b"transfer-encoding"})

_CHUNK = 1 << 16
_MOST = 1 << 30  # bytes of one record, unpacked: no dropped page has more


class WarcRecord(NamedTuple):
    """One WARC record: its type, its WARC headers, its block."""

    kind: str
    headers: dict[str, str]
    block: bytes


def need_fastwarc() -> None:
    """Raise `MissingExtraError` where fastwarc is not installed, or on Windows."""
    if not hasattr(os, "fork"):
        raise MissingExtraError("a journal of dropped pages needs the file locks of POSIX")
    need("fastwarc", "a journal of dropped pages", "warc")


def warcinfo() -> bytes:
    """Return the first record of a file."""
    return _packed("warcinfo", _ABOUT, {"Content-Type": "application/warc-fields"}, _new_id())


def pack(drop: Drop, stored: Stored) -> bytes:
    """Return the records of a dropped page: its metadata, then its response."""
    response, at = _new_id(), datetime.fromtimestamp(drop.time, timezone.utc)
    about = {"Content-Type": "application/json", "WARC-Concurrent-To": response}
    head = {"Content-Type": "application/http; msgtype=response"}
    if stored.ip_address:
        head["WARC-IP-Address"] = stored.ip_address
    url = {"WARC-Target-URI": drop.url}
    return _packed(
        "metadata", json.dumps(vars(drop)).encode(), about | url, _new_id(), at
    ) + _packed("response", _http(stored), head | url, response, at)


def member_at(file: BinaryIO, start: int) -> tuple[bytes, int] | None:
    """Return the content of the gzip member at a byte, and the byte where it ends.

    Returns None at the end of the file. Raises OSError, and `DamagedError` for a broken one.
    """
    file.seek(start)
    unpacker, content = zlib.decompressobj(16 + zlib.MAX_WBITS), bytearray()
    while not unpacker.eof:
        packed = file.read(_CHUNK)
        if not packed and file.tell() <= start:
            return None
        if not packed:
            raise DamagedError(f"cut off in the record at byte {start}")
        try:
            content += unpacker.decompress(packed)
        except zlib.error as error:
            raise DamagedError(f"damaged in the record at byte {start}: {error}") from None
        if len(content) > _MOST:
            raise DamagedError(f"the record at byte {start} is larger than any page")
    return bytes(content), file.tell() - len(unpacker.unused_data)


def record_of(data: bytes) -> WarcRecord:
    """Return the record in the content of a gzip member. Raises `DamagedError`."""
    from fastwarc.warc import ArchiveIterator

    try:
        for record in ArchiveIterator(io.BytesIO(data), parse_http=False):
            block = record.reader.read()
            if record.headers.get("Content-Length") != str(len(block)):
                raise DamagedError("a record that is not as long as it says")
            return WarcRecord(str(record.headers.get("WARC-Type")), record.headers.to_dict(), block)
    except OSError as error:  # fastwarc raises it for broken data, too
        raise DamagedError(str(error)) from None
    raise DamagedError("no WARC record")


def drop_of(metadata: WarcRecord) -> Drop | None:
    """Return the dropped page of a metadata record, None if the record is of another kind.

    Raises `DamagedError`.
    """
    if metadata.headers.get("Content-Type") != "application/json":
        return None
    try:
        values = json.loads(metadata.block)
    except (ValueError, RecursionError) as error:
        raise DamagedError(f"metadata that are no JSON: {error}") from None
    return Drop.of_json(values)


def body_of(response: WarcRecord) -> bytes:
    """Return the body of a response record. Raises `DamagedError`."""
    if not response.block.startswith(b"HTTP/"):
        raise DamagedError("no HTTP status line")
    return response.block.partition(b"\r\n\r\n")[2]


def _http(stored: Stored) -> bytes:
    """Return a response as bytes, with headers that are true of the decoded body."""
    phrase = responses.get(stored.status, "Unknown")
    lines = [f"HTTP/1.1 {stored.status} {phrase}".encode()]
    for name, value in stored.headers:
        kept = _KEPT if name.lower() in _OF_THE_TRANSFER else b""
        lines.append(kept + name + b": " + b" ".join(value.splitlines()))
    lines.append(b"Content-Length: %d" % len(stored.body))
    return b"\r\n".join([*lines, b"", stored.body])


def _new_id() -> str:
    return f"<urn:uuid:{uuid4()}>"


def _packed(
    kind: str, block: bytes, headers: dict[str, str], record_id: str, at: datetime | None = None
) -> bytes:
    from fastwarc import warc

    record = warc.WarcRecord()
    record.init_headers(getattr(warc.WarcRecordType, kind))
    record.record_id = record_id
    if at is not None:
        record.record_date = at
    for name, value in headers.items():
        record.headers[name] = value
    record.set_bytes_content(block)
    stream = io.BytesIO()
    record.write(stream, checksum_data=True)
    return gzip.compress(stream.getvalue(), LEVEL)

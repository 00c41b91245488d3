"""WARC records (ISO 28500, version 1.1) of dropped pages: each a gzip member of its own."""

from __future__ import annotations

import gzip
import io
import json
from datetime import datetime, timezone
from http import HTTPStatus
from typing import NamedTuple
from uuid import uuid4

from simhash_gate.common.complaints import MissingExtraError
from simhash_gate.journal.drop import DamagedError, Drop, Stored

LEVEL = 6  # of gzip: beyond it, pages take longer and get no smaller

_ABOUT = (
    b"software: simhash-gate\r\n"
    b"format: WARC file version 1.1\r\n"
    b"description: near-duplicate pages that were dropped\r\n"
)
_KEPT = "X-Archive-Orig-"
"""Before the name of a header that is about the transfer and not true of what is kept."""
_OF_THE_TRANSFER = frozenset({b"content-length", b"transfer-encoding"})


class Record(NamedTuple):
    """One record: its type, its WARC headers, its block."""

    kind: str
    headers: dict[str, str]
    block: bytes


def need_fastwarc() -> None:
    """Raise `MissingExtraError` where fastwarc is not installed."""
    try:
        import fastwarc  # noqa: F401
    except ImportError:
        raise MissingExtraError(
            "a journal of dropped pages needs fastwarc: pip install 'simhash-gate[warc]'"
        ) from None


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


def record(data: bytes) -> Record:
    """Return the record that a gzip member holds. Raises `DamagedError`."""
    from fastwarc.warc import ArchiveIterator

    try:
        for found in ArchiveIterator(io.BytesIO(data), parse_http=False):
            block = found.reader.read()
            if found.headers.get("Content-Length") != str(len(block)):
                raise DamagedError("a record that is not as long as it says")
            return Record(str(found.headers.get("WARC-Type")), found.headers.to_dict(), block)
    except OSError as error:  # of fastwarc: the data are in memory
        raise DamagedError(str(error)) from None
    raise DamagedError("no WARC record")


def drop_of(metadata: Record) -> Drop | None:
    """Return what a metadata record says of a page, None if it is of another kind.

    Raises `DamagedError`.
    """
    if metadata.headers.get("Content-Type") != "application/json":
        return None
    try:
        return Drop.of_json(json.loads(metadata.block))
    except (ValueError, RecursionError) as error:
        raise DamagedError(f"metadata that are no JSON: {error}") from None


def stored_of(response: Record) -> Stored:
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
    from fastwarc.warc import WarcRecord, WarcRecordType

    made = WarcRecord()
    made.init_headers(getattr(WarcRecordType, kind))
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

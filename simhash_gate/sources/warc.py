"""The HTTP responses of WARC files (ISO 28500), and of WACZ files: WARC files in a ZIP file."""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from simhash_gate.common.times import unix_time
from simhash_gate.common.warc import Opened, read_records
from simhash_gate.common.wording import Complain, complaining, printable
from simhash_gate.sources import TOO_LARGE, Entry, File, opened
from simhash_gate.sources.http import read_headers, response
from simhash_gate.sources.jsonl import shown_path

if TYPE_CHECKING:
    from fastwarc.warc import WarcRecord

SUFFIXES = (".warc", ".warc.gz")
_CHUNK_SIZE = re.compile(rb"([0-9a-fA-F]+)[ \t]*(?:;[^\n]*|\r|\Z)\n?")
_HEADERS = 1 << 16  # bytes of HTTP headers that may come on top of a body


def warc(file: File, complain: Complain, max_bytes: int) -> Iterator[Entry]:
    """Yield the HTTP responses of a WARC file, in its order. Needs fastwarc."""
    with complaining(complain, file.path), opened(file.path) as packed:
        yield from responses(packed, shown_path(file.path), complain, max_bytes)


def responses(file: Opened, path: str, complain: Complain, max_bytes: int) -> Iterator[Entry]:
    """Yield the HTTP responses of an open file. `path` is its name in messages."""
    for place, record, block in read_records(file, path, complain, max_bytes + _HEADERS):
        with complaining(complain, place):
            if (entry := _entry(record, block, place, max_bytes)) is not None:
                yield entry


def _entry(record: WarcRecord, block: bytes, place: str, max_bytes: int) -> Entry | None:
    """Return the page of a record, None if it has none. Raises `ValueError`."""
    from fastwarc.warc import WarcRecordType

    url = (record.headers.get("WARC-Target-URI") or "").strip("<>")  # wget writes <…>
    if record.record_type == WarcRecordType.resource:  # of wget or a browser
        is_page = url.startswith(("http://", "https://"))
    else:
        kinds = (WarcRecordType.response, WarcRecordType.revisit)
        is_page = record.is_http and record.record_type in kinds
    if not is_page:
        return None
    if not url:
        raise ValueError("a response without WARC-Target-URI")
    time = unix_time(record.headers.get("WARC-Date"))
    fields: dict[str, Any] = {"url": url, "id": record.record_id, "time": time}
    if record.record_type == WarcRecordType.revisit:
        return Entry(place, skipped="revisit record without a body", **fields)
    if record.headers.get("WARC-Truncated"):
        return Entry(place, skipped="incomplete", **fields)
    if int(record.headers["Content-Length"]) > max_bytes + _HEADERS:
        return Entry(place, skipped=TOO_LARGE, **fields)
    if not record.is_http:  # a `resource` has no HTTP headers of its own
        content_type = (record.headers.get("Content-Type") or "").encode("latin-1", "replace")
        block = b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\n\r\n%b" % (content_type, block)
    return _response(block, place, max_bytes, **fields)


def _response(block: bytes, place: str, max_bytes: int, **fields: Any) -> Entry:
    """Return an entry for an HTTP response as the server sent it. Raises `ValueError`."""
    head, _, body = block.partition(b"\r\n\r\n")
    status_line, _, head = head.partition(b"\r\n")
    version, _, rest = status_line.partition(b" ")
    status = rest[:3]
    if not version.startswith(b"HTTP/") or not status.isdigit():
        raise ValueError("no HTTP status line")
    headers = read_headers(head)
    if "chunked" in headers.get("transfer-encoding", "").lower():
        whole = _dechunked(body)
        if whole is None:
            return Entry(place, skipped="incomplete", **fields)
        body = whole
    return response(place, body, status=int(status), headers=headers, max_bytes=max_bytes, **fields)


def _dechunked(body: bytes) -> bytes | None:
    """Return a body without chunk sizes, if an archive left any; None if it ends too early."""
    chunks, place = [], 0
    while place <= len(body) and (size := _CHUNK_SIZE.match(body, place)):
        place = size.end() + int(size[1], 16)
        chunks.append(body[size.end() : place])
        if not chunks[-1]:
            return b"".join(chunks) if place == size.end() else None
        place += len(b"\r\n")
    return None if chunks else body


WACZ_SUFFIX = ".wacz"
# `zipfile` raises these, RuntimeError for encrypted members.
_ZIP_FAILURES = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, RuntimeError)


def wacz(file: File, complain: Complain, max_bytes: int) -> Iterator[Entry]:
    """Yield the HTTP responses of a WACZ file: its WARC files in the order of their names."""
    with complaining(complain, file.path), opened(file.path) as packed:
        yield from _members(packed, file.path, complain, max_bytes, nested=False)


def _members(
    file: Opened, place: str, complain: Complain, max_bytes: int, *, nested: bool
) -> Iterator[Entry]:
    try:
        packed = zipfile.ZipFile(file)
    except _ZIP_FAILURES as error:
        complain(place, f"no WACZ file, or damaged: {error}")
        return
    with packed:
        wanted = SUFFIXES if nested else (*SUFFIXES, WACZ_SUFFIX)
        members = [
            member
            for member in packed.infolist()
            if member.filename.lower().endswith(wanted)
            or (not nested and _is_damaged(packed, member))
        ]
        if not members:
            complain(place, "no WACZ file: no WARC file is in it")
        for member in sorted(members, key=lambda one: one.filename):
            inner = f"{place}, {printable(member.filename)}"
            try:
                unpacked = cast(zipfile.ZipExtFile, packed.open(member))
            except _ZIP_FAILURES as error:
                complain(inner, str(error))
                continue
            with unpacked:
                if member.filename.lower().endswith(WACZ_SUFFIX):
                    yield from _members(unpacked, inner, complain, max_bytes, nested=True)
                else:
                    yield from responses(unpacked, inner, complain, max_bytes)


def _is_damaged(packed: zipfile.ZipFile, member: zipfile.ZipInfo) -> bool:
    """Tell whether a member is not as the ZIP directory says. Then it may be a WARC file."""
    try:
        packed.open(member).close()
    except _ZIP_FAILURES as error:
        return not isinstance(error, RuntimeError)  # that is an encrypted member
    return False

"""WARC files of dropped pages (ISO 28500, version 1.1): each WARC record is a gzip member."""

from __future__ import annotations

import gzip
import io
import json
import os
from base64 import b32encode
from dataclasses import MISSING, dataclass, fields
from datetime import datetime, timezone
from hashlib import sha1
from http.client import responses
from typing import TYPE_CHECKING, Any, get_type_hints
from uuid import uuid4

from simhash_gate.common.wording import MissingExtraError, need

if TYPE_CHECKING:
    from fastwarc.warc import WarcRecord

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
    time: int | float
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
        """Read a drop from JSON values. Other keys are ignored. Raises `ValueError`."""
        if not isinstance(values, dict):
            raise ValueError("metadata that are no JSON object")
        present = {f.name: values[f.name] for f in fields(cls) if f.name in values}
        needed = (f.name for f in fields(cls) if f.default is MISSING)
        if missing := [name for name in needed if name not in present]:
            raise ValueError(f"metadata without {', '.join(missing)}")
        kinds = get_type_hints(cls)
        for name, value in present.items():
            if not isinstance(value, kinds[name]):
                raise ValueError(f"metadata whose {name!r} is {value!r}")
        if not 0 <= present["time"] < _LAST_TIME:
            raise ValueError(f"metadata whose 'time' is {present['time']!r}")
        return cls(**present)


@dataclass(frozen=True, slots=True)
class Stored:
    """An HTTP response: headers in their order, the body without its content encoding."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes
    ip_address: str = ""


LEVEL = 6  # of gzip: higher levels take longer, and make pages no smaller

_ABOUT = (
    b"software: simhash-gate\r\n"
    b"format: WARC file version 1.1\r\n"
    b"description: near-duplicate pages that were dropped\r\n"
)
_KEPT = b"X-Archive-Orig-"
"""Stands before the names of headers about the transfer, which are not true of the kept body."""
_OF_THE_TRANSFER = frozenset({b"content-length", b"transfer-encoding"})


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


def drop_of(metadata: WarcRecord, block: bytes) -> Drop | None:
    """Return the dropped page of a metadata record, None for other kinds. Raises `ValueError`."""
    if metadata.headers.get("Content-Type") != "application/json":
        return None
    _check(metadata, block)
    try:
        values = json.loads(block)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"metadata that are no JSON: {error}") from None
    return Drop.of_json(values)


def body_of(response: WarcRecord, block: bytes) -> bytes:
    """Return the body of a response record. Raises `ValueError`."""
    _check(response, block)
    return block.partition(b"\r\n\r\n")[2]


def _check(record: WarcRecord, block: bytes) -> None:
    """Raise `ValueError` if a block is not as it was written: gzip tells it too late."""
    digest = b32encode(sha1(block, usedforsecurity=False).digest()).decode()
    if record.headers.get("WARC-Block-Digest") != f"sha1:{digest}":
        raise ValueError("damaged: its digest is another")


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

"""Stored HTTP responses: decode them, and tell whether they are HTML, as a crawl does."""

from __future__ import annotations

import mimetypes
import re
import sys
import zlib
from collections.abc import Callable, Mapping
from gzip import GzipFile
from importlib import import_module
from io import BytesIO
from typing import Any

from w3lib.http import headers_raw_to_dict

from simhash_gate.common.encoded import charset_in
from simhash_gate.common.warc import GZIP
from simhash_gate.gate.eligibility import is_success, why_ineligible
from simhash_gate.sources import Entry

HTML = frozenset({"text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"})
_OTHER_TEXT = ("text/", "application/json", "application/xml", "application/javascript")
_START = 5000  # bytes that decide if no header does
_CHUNK = 1 << 16
_MARKUP = re.compile(rb"\s*<(?:[!?]|html\b|head\b|body\b)", re.I)


def response(
    place: str,
    body: bytes,
    *,
    status: int,
    headers: Mapping[str, str],
    max_bytes: int,
    **fields: Any,
) -> Entry:
    """Return a stored response as an entry. It is skipped if a crawl would not judge it.

    `headers` come from `read_headers`, `fields` go into the entry. Raises `ValueError`.
    """
    content_type = headers.get("content-type", "")
    if is_success(status):
        body = decoded(body, headers.get("content-encoding", ""), max_bytes)
    html = is_html(content_type, fields.get("url", ""), body)
    if html and body.startswith(GZIP):  # compressed without a header that says so
        body = gunzip(body, max_bytes)
    reason = why_ineligible(status=status, html=html, body=body, max_bytes=max_bytes)
    if reason:
        return Entry(place, skipped=reason.replace("_", " "), **fields)
    return Entry(place, body, encoding=charset_in(content_type), **fields)


def read_headers(raw: bytes) -> dict[str, str]:
    """Return HTTP headers by name in lower case. Values of one name are joined by commas."""
    return {
        name.decode("latin-1").lower(): b",".join(values).decode("latin-1")
        for name, values in (headers_raw_to_dict(raw) or {}).items()
    }


def is_html(content_type: str, url: str, body: bytes) -> bool:
    """Tell whether Scrapy would make an `HtmlResponse` of this.

    The header decides if it names a type of text; else the end of the URL; else the first bytes.
    """
    said, guessed = content_type.partition(";")[0].strip().lower(), mimetypes.guess_type(url)[0]
    for name in (said, guessed or ""):
        if name in HTML:
            return True
        if name.startswith(_OTHER_TEXT) or name.endswith("+xml"):
            return False
    start = body[:_START].lower()
    if b"\0" in start:
        return False
    return b"<html>" in start or (b"<?xml" not in start and b"<!doctype html>" in start)


def decoded(body: bytes, content_encoding: str, max_bytes: int) -> bytes:
    """Return a body without its content encodings, cut off soon after `max_bytes`.

    If a body ends too early, the part that can be decoded is returned, as in a crawl. Markup is
    returned as it is: some archives decode the body, and keep the header. Raises `ValueError`.
    """
    if _MARKUP.match(body):
        return body
    for name in reversed(content_encoding.lower().split(",")):
        coding = name.strip()
        if coding in ("", "identity"):
            continue
        if coding not in _DECODERS:
            raise ValueError(f"unknown content encoding {coding!r}")
        try:
            body = _DECODERS[coding](body, max_bytes)
        except ImportError as error:
            package = "backports.zstd" if coding == "zstd" else error.name
            needs = f"content encoding {coding!r} needs {package}: pip install {package}"
            raise ValueError(needs) from None
        except Exception as error:  # each library raises errors of its own
            raise ValueError(f"content encoding {coding!r}: {error}") from error
    return body


def _drain(read: Callable[[int], bytes], max_bytes: int) -> bytes:
    """Read until the end, an error, or more than `max_bytes`. Raises `ValueError`."""
    content = bytearray()
    while len(content) <= max_bytes:
        try:
            chunk = read(_CHUNK)
        except (OSError, EOFError, zlib.error) as error:
            if not content:
                raise ValueError(str(error)) from None
            break
        if not chunk:
            break
        content += chunk
    return bytes(content)


def gunzip(body: bytes, max_bytes: int) -> bytes:
    """Return what a gzip file holds, or any other body as it is. Raises `ValueError`."""
    if not body.startswith(GZIP):
        return body
    return _drain(GzipFile(fileobj=BytesIO(body)).read1, max_bytes)


def _inflate(body: bytes, max_bytes: int) -> bytes:
    try:
        return zlib.decompressobj().decompress(body, max_bytes + 1)
    except zlib.error:  # some servers send the data without the zlib frame
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(body, max_bytes + 1)


def _unbrotli(body: bytes, max_bytes: int) -> bytes:
    process = import_module("brotli").Decompressor().process
    data = iter([body])  # the whole input goes in at the first call; the output comes in pieces
    return _drain(lambda size: process(next(data, b""), output_buffer_limit=size), max_bytes)


def _unzstd(body: bytes, max_bytes: int) -> bytes:
    zstd = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    return _drain(zstd.ZstdFile(BytesIO(body)).read, max_bytes)


_DECODERS: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": gunzip,
    "x-gzip": gunzip,
    "deflate": _inflate,
    "br": _unbrotli,
    "zstd": _unzstd,
}

"""Text and numbers as bytes, as stores keep them; and what the bytes of a body are.

What a body is goes by what the WHATWG calls MIME sniffing, whatever its server calls it.
"""

from __future__ import annotations

import re

_PART = 4096  # bytes at the start and the end
_MAGIC = re.compile(
    rb"""(?P<PDF>%PDF-) | (?P<PostScript>%!PS-Adobe-) | (?P<gzip>\x1f\x8b\x08)
    | (?P<ZIP>PK\x03\x04) | (?P<archive>Rar!\x1a\x07 | 7z\xbc\xaf\x27\x1c)
    | (?P<font>wOF[F2] | OTTO\0 | ttcf\0 | \0\x01\0\0) | (?P<icon>\0\0[\x01\x02]\0)
    | (?P<PNG>\x89PNG\r\n\x1a\n) | (?P<GIF>GIF8[79]a) | (?P<JPEG>\xff\xd8\xff)
    | (?P<WebP>RIFF....WEBPVP) | (?P<video>\0...ftyp | \x1a\x45\xdf\xa3 | RIFF....AVI[ ])
    | (?P<audio>ID3[\x02-\x04]\0 | OggS\0 | MThd\0\0\0\x06 | RIFF....WAVE | FORM....AIFF)""",
    re.VERBOSE | re.DOTALL,
)
_BOMS = b"\xef\xbb\xbf", b"\xfe\xff", b"\xff\xfe"
_BINARY = bytes({*range(0x20)} - {*b"\t\n\f\r\x1b"})
_MOST_BINARY = 0.05  # of the bytes; of random ones, such as packed data, it is a tenth
_CHARSET = re.compile(r"""charset\s*=\s*["']?([^\s;"']+)""", re.I)


def as_bytes(text: str) -> bytes:
    """Return text as UTF-8, with the lone surrogates of broken pages."""
    return text.encode("utf-8", "surrogatepass")


def as_text(data: bytes) -> str:
    """Return the text that `as_bytes` encoded."""
    return data.decode("utf-8", "surrogatepass")


def signed(value: int) -> int:
    """Return an unsigned 64-bit value as the signed one with the same bits."""
    return value - (1 << 64) if value >> 63 else value


def unsigned(value: int) -> int:
    """Return a signed 64-bit value as the unsigned one with the same bits."""
    return value & ((1 << 64) - 1)


def charset_in(content_type: str) -> str | None:
    """Return the encoding's label in a `Content-Type`, which Python may not know, else None."""
    match = _CHARSET.search(content_type)
    return match[1] if match else None


def other_than_html(body: bytes) -> str:
    """Return what a body is that is no HTML, and what tells; "" for one that may be HTML.

    Bytes of control count where both of two neighbours may be one: in UTF-16, zeros are every other
    byte.
    """
    if magic := _MAGIC.match(body):
        return f"{magic.lastgroup} by its first bytes"
    start = body[:_PART]
    text = start.lstrip(b"".join(_BOMS) + b" \t\r\n\f\0").replace(b"\0", b"").lower()
    if text.startswith(b"<?xml") and b"<html" not in text:
        return "XML"
    if text[:1] + body[-_PART:].rstrip()[-1:] in (b"{}", b"[]"):
        return "JSON"
    if text.startswith(b"<") or body.startswith(_BOMS):
        return ""
    halves = start[::2], start[1::2]
    fewest = min(len(half) - len(half.translate(None, _BINARY)) for half in halves)
    return "binary by its bytes of control" if 2 * fewest > _MOST_BINARY * len(start) else ""

"""Text and numbers as bytes: as stores keep them, and the encoding that an HTTP header names."""

from __future__ import annotations

import re

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

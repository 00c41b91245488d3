"""Text and numbers as stores keep them: any text that a page may have, 64 bits with a sign."""

from __future__ import annotations


def as_bytes(text: str) -> bytes:
    """Return text as UTF-8, with the lone surrogates of broken pages."""
    return text.encode("utf-8", "surrogatepass")


def as_text(data: bytes) -> str:
    """Return the text that was given to `as_bytes`."""
    return data.decode("utf-8", "surrogatepass")


def signed(value: int) -> int:
    """Return an unsigned 64-bit value as the signed one with the same bits."""
    return value - (1 << 64) if value >> 63 else value


def unsigned(value: int) -> int:
    """Return what `signed` was given."""
    return value & ((1 << 64) - 1)

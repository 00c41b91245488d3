"""Text and numbers as stores keep them: UTF-8 for any text, and signed 64-bit numbers."""

from __future__ import annotations


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

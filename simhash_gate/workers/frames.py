"""Messages between a crawl and its page-reading processes: each is a frame, a length and a payload.

The length is 8 bytes, big-endian.
"""

from __future__ import annotations

import struct
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LENGTH = struct.Struct(">Q")


def frames(*payloads: bytes) -> Iterator[bytes]:
    """Yield what is written for these payloads: of each its length, and the payload itself."""
    for payload in payloads:
        yield LENGTH.pack(len(payload))
        yield payload


def read_frame(stream: IO[bytes]) -> bytes:
    """Return the next frame's payload. Raises `EOFError` when the stream ends before it does."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        raise EOFError
    length = LENGTH.unpack(head)[0]
    payload = stream.read(length)
    if len(payload) < length:
        raise EOFError
    return payload

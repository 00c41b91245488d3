"""The gzip members of a file, each by itself: past one that is damaged, the next is found again."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, NamedTuple

from simhash_gate.journal.drop import DamagedError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

_CHUNK = 1 << 16
_MOST = 1 << 30  # bytes of one record, packed and unpacked: what has more is no dropped page
_MOST_IN_VAIN = 1 << 30  # bytes of a file that may be unpacked, and turn out to be no records
_MAGIC = b"\x1f\x8b\x08"  # RFC 1952, 2.3.1: gzip, deflated
_RECORD = b"WARC/"


class Member(NamedTuple):
    """What a gzip member of a file holds, and the bytes at which it begins and ends."""

    start: int
    end: int
    data: bytes


class Gap(NamedTuple):
    """Bytes that can't be read, and why; without an `end` they are all that follow."""

    start: int
    end: int | None
    reason: str

    def __str__(self) -> str:
        if self.end is None:
            return f"{self.reason}; nothing after it can be read"
        return f"{self.reason}; {self.end - self.start} bytes from there are left out"


def members(file: BinaryIO) -> Iterator[Member | Gap]:
    """Yield the gzip members of a file from here on, and what is damaged between. Raises OSError.

    After a gap comes the next member that is whole and begins as a WARC record does.
    """
    start, in_vain = file.tell(), 0
    while True:
        reading = _Reading(file, start)
        try:
            member = reading.member()
        except DamagedError as error:
            member, in_vain = _next_record(file, start + 1, in_vain + reading.taken)
            yield Gap(start, member and member.start, str(error))
        if member is None:
            return
        yield member
        start = member.end


def member_at(file: BinaryIO, start: int) -> Member:
    """Return the gzip member that begins there. Raises `DamagedError` and OSError."""
    member = _Reading(file, start).member()
    if member is None:
        raise DamagedError("not there any more")
    return member


class _Reading:
    """One member that is read; `taken` counts its bytes, packed and unpacked."""

    def __init__(self, file: BinaryIO, start: int) -> None:
        self.taken = 0
        self._file = file
        self._start = start

    def member(self) -> Member | None:
        """Return the member, None at the end of the file.

        Raises `DamagedError` where it is cut off or is none, and OSError.
        """
        self._file.seek(self._start)
        unpacker, found = zlib.decompressobj(16 + zlib.MAX_WBITS), []
        while not unpacker.eof:
            packed = self._file.read(_CHUNK)
            if not packed:
                if not self.taken:
                    return None
                raise DamagedError(f"cut off in the record at byte {self._start}")
            self.taken += len(packed)
            try:
                found.append(unpacker.decompress(packed))
            except zlib.error as error:
                reason = f"damaged in the record at byte {self._start}: {error}"
                raise DamagedError(reason) from None
            self.taken += len(found[-1])
            if self.taken > _MOST:
                raise DamagedError(f"the record at byte {self._start} is larger than any page")
        end = self._file.tell() - len(unpacker.unused_data)
        return Member(self._start, end, b"".join(found))


def _next_record(file: BinaryIO, start: int, in_vain: int) -> tuple[Member | None, int]:
    """Return the next whole record, None if there is none, and the bytes unpacked in vain.

    These are bounded: in a file that was made to, every few bytes could begin a long member.
    """
    for place in _beginnings(file, start):
        if in_vain > _MOST_IN_VAIN:
            break
        reading = _Reading(file, place)
        try:
            member = reading.member()
        except DamagedError:
            member = None
        if member is not None and member.data.startswith(_RECORD):
            return member, in_vain
        in_vain += reading.taken
    return None, in_vain


def _beginnings(file: BinaryIO, start: int) -> Iterator[int]:
    """Yield the places from there on where a member may begin."""
    while True:
        file.seek(start)
        chunk = file.read(_CHUNK)
        if len(chunk) < len(_MAGIC):
            return
        found = chunk.find(_MAGIC)
        while found >= 0:
            yield start + found
            found = chunk.find(_MAGIC, found + 1)
        start += len(chunk) - len(_MAGIC) + 1

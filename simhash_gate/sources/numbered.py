"""Fingerprints without names: a list of 16 hex digits a line, or a Parquet file without URLs.

They are known by their line or row, counted from 1.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simhash_gate.common.complaints import why

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from simhash_gate.common.complaints import Complain

_DIGITS = 16
_FIRST = re.compile(rb"(?:\xef\xbb\xbf)?[0-9a-fA-F]{16}\s*(?:\n|\Z)")
_LINES = 1 << 18
_SHOWN = 40


class Numbered(NamedTuple):
    """Some fingerprints (numpy.uint64) and their numbers (numpy.uint64)."""

    numbers: NDArray[np.uint64]
    fingerprints: NDArray[np.uint64]


def is_list(path: str) -> bool:
    """Tell if the first line of a file is 16 hex digits."""
    try:
        with Path(path).open("rb") as file:
            return bool(_FIRST.match(file.readline(64)))
    except (OSError, ValueError):
        return False


def read_list(path: str, complain: Complain) -> Iterator[Numbered]:
    """Yield the fingerprints of a list, many at once. Empty lines mean nothing."""
    number = 1
    try:
        with Path(path).open("rb") as file:
            if file.read(3) != b"\xef\xbb\xbf":
                file.seek(0)
            # Many equally long lines are one array; what is anything else is read line by line.
            width = _DIGITS + 1
            while data := file.read(_LINES * width):
                values = _all_equal(data, width)
                if values is None:
                    if not data.endswith(b"\n"):
                        data += file.readline()
                    lines = data.splitlines()
                    yield _each(lines, number, path, complain)
                    number += len(lines)
                else:
                    yield Numbered(np.arange(number, number + len(values), dtype=np.uint64), values)
                    number += len(values)
    except OSError as error:
        complain(path, why(error))


def _all_equal(data: bytes, width: int) -> NDArray[np.uint64] | None:
    """Return the fingerprints of lines that are 16 hex digits each and no more, else None."""
    if len(data) % width:
        return None
    if (np.frombuffer(data, np.uint8)[_DIGITS::width] != ord("\n")).any():
        return None
    try:
        packed = bytes.fromhex(data.decode("ascii"))
    except ValueError:
        return None
    # White space between digits is passed over: then there are too few.
    if len(packed) * width != len(data) * 8:
        return None
    return np.frombuffer(packed, ">u8").astype(np.uint64)


def _each(lines: list[bytes], first: int, path: str, complain: Complain) -> Numbered:
    numbers, values = [], []
    for number, line in enumerate(lines, first):
        digits = line.strip()
        if _FIRST.fullmatch(digits):
            numbers.append(number)
            values.append(int(digits, 16))
        elif digits:
            shown = digits[:_SHOWN].decode("utf-8", "backslashreplace")
            complain(f"{path}:{number}", f"not a fingerprint of 16 hex digits: {shown!r}")
    return Numbered(np.array(numbers, np.uint64), np.array(values, np.uint64))

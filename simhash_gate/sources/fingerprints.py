"""Fingerprints in text files: lists of fingerprints, and JSON Lines of pages with one.

A list has 16 hex digits on each line. `fingerprint`, `store` and crawls write JSON Lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simhash_gate.common.wording import Complain, complaining
from simhash_gate.fingerprints.hamming import from_hex
from simhash_gate.sources import opened
from simhash_gate.sources.jsonl import OF_A_LOG, json_objects
from simhash_gate.values import TEXT, ValueKind, checked

_DIGITS = 16
_FIRST = re.compile(rb"(?:\xef\xbb\xbf)?[0-9a-fA-F]{16}\s*(?:\n|\Z)")
_LINES = 1 << 18
_SHOWN = 40
_EXAMPLE = '{"url": …, "fingerprint": "b0621b61d9d51ad2"}'
_NO_PAGES = OF_A_LOG - {"outcome"} | {"kind"}
FINGERPRINT = ValueKind("16 hex digits", from_hex)
_TEXTS = ("url", "path", "scope", "title", "pipeline")


class Numbered(NamedTuple):
    """Fingerprints without names, and the numbers of their lines or rows, counted from 1."""

    numbers: NDArray[np.uint64]
    fingerprints: NDArray[np.uint64]


def is_list(path: str) -> bool:
    """Tell whether the first line of a file is 16 hex digits."""
    with suppress(OSError, ValueError), opened(path) as file:
        return bool(_FIRST.match(file.peek(64)[:64].partition(b"\n")[0]))
    return False


def read_list(path: str, complain: Complain) -> Iterator[Numbered]:
    """Yield the fingerprints of a list, many at once. Empty lines are skipped."""
    number = 1
    with complaining(complain, path), opened(path) as file:
        if file.peek(3).startswith(b"\xef\xbb\xbf"):
            file.read(3)
        # Lines of equal length are read as one array, which is faster. Others are read one by one.
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


def _all_equal(data: bytes, width: int) -> NDArray[np.uint64] | None:
    """Return the fingerprints of lines if each line is exactly 16 hex digits, else None."""
    if len(data) % width:
        return None
    if (np.frombuffer(data, np.uint8)[_DIGITS::width] != ord("\n")).any():
        return None
    try:
        packed = bytes.fromhex(data.decode("ascii"))
    except ValueError:
        return None
    # `fromhex` skips white space between digits: then there are too few.
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


def fingerprinted(
    path: str, complain: Complain
) -> Iterator[tuple[str, dict[str, Any], int | None]]:
    """Yield the place of each line, its object, and its fingerprint, None if it has none.

    Other lines of a verdict log (requests that were not sent, notes) are skipped, and lines of an
    exported store that are not pages.
    """
    for place, line in json_objects(path, complain, _EXAMPLE):
        if "fingerprint" not in line and not _NO_PAGES.isdisjoint(line):
            continue
        with complaining(complain, place):
            if "fingerprint" not in line:
                raise ValueError("no 'fingerprint'")
            for key in _TEXTS:
                checked(line, key, TEXT)
            yield place, line, checked(line, "fingerprint", FINGERPRINT)

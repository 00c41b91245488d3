"""Fingerprints in text files: lists of fingerprints, and JSON Lines of pages with one.

A list has 16 hex digits on each line. `fingerprint`, `store` and crawls write JSON Lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from string import hexdigits
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simhash_gate.common.wording import Complain, complaining, shortened
from simhash_gate.fingerprints.hamming import from_hex
from simhash_gate.sources import opened
from simhash_gate.sources.jsonl import OF_A_LOG, json_objects
from simhash_gate.values import TEXT, ValueKind, checked

_DIGITS = 16
_FIRST = re.compile(rb"(?:\xef\xbb\xbf)?[0-9a-fA-F]{16}\s*(?:\n|\Z)")
_LINES = 1 << 18
_SHOWN = 40
_HEX = hexdigits.encode()
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
            ends = data[_DIGITS::width]
            all_equal = len(data) == width * len(ends) and set(ends) == {ord("\n")}
            if all_equal and data.translate(None, _HEX) == ends:
                values = np.frombuffer(bytes.fromhex(data.decode("ascii")), ">u8").astype(np.uint64)
                yield Numbered(np.arange(number, number + len(values), dtype=np.uint64), values)
                number += len(values)
            else:
                if not data.endswith(b"\n"):
                    data += file.readline()
                lines = data.splitlines()
                texts = (line.strip().decode("utf-8", "backslashreplace") or None for line in lines)
                yield each_numbered(texts, number, f"{path}:{{}}".format, complain)
                number += len(lines)


def each_numbered(
    texts: Iterable[str | None], first: int, place: Callable[[int], str], complain: Complain
) -> Numbered:
    """Return the fingerprints in texts that are numbered from `first` on. None has none."""
    numbers, values = [], []
    for number, text in enumerate(texts, first):
        if text is not None:
            try:
                values.append(from_hex(shortened(text, _SHOWN)))
                numbers.append(number)
            except ValueError as error:
                complain(place(number), str(error))
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

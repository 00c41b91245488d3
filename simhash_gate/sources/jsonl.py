"""JSON Lines: one object per line, each with its place. Other lines are reported."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from gzip import GzipFile
from io import BufferedReader
from typing import Any

from simhash_gate.common.warc import GZIP
from simhash_gate.common.wording import Complain, complaining
from simhash_gate.sources import STDIN, opened

OF_A_LOG = frozenset({"outcome", "crawl_note"})
"""Each line of a verdict log has one of these keys."""
_LONGEST = 1 << 26  # bytes of a line
_MOST = 1 << 20  # bytes that are looked at for the first object of a file


def shown_path(path: str) -> str:
    """Return a path for a message."""
    return "<stdin>" if path == STDIN else path


def json_objects(
    path: str, complain: Complain, example: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the place (`file:line`) and the object of each line of a UTF-8 file, or of STDIN.

    Files packed by gzip are unpacked. Empty lines are skipped. The message on a line that is JSON,
    but not an object, shows the `example`.
    """
    with complaining(complain, path), _open(path) as file:
        for number, line in enumerate(_lines(file), 1):
            if line.strip():
                place = f"{shown_path(path)}:{number}"
                with complaining(complain, place):
                    yield place, _object(line, example)


@contextmanager
def _open(path: str) -> Iterator[BufferedReader | GzipFile]:
    with opened(path) as file:
        yield GzipFile(fileobj=file) if file.peek(2)[:2] == GZIP else file


def _lines(file: BufferedReader | GzipFile) -> Iterator[bytes]:
    try:
        while line := file.readline(_LONGEST):
            if len(line) == _LONGEST:  # it may never end: gzip packs zeros to a thousandth
                raise ValueError("a line of 64 MiB, or of more")
            yield line
    except (EOFError, zlib.error) as error:
        raise ValueError(f"gzip can't unpack the rest: {error}") from None


def _object(line: bytes, example: str) -> dict[str, Any]:
    try:
        value = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8: {error.reason} at byte {error.start}") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise ValueError(f"not a JSON object such as {example}")
    return value


def first_object(path: str) -> dict[str, Any]:
    """Return the first object of a file, an empty one if there is none near its start."""
    left = _MOST
    if path == STDIN:
        with suppress(ValueError), opened(path) as pipe:
            return _object(pipe.peek().partition(b"\n")[0], "")
        return {}
    with suppress(OSError, ValueError, EOFError, zlib.error), _open(path) as file:
        while line := file.readline(left):
            with suppress(ValueError):
                return _object(line, "")
            left -= len(line)
    return {}


def count_lines(path: str) -> int | None:
    """Return the number of lines that are not empty, None if the file can't be read twice."""
    if path == STDIN:
        return None
    with suppress(OSError, ValueError), _open(path) as file:
        return sum(1 for line in _lines(file) if line.strip())
    return None

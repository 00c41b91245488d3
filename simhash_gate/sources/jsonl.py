"""JSON Lines: one object per line, each with its place; what is none is complained about."""

from __future__ import annotations

import io
import json
import os
import select
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simhash_gate.common.complaints import why

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _typeshed import WriteableBuffer

    from simhash_gate.common.complaints import Complain

STDIN = "-"
_NAP = 0.5  # seconds


def shown_path(path: str) -> str:
    """Return a path as it is shown in messages."""
    return "<stdin>" if path == STDIN else path


def json_objects(
    path: str, complain: Complain, example: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the place (`file:line`) and the object of each line of a UTF-8 file, or of STDIN.

    Empty lines mean nothing. `example` is shown where a line is JSON, but no object.
    """
    try:
        with io.BufferedReader(_Stdin()) if path == STDIN else Path(path).open("rb") as lines:
            for number, line in enumerate(lines, 1):
                place = f"{shown_path(path)}:{number}"
                if not line.strip():
                    continue
                try:
                    found = json.loads(line.decode("utf-8-sig"))
                except UnicodeDecodeError as error:
                    complain(place, f"not UTF-8: {error.reason} at byte {error.start}")
                except (ValueError, RecursionError) as error:
                    complain(place, f"not JSON: {error}")
                else:
                    if isinstance(found, dict):
                        yield place, found
                    else:
                        complain(place, f"not a JSON object such as {example}")
    except (OSError, ValueError) as error:
        complain(path, why(error) if isinstance(error, OSError) else str(error))


def count_lines(path: str) -> int | None:
    """Return how many lines are not empty; None if nobody can tell before they are read."""
    try:
        with Path(path).open("rb") as lines:
            return sum(1 for line in lines if line.strip())
    except (OSError, ValueError):
        return None


class _Stdin(io.RawIOBase):
    """Waits for stdin in naps: Ctrl-C in the moment before a wait would else end when that does."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        while not select.select([sys.stdin], [], [], _NAP)[0]:
            pass
        return os.readv(sys.stdin.fileno(), [buffer])

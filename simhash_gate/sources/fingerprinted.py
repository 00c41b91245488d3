"""JSON Lines of pages that are fingerprinted: what `fingerprint`, `store` and crawls write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simhash_gate.fingerprints.hamming import from_hex
from simhash_gate.sources.jsonl import json_objects

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simhash_gate.common.complaints import Complain

_EXAMPLE = '{"url": …, "fingerprint": "b0621b61d9d51ad2"}'
_TEXTS = ("url", "path", "scope", "title", "pipeline")
_MOST = 1 << 20  # bytes of a first line


def is_fingerprinted(path: str) -> bool:
    """Tell if the first line of a file is an object with a fingerprint."""
    try:
        with Path(path).open("rb") as file:
            first = json.loads(file.readline(_MOST).decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(first, dict) and "fingerprint" in first


def fingerprinted(
    path: str, complain: Complain
) -> Iterator[tuple[str, dict[str, Any], int | None]]:
    """Yield the place of each line, its object, and its fingerprint, None if it has none.

    What a crawl's audit found, which stands among the verdicts, is passed over.
    """
    for place, record in json_objects(path, complain, _EXAMPLE):
        if "audit" in record:
            continue
        try:
            yield place, record, _fingerprint(record)
        except ValueError as error:
            complain(place, str(error))


def _fingerprint(record: dict[str, Any]) -> int | None:
    """Return the fingerprint of a line. Raises ValueError if it is no line of a page."""
    if "fingerprint" not in record:
        raise ValueError("no 'fingerprint'")
    for key in _TEXTS:
        if not isinstance(record.get(key) or "", str):
            raise ValueError(f"{key!r} is {record[key]!r}: expected a string")
    digits = record["fingerprint"]
    if digits is None:
        return None
    if not isinstance(digits, str):
        raise ValueError(f"'fingerprint' is {digits!r}: expected 16 hex digits")
    return from_hex(digits)

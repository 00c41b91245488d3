"""Audited pairs as JSON Lines: pairs of URLs that are labelled by what the spider made of them."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simhash_gate.gate.verdict import Verdict
    from simhash_gate.plugin.items import Difference

logger = logging.getLogger(__name__)


def audit_line(url: str, verdict: Verdict, differences: Iterable[Difference]) -> str:
    """Return a compared pair as a line of JSON.

    `a` is the kept page and `b` the dropped one; `duplicate` tells whether the items agree,
    `distance` is in bits, `fields` are those that differ.
    """
    assert verdict.match is not None
    fields = [difference.field for difference in differences]
    pair = {
        "a": verdict.match.record.url,
        "b": url,
        "duplicate": not fields,
        "distance": verdict.match.distance,
        "fields": list(dict.fromkeys(fields)),
    }
    return json.dumps(pair, ensure_ascii=False)


class AuditLog:
    """Appends lines to a file; where that fails, it says so once and the crawl goes on."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._file: BinaryIO | None = None

    def write(self, url: str, verdict: Verdict, differences: Iterable[Difference]) -> None:
        """Add a pair, at once."""
        if not self._path:
            return
        try:
            if self._file is None:
                self._file = _open(self._path)
            line = audit_line(url, verdict, differences) + "\n"
            self._file.write(line.encode("utf-8", "backslashreplace"))
            self._file.flush()
        except OSError as error:
            logger.error("Audited pairs are not written to %s any more: %s", self._path, error)
            self._path = ""

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            try:
                self._file.close()
            except OSError as error:
                logger.error("The end of %s may be missing: %s", self._path, error)


def _open(path: str) -> BinaryIO:
    """Open a file to append lines; one that a full disk once cut off is ended. Raises OSError."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    file = Path(path).open("a+b")  # noqa: SIM115 - to be closed with the crawl
    if file.tell():
        file.seek(-1, os.SEEK_END)
        if file.read(1) != b"\n":
            file.write(b"\n")
    return file

"""Audited pairs as JSON Lines: pairs of URLs that are labelled by what the spider made of them."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from simhash_gate.complaints import why
from simhash_gate.gate.line import encode
from simhash_gate.settings import PREFIX
from simhash_gate.writing import open_to_append

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simhash_gate.gate.verdict import Verdict
    from simhash_gate.plugin.items import Difference

logger = logging.getLogger(__name__)


def audit_line(url: str, verdict: Verdict, differences: Iterable[Difference]) -> dict[str, Any]:
    """Return a compared pair.

    `a` is the kept page and `b` the dropped one; `duplicate` tells whether the items agree,
    `distance` is in bits, `fields` are those that differ.
    """
    assert verdict.match is not None
    fields = [difference.field for difference in differences]
    return {
        "a": verdict.match.record.url,
        "b": url,
        "duplicate": not fields,
        "distance": verdict.match.distance,
        "fields": list(dict.fromkeys(fields)),
    }


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
                Path(self._path).parent.mkdir(parents=True, exist_ok=True)
                self._file = open_to_append(self._path)
            self._file.write(encode(audit_line(url, verdict, differences)))
            self._file.flush()
        except OSError as error:
            logger.error(
                "%sAUDIT_LOG: audited pairs are not written to %s any more: %s",
                PREFIX, self._path, why(error),
            )  # fmt: skip
            self._path = ""

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            try:
                self._file.close()
            except OSError as error:
                logger.error("The end of %s may be missing: %s", self._path, why(error))

"""Audited pairs as JSON Lines: pairs of URLs that are labelled by what the spider made of them."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

from simhash_gate.common.files import open_to_append
from simhash_gate.plugin.lines import LineFile, LineThread

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simhash_gate.gate.verdict import Verdict
    from simhash_gate.plugin.items import Difference
    from simhash_gate.plugin.lines import Line


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
    """Appends lines to a file, off the event loop; a path of "" is no file."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._thread = LineThread("audited pair", self._work)

    def write(self, url: str, verdict: Verdict, differences: Iterable[Difference]) -> None:
        """Add a pair, soon."""
        if self._path:
            self._thread.start()
            self._thread.put(audit_line(url, verdict, differences))

    async def close(self) -> None:
        """Write what is left; waits for a disk that hangs, but not for ever."""
        await self._thread.close()

    def _work(self, batches: Iterator[list[Line]]) -> None:
        file = LineFile(self._path, open_to_append, setting="AUDIT_LOG", what="audited pair")
        with closing(file):
            for lines in batches:
                file.write(lines)

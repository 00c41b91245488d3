"""Requests that were not sent: how many, why, and examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from simhash_gate.common.urls import host_of, without_credentials
from simhash_gate.gate.policy import registered_domain
from simhash_gate.report.judged import LONGEST_TEXT, LONGEST_URL, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_KINDS = 2_000
_EXAMPLES = 2
_WHY = {"rule": "makes no difference", "trap": "is a trap", "lastmod": "says unchanged"}


class Unsent(NamedTuple):
    """Requests of one domain that were not sent for one reason: `what` makes no difference, or is
    the shape of a trap.
    """

    domain: str
    what: str
    why: str
    requests: int
    examples: tuple[tuple[str, str], ...]


class UnsentRequests:
    """Counts requests that were not sent, by domain and reason, of `MOST_KINDS` kinds at most."""

    def __init__(self) -> None:
        self.seen = 0
        self._counts: dict[tuple[str, str, str], int] = {}
        self._examples: dict[tuple[str, str, str], list[tuple[str, str]]] = {}

    def add(self, line: Mapping[str, Any]) -> None:
        """Count a line. Raises ValueError that names the key, if its value is wrong."""
        url = without_credentials(text_of(line, "url", LONGEST_URL + 1))
        kind = text_of(line, "not_sent", LONGEST_TEXT)
        key = (registered_domain(host_of(url)), text_of(line, "what", LONGEST_TEXT), kind)
        self.seen += 1
        if key not in self._counts and len(self._counts) >= MOST_KINDS:
            return
        self._counts[key] = self._counts.get(key, 0) + 1
        examples = self._examples.setdefault(key, [])
        if len(examples) < _EXAMPLES:
            other = line.get("matched_url")
            examples.append((url, without_credentials(other) if isinstance(other, str) else ""))

    def ranked(self, most: int) -> list[Unsent]:
        """Return the most frequent ones, the most frequent first."""
        keys = sorted(self._counts, key=lambda key: -self._counts[key])[:most]
        return [
            Unsent(
                *(domain, what, _WHY.get(kind, kind)),
                *(self._counts[domain, what, kind], tuple(self._examples[domain, what, kind])),
            )
            for domain, what, kind in keys
        ]

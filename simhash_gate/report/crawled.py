"""Lines of a verdict log that are of the whole crawl: its spider, settings, what it found."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from simhash_gate.common.urls import host_of, without_credentials
from simhash_gate.gate.policy import registered_domain
from simhash_gate.report.judged import LONGEST_TEXT, LONGEST_URL, text_of, time_of

MOST_SHOWN = 200
"""Settings and domains that are kept of one crawl."""
LONGEST_MESSAGE = 1_000
"""Characters of what a crawl said of a site."""


@dataclass(frozen=True, slots=True)
class Crawled:
    """Who made verdicts, when (a Unix time), in which versions, and with which settings.

    `by` is `crawl` or the name of a command, `name` that of a spider or source. `settings` are
    those that are not the default, `domains` what is different for a domain: each value as text.
    `run` is what a store knows the crawl by; "" if it is not known.
    """

    by: str
    name: str
    started: float | None
    versions: Mapping[str, str]
    settings: Mapping[str, str]
    domains: Mapping[str, Mapping[str, str]]
    run: str = ""

    @classmethod
    def of(cls, line: Mapping[str, Any]) -> Crawled:
        """Return what a line says. Raises ValueError that names the key and its value."""
        domains = _mapping(line, "domains")
        return cls(
            text_of(line, "by", LONGEST_TEXT),
            text_of(line, "name", LONGEST_TEXT),
            time_of(line, "started"),
            _texts(_mapping(line, "versions")),
            _texts(_mapping(line, "settings")),
            {_short(domain): _texts(_mapping(domains, domain)) for domain in domains},
            text_of(line, "run", LONGEST_TEXT),
        )


class CrawlNote(NamedTuple):
    """What a crawl said of a site, or of itself, and what to do about it.

    `wrong` tells whether something looks wrong; else it is worth knowing.
    """

    message: str
    advice: str
    wrong: bool = True

    @classmethod
    def of(cls, line: Mapping[str, Any]) -> CrawlNote:
        """Return what a line says. Raises ValueError that names the key and its value."""
        message, advice = (text_of(line, name, LONGEST_MESSAGE) for name in ("message", "advice"))
        return cls(message, advice, line.get("wrong") is not False)


def _mapping(line: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = line.get(key)
    if value is not None and not isinstance(value, Mapping):
        raise ValueError(f"{key!r} is {value!r}: expected an object")
    return dict(list((value or {}).items())[:MOST_SHOWN])


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    return {
        _short(name): _short(
            value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        )
        for name, value in values.items()
    }


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 1]}…"


MOST_KINDS = 2_000
_EXAMPLES = 2
_WHY = {"rule": "makes no difference", "trap": "is a trap", "lastmod": "says unchanged"}
_WHY |= {"listing": "leads to nothing new", "quota": "has its quota"}


@dataclass(slots=True)
class Unsent:
    """Requests of one domain that were not sent for one reason: `what` makes no difference, or is
    the shape of a trap.
    """

    domain: str
    what: str
    why: str
    requests: int = 0
    examples: list[tuple[str, str]] = field(default_factory=list)


class UnsentRequests:
    """Counts requests that were not sent, by domain and reason, of `MOST_KINDS` kinds at most."""

    def __init__(self) -> None:
        self.seen = 0
        self._kinds: dict[tuple[str, str, str], Unsent] = {}

    def add(self, line: Mapping[str, Any]) -> None:
        """Count a line. Raises ValueError that names the key, if its value is wrong."""
        url = without_credentials(text_of(line, "url", LONGEST_URL + 1))
        kind = text_of(line, "not_sent", LONGEST_TEXT)
        what = text_of(line, "what", LONGEST_TEXT)
        key = (registered_domain(host_of(url)), what, _WHY.get(kind, kind))
        self.seen += 1
        if key not in self._kinds and len(self._kinds) >= MOST_KINDS:
            return
        found = self._kinds.setdefault(key, Unsent(*key))
        found.requests += 1
        if len(found.examples) < _EXAMPLES:
            other = line.get("matched_url")
            other = without_credentials(other) if isinstance(other, str) else ""
            found.examples.append((url, other))

    def ranked(self, most: int) -> list[Unsent]:
        """Return the most frequent ones, the most frequent first."""
        return sorted(self._kinds.values(), key=lambda kind: -kind.requests)[:most]

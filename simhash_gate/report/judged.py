"""Lines of a verdict log, checked: verdicts, what a crawl says of itself, and its notes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import shortened
from simhash_gate.fingerprints.hamming import BITS, from_hex
from simhash_gate.gate.verdict import ANSWERED
from simhash_gate.values import TEXT, ValueKind, checked, json_value

OUTCOMES = (
    *("new", "near", "updated", "rewritten", "duplicate", "unchanged", *ANSWERED),
    *("skipped", "error", "kept"),
)
"""The outcomes of verdicts, and `kept`: a page of a store, which does not keep its verdict."""

REVISITS = frozenset({"updated", "rewritten", "unchanged"})
"""The outcomes of pages that were compared with what they themselves said before."""

LONGEST_URL = 2_000
LONGEST_TEXT = 300
LONGEST_MESSAGE = 1_000
"""Characters of what a crawl said of a site."""
MOST_SHOWN = 200
"""Settings and domains that are kept of one crawl."""
_LAST_TIME = 253_402_300_800.0  # the year 10,000, beyond what datetime can show
_COUNT, _BITS = (
    json_value(f"a whole number from 0 to {most}", int, range(most + 1).__contains__)
    for most in (1 << 53, BITS)
)
_TIME = json_value("a Unix time in seconds", float, lambda value: 0 <= value < _LAST_TIME)
_OBJECT = json_value("an object", dict)
_FINGERPRINT = ValueKind("a fingerprint of 16 hex digits", from_hex)


@dataclass(frozen=True, slots=True)
class LoggedMatch:
    """The kept page that a page was compared with. `id` is that of its source, if known.

    `key` is the same for all addresses of a page, "" if it is not known.
    `run` is the crawl that kept it, as the store knows it; "" if it is not known.
    """

    url: str
    title: str
    words: int | None
    id: str = ""
    run: str = ""
    key: str = ""
    fingerprint: int | None = None

    @property
    def name(self) -> str:
        """What the page is known by: its URL, or else the name that its source has for it."""
        return self.url or self.id


@dataclass(frozen=True, slots=True)
class LoggedVerdict:
    """The verdict on one response. Long texts are cut. `at` and `previous_at` are Unix times.

    `not_sent` says why there was no response, "" if there was; then there is no outcome.
    `held` tells that the page passed for its links alone. `canonical_url` is the same for all
    addresses of a page, "" if it is not known. `crawler` is the number of the crawler
    in a report of several.
    """

    url: str
    outcome: str
    reason: str = ""
    title: str = ""
    words: int | None = None
    distance: int | None = None
    kept: LoggedMatch | None = None
    threshold: int | None = None
    near: int | None = None
    dropped: bool = False
    size: int = 0
    at: float | None = None
    differs: str = ""
    id: str = ""
    held: bool = False
    crawler: int = 0
    canonical_url: str = ""
    fingerprint: int | None = None
    previous_at: float | None = None
    not_sent: str = ""

    @property
    def name(self) -> str:
        """What the page is known by: its URL, or else the name that its source has for it."""
        return self.url or self.id

    @property
    def is_within(self) -> bool:
        """Whether the page is at most the threshold away from the kept one."""
        known = self.distance is not None and self.threshold is not None
        return known and (self.distance or 0) <= (self.threshold or 0)

    @property
    def is_duplicate(self) -> bool:
        """Whether the page was found to be the copy of another, dropped or not."""
        dropped = self.dropped and self.outcome not in ANSWERED
        return dropped or self.outcome == "duplicate"

    @classmethod
    def of(cls, line: Mapping[str, Any], crawler: int = 0) -> LoggedVerdict:
        """Return what a line says. Raises ValueError that names the key and its value."""
        outcome, not_sent = text_of(line, "outcome"), text_of(line, "not_sent")
        if outcome not in OUTCOMES and not not_sent:
            raise ValueError(f"'outcome' is {outcome!r}: expected one of {', '.join(OUTCOMES)}")
        kept = None
        if line.get("matched_url") is not None:
            kept = LoggedMatch(
                title=text_of(line, "matched_title"),
                words=checked(line, "matched_words", _COUNT),
                url=url_of(line, "matched_url"),
                run=text_of(line, "matched_run"),
                key=text_of(line, "matched_key", LONGEST_URL + 1),
                id=_id(line, "matched_id"),
            )
        return cls(
            url=url_of(line, "url"),
            outcome=outcome,
            reason=text_of(line, "reason"),
            title=text_of(line, "title"),
            words=checked(line, "words", _COUNT),
            distance=checked(line, "distance", _BITS),
            kept=kept,
            threshold=checked(line, "threshold", _BITS),
            near=checked(line, "near", _BITS),
            dropped=line.get("dropped") is True,
            size=checked(line, "bytes", _COUNT) or 0,
            at=checked(line, "time", _TIME),
            differs=text_of(line, "differs"),
            id=_id(line, "id"),
            held=line.get("held") is True,
            crawler=crawler,
            canonical_url=url_of(line, "canonical_url"),
            fingerprint=checked(line, "fingerprint", _FINGERPRINT),
            previous_at=checked(line, "previous_time", _TIME),
            not_sent=not_sent,
        )


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
            text_of(line, "by"),
            text_of(line, "name"),
            checked(line, "started", _TIME),
            _texts(line, "versions"),
            _texts(line, "settings"),
            {shortened(name, LONGEST_TEXT): _texts(domains, name) for name in domains},
            text_of(line, "run"),
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
    return dict(list((checked(line, key, _OBJECT) or {}).items())[:MOST_SHOWN])


def _texts(line: Mapping[str, Any], key: str) -> dict[str, str]:
    values = {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in _mapping(line, key).items()
    }
    return {shortened(n, LONGEST_TEXT): shortened(v, LONGEST_TEXT) for n, v in values.items()}


def url_of(line: Mapping[str, Any], key: str) -> str:
    """Return a URL without its credentials, as `text_of` does: one that is cut is too long."""
    return without_credentials(text_of(line, key, LONGEST_URL + 1))


def text_of(line: Mapping[str, Any], key: str, longest: int = LONGEST_TEXT) -> str:
    """Return a text, cut if it is too long. Raises ValueError for a value that is none."""
    return shortened(checked(line, key, TEXT) or "", longest)


def _id(line: Mapping[str, Any], key: str) -> str:
    """Return an id as text: it is whatever a source has."""
    value = line.get(key)
    return "" if value is None else str(value)[: LONGEST_URL + 1]

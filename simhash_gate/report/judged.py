"""Lines of a verdict log, checked: verdicts, what a crawl says of itself, and its notes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

from simhash_gate.common.times import unix_time
from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import shortened
from simhash_gate.fingerprints.hamming import BITS, from_hex
from simhash_gate.gate.verdict import OUTCOMES, Meaning
from simhash_gate.report.differences import TextChange
from simhash_gate.values import TEXT, ValueKind, checked, json_value

T = TypeVar("T")

LOGGED = (*OUTCOMES, "kept")
"""The outcomes of verdicts, and `kept`: a page of a store, which does not keep its verdict."""

LONGEST_URL = 2_000
LONGEST_TEXT = 300
LONGEST_MESSAGE = 1_000
"""Characters of what a crawl said of a site."""
MOST_SHOWN = 200
"""Settings and domains that are kept of one crawl."""


def _text(longest: int = LONGEST_TEXT) -> ValueKind:
    return ValueKind(TEXT.allowed, lambda value: shortened(TEXT.parse(value), longest))


def _mapping(parse: Callable[[Any], Any]) -> ValueKind:
    """Objects of JSON, whose values are parsed; what is too much is cut."""
    of = json_value("an object", dict)
    return ValueKind(
        of.allowed,
        lambda value: {
            shortened(name, LONGEST_TEXT): parse(it)
            for name, it in list(of.parse(value).items())[:MOST_SHOWN]
        },
    )


def _as_text(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return shortened(text, LONGEST_TEXT)


_TEXT = _text()
_COUNT, _BITS = (
    json_value(f"a whole number from 0 to {most}", int, range(most + 1).__contains__)
    for most in (1 << 53, BITS)
)
_TIME = json_value("a Unix time in seconds", float, lambda value: unix_time(value) is not None)
_FLAG = ValueKind("true or false", lambda value: value is True)
_FINGERPRINT = ValueKind("a fingerprint of 16 hex digits", from_hex)
# A URL that is cut is too long for a link. An id is whatever a source has.
_URL = ValueKind(
    TEXT.allowed, lambda value: without_credentials(shortened(TEXT.parse(value), LONGEST_URL + 1))
)
_CHANGES = ValueKind(
    "a list of changes",
    lambda value: tuple(TextChange(**_mapping(_TEXT.parse).parse(it)) for it in value[:MOST_SHOWN]),
)
_ID = ValueKind("an id", lambda value: str(value)[: LONGEST_URL + 1])


def _of(kind: ValueKind, default: Any = None, key: str = "") -> Any:
    """Return a field that is read from the value of a key, by default of the field's name."""
    return field(default=default, metadata={"kind": kind, "key": key})


def _of_object(parse: Callable[[Any], Any]) -> Any:
    return field(default_factory=dict, metadata={"kind": _mapping(parse), "key": ""})


def read(table: type[T], line: Mapping[str, Any], prefix: str = "") -> T:
    """Return what a line says. Raises ValueError that names the key and its value."""
    found = {}
    for each in fields(table):  # type: ignore[arg-type]
        if each.metadata:
            key = prefix + (each.metadata["key"] or each.name)
            found[each.name] = checked(line, key, each.metadata["kind"])
    return table(**{name: value for name, value in found.items() if value is not None})


@dataclass(frozen=True, slots=True)
class LoggedMatch:
    """The kept page that a page was compared with. `id` is that of its source, if known.

    `key` is the same for all addresses of a page, "" if it is not known.
    `run` is the crawl that kept it, as the store knows it; "" if it is not known.
    """

    url: str = _of(_URL, "")
    title: str = _of(_TEXT, "")
    words: int | None = _of(_COUNT)
    id: str = _of(_ID, "")
    run: str = _of(_TEXT, "")
    key: str = _of(_text(LONGEST_URL + 1), "")
    fingerprint: int | None = None

    @property
    def name(self) -> str:
        """What the page is known by: its URL, or else the name that its source has for it."""
        return self.url or self.id


@dataclass(frozen=True, slots=True)
class LoggedVerdict:
    """The verdict on one response. Long texts are cut. `at` and `previous_at` are Unix times.

    `held` tells that the page passed for its links alone. `canonical_url` is the same for all
    addresses of a page, "" if it is not known. `crawler` is the number of the crawler
    in a report of several. Of a page that has changed, `changes` are what its text says other than
    before, None if that is not known, and a `listing` leads to other pages.
    """

    url: str = _of(_URL, "")
    outcome: str = _of(_TEXT, "")
    reason: str = _of(_TEXT, "")
    title: str = _of(_TEXT, "")
    words: int | None = _of(_COUNT)
    distance: int | None = _of(_BITS)
    kept: LoggedMatch | None = None
    threshold: int | None = _of(_BITS)
    near: int | None = _of(_BITS)
    dropped: bool = _of(_FLAG, False)
    size: int = _of(_COUNT, 0, "bytes")
    at: float | None = _of(_TIME, None, "time")
    differs: str = _of(_TEXT, "")
    id: str = _of(_ID, "")
    held: bool = _of(_FLAG, False)
    crawler: int = 0
    canonical_url: str = _of(_URL, "")
    fingerprint: int | None = _of(_FINGERPRINT)
    previous_at: float | None = _of(_TIME, None, "previous_time")
    listing: bool = _of(_FLAG, False)
    changes: Sequence[TextChange] | None = _of(_CHANGES)

    @property
    def name(self) -> str:
        """What the page is known by: its URL, or else the name that its source has for it."""
        return self.url or self.id

    @property
    def means(self) -> Meaning:
        """What the outcome says of the response."""
        return OUTCOMES.get(self.outcome, Meaning())

    @property
    def is_within(self) -> bool:
        """Whether the page is at most the threshold away from the kept one."""
        known = self.distance is not None and self.threshold is not None
        return known and (self.distance or 0) <= (self.threshold or 0)

    @property
    def is_duplicate(self) -> bool:
        """Whether the page was found to be the copy of another, dropped or not."""
        return (self.dropped and self.means.page) or self.outcome == "duplicate"

    @classmethod
    def of(cls, line: Mapping[str, Any], crawler: int = 0) -> LoggedVerdict:
        """Return what a line says. Raises ValueError that names the key and its value."""
        # A list of `dedupe`, which says the kept page, has only what is not in the corpus.
        found = read(cls, {"dropped": "kept" in line, **line})
        if found.outcome not in LOGGED:
            expected = ", ".join(LOGGED)
            raise ValueError(f"'outcome' is {found.outcome!r}: expected one of {expected}")
        known = line.get("matched_url") is not None
        kept = read(LoggedMatch, line, "matched_") if known else None
        return replace(found, kept=kept, crawler=crawler)


@dataclass(frozen=True, slots=True)
class Crawled:
    """Who made verdicts, when (a Unix time), in which versions, and with which settings.

    `by` is `crawl` or the name of a command, `name` that of a spider or source. `settings` are
    those that are not the default, `domains` what is different for a domain: each value as text.
    `run` is what a store knows the crawl by; "" if it is not known.
    """

    by: str = _of(_TEXT, "")
    name: str = _of(_TEXT, "")
    started: float | None = _of(_TIME)
    versions: Mapping[str, str] = _of_object(_as_text)
    settings: Mapping[str, str] = _of_object(_as_text)
    domains: Mapping[str, Mapping[str, str]] = _of_object(_mapping(_as_text).parse)
    run: str = _of(_TEXT, "")


@dataclass(frozen=True, slots=True)
class CrawlNote:
    """What a crawl said of a site, or of itself, and what to do about it.

    `wrong` tells whether something looks wrong; else it is worth knowing.
    """

    message: str = _of(_text(LONGEST_MESSAGE), "")
    advice: str = _of(_text(LONGEST_MESSAGE), "")
    wrong: bool = _of(ValueKind("true or false", lambda value: value is not False), True)

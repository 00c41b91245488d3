"""Lines of a verdict log, checked; whether its two pages contradict, and what else differs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import how_many
from simhash_gate.fingerprints.hamming import BITS
from simhash_gate.fingerprints.names import own_words
from simhash_gate.gate.verdict import ANSWERED

OUTCOMES = (
    *("new", "near", "updated", "rewritten", "duplicate", "unchanged", *ANSWERED),
    *("skipped", "error", "kept"),
)
"""The outcomes of verdicts, and `kept`: a page of a store, which does not keep its verdict."""

REVISITS = frozenset({"updated", "rewritten", "unchanged"})
"""The outcomes of pages that were compared with what they themselves said before."""

MANY = 5
"""Fewer pages of other names may be chance."""
SHARE = 0.05
"""So may a smaller share of the pages that are as near."""
ADVICE = (
    "These pages have much the same text, so no distance tells them from copies. Their names, "
    "offers and words do, if SIMHASH_GATE_VERIFY is on. To compare more of them, name the fields "
    "that differ in SIMHASH_GATE_COMPARE, or use another SIMHASH_GATE_EXTRACTOR."
)
LONGEST_URL = 2_000
LONGEST_TEXT = 300
LONGEST_MESSAGE = 1_000
"""Characters of what a crawl said of a site."""
MOST_SHOWN = 200
"""Settings and domains that are kept of one crawl."""
_LAST_TIME = 253_402_300_800.0  # the year 10,000, beyond what datetime can show


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

    @property
    def name(self) -> str:
        """What the page is known by: its URL, or else the name that its source has for it."""
        return self.url or self.id


@dataclass(frozen=True, slots=True)
class LoggedVerdict:
    """The verdict on one response. Long texts are cut. `at` is a Unix time.

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
    dropped: bool = False
    size: int = 0
    at: float | None = None
    differs: str = ""
    id: str = ""
    held: bool = False
    crawler: int = 0
    canonical_url: str = ""

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
    def has_another_name(self) -> bool:
        """Whether its name and the kept page's contradict each other."""
        known = self.kept is not None and contradict(self.title, self.kept.title)
        return known or self.differs == "names"

    @property
    def is_duplicate(self) -> bool:
        """Whether the page was found to be the copy of another, dropped or not."""
        dropped = self.dropped and self.outcome not in ANSWERED
        return dropped or self.outcome == "duplicate"

    @classmethod
    def of(cls, line: Mapping[str, Any], crawler: int = 0) -> LoggedVerdict:
        """Return what a line says. Raises ValueError that names the key and its value."""
        outcome = text_of(line, "outcome")
        if outcome not in OUTCOMES:
            raise ValueError(f"'outcome' is {outcome!r}: expected one of {', '.join(OUTCOMES)}")
        kept = None
        if line.get("matched_url") is not None:
            kept = LoggedMatch(
                title=text_of(line, "matched_title"),
                words=_count(line, "matched_words"),
                url=url_of(line, "matched_url"),
                run=text_of(line, "matched_run"),
                key=text_of(line, "matched_key", LONGEST_URL + 1),
                id=_id(line, "matched_id"),
            )
        return cls(
            url_of(line, "url"),
            outcome,
            text_of(line, "reason"),
            text_of(line, "title"),
            _count(line, "words"),
            _count(line, "distance", BITS),
            kept,
            _count(line, "threshold", BITS),
            line.get("dropped") is True,
            _count(line, "bytes") or 0,
            _time(line, "time"),
            text_of(line, "differs"),
            _id(line, "id"),
            line.get("held") is True,
            crawler,
            url_of(line, "canonical_url"),
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
            _time(line, "started"),
            _texts(_mapping(line, "versions")),
            _texts(_mapping(line, "settings")),
            {_short(domain): _texts(_mapping(domains, domain)) for domain in domains},
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
    value = _checked(line, key, "an object", lambda value: isinstance(value, Mapping))
    return dict(list((value or {}).items())[:MOST_SHOWN])


def _checked(
    line: Mapping[str, Any], key: str, expected: str, is_one: Callable[[Any], bool]
) -> Any:
    """Return a value, None for none. Raises ValueError that names the key and the value."""
    value = line.get(key)
    if value is not None and not is_one(value):
        raise ValueError(f"{key!r} is {value!r}: expected {expected}")
    return value


def _is_number(value: Any, *kinds: type) -> bool:
    return isinstance(value, kinds) and not isinstance(value, bool)


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    return {
        _short(name): _short(
            value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        )
        for name, value in values.items()
    }


def _short(text: str, longest: int = LONGEST_TEXT) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def url_of(line: Mapping[str, Any], key: str) -> str:
    """Return a URL without its credentials, as `text_of` does: one that is cut is too long."""
    return without_credentials(text_of(line, key, LONGEST_URL + 1))


def text_of(line: Mapping[str, Any], key: str, longest: int = LONGEST_TEXT) -> str:
    """Return a text, cut if it is too long. Raises ValueError for a value that is none."""
    value = _checked(line, key, "a string", lambda value: isinstance(value, str))
    return _short(value or "", longest)


def _id(line: Mapping[str, Any], key: str) -> str:
    """Return an id as text: it is whatever a source has."""
    value = line.get(key)
    return "" if value is None else str(value)[: LONGEST_URL + 1]


def _count(line: Mapping[str, Any], key: str, most: int = 1 << 53) -> int | None:
    expected = f"a whole number from 0 to {most}"
    count: int | None = _checked(
        line, key, expected, lambda value: _is_number(value, int) and 0 <= value <= most
    )
    return count


def _time(line: Mapping[str, Any], key: str) -> float | None:
    def is_time(value: Any) -> bool:
        return _is_number(value, int, float) and 0 <= value < _LAST_TIME

    value = _checked(line, key, "a Unix time in seconds", is_time)
    return None if value is None else float(value)


@lru_cache(maxsize=1024)
def contradict(title: str, other: str) -> bool:
    """Tell if each of two titles has a word that the other has not.

    The gate also looks for such words in the texts, which are not at hand here.
    """
    if not title or not other or title == other:
        return False
    own, its_own = own_words(title), own_words(other)
    return not (own <= its_own or its_own <= own)


@dataclass(slots=True)
class Named:
    """Counts pages within the threshold of another; `others` are those with another name.

    `dropped` counts the others that were dropped.
    """

    near: int = 0
    others: int = 0
    dropped: int = 0

    def add(self, *, other: bool, dropped: bool = False) -> None:
        """Count a page."""
        self.near += 1
        self.others += other
        self.dropped += other and dropped

    @property
    def are_many(self) -> bool:
        """Whether so many have another name that distances say little of these pages."""
        return self.others >= MANY and self.others >= SHARE * self.near

    def __str__(self) -> str:
        return f"{self.others:,} of {self.near:,} pages within the threshold have another name"


ORDER = (
    "Pages with another name come first, then those with another price or offer, another title, "
    "another length, other words. Bits decide only between pages that differ in the same way."
)
"""The order of duplicates, for a reader."""

_MONEY = "$\u00a2-\u00a5\u20a0-\u20cf"
_CODE = "EUR|USD|GBP|CHF|JPY|CNY|INR|TRY|PLN|SEK|NOK|DKK|CZK|RUB|BRL|AUD|CAD"
_AMOUNT = r"\d[\d.,']{0,15}"
_PRICE = re.compile(
    rf"(?:[{_MONEY}]|\b(?:{_CODE})\b)\s?{_AMOUNT}|{_AMOUNT}\s?(?:[{_MONEY}]|(?:{_CODE})\b)"
)
_SAME = ("text", "text at a closer look", "entries, in any order", "name, number and price")
_ROUND = re.compile(r"[.,]00(?!\d)")


class Doubt(NamedTuple):
    """What differs, the gravest first: pages are ranked by it as by any tuple.

    `growth` is the share of its words that a page has more or less, or that differ if both texts
    are known. `words` tells that the verdict names words that differ.
    """

    name: bool = False
    offer: bool = False
    title: bool = False
    growth: float = 0.0
    words: bool = False
    bits: int = 0


def doubt(page: LoggedVerdict) -> Doubt:
    """Return what differs between a page and the one that it is a duplicate of."""
    detail, words, growth = _detail(page), page.words, 0.0
    title = page.kept is not None and page.kept.title != page.title
    if page.kept is not None and words and page.kept.words:
        growth = abs(words - page.kept.words) / max(words, page.kept.words)
    before, _, after = detail.partition(" → ")
    offer = page.differs in ("offers", "fields") or other_prices(before, after)
    return Doubt(page.has_another_name, offer, title, growth, bool(detail), page.distance or 0)


def difference(page: LoggedVerdict, found: Doubt | None = None) -> list[str]:
    """Return what differs between a page and the kept one, in a few words each."""
    found = found or doubt(page)
    phrases = ["another name"] * found.name + ["another price or offer"] * found.offer
    phrases += ["another title"] * (found.title and not found.name)
    if page.kept is not None and page.words is not None and page.kept.words is not None:
        more = page.words - page.kept.words
        if more:
            phrases.append(how_many(more, "word", "+,"))
    return [*phrases, *filter(None, [_detail(page)])]


def other_prices(kept: str, page: str) -> bool:
    """Tell if each of two texts says an amount of money that the other does not say."""
    before, now = _amounts(kept), _amounts(page)
    return not (before <= now or now <= before)


def _amounts(text: str) -> set[str]:
    """Return the amounts of money in a text, however they are written: 12,50 € is $12.50."""
    found = (_ROUND.sub("", price) for price in _PRICE.findall(text))
    return {"".join(filter(str.isdigit, price)) for price in found}


def _detail(page: LoggedVerdict) -> str:
    """Return what the reason of a verdict says of the words that differ."""
    detail = page.reason.partition("; ")[2]
    return "" if detail.removeprefix("the same ") in _SAME else detail

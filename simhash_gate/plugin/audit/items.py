"""What a spider made of two pages: whether the items of one add anything to those of the other."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from hashlib import sha256
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from itemadapter import ItemAdapter
from scrapy.http import Response

from simhash_gate.common.urls import text_without_credentials, without_credentials
from simhash_gate.common.wording import printable
from simhash_gate.fingerprints.volatile import is_volatile
from simhash_gate.fingerprints.words import SIGNS, words

LONG = 20
"""Words above which a text is compared by its words."""
PHRASE = 4
"""Words from which on a text may be a headline that a template adds words to."""
REAL_CHANGE = 0.10
"""The share of a long text's words that must be new before it says something else: less than that
is what templates put into the text of one article."""
MOST_CHARACTERS = 100_000
"""Of a longer text, the beginning is compared."""
NO_ITEM = "(no item)"
"""Stands for a field's name where a page has an item and the other has none at all."""

_SHOWN = 60
_LONGEST_MOMENT = 40
_CLOCK_TOLERANCE = 1.0
_ADDRESS = re.compile(r"\]\([^()\s]*\)|\w{0,20}://\S*")


class Value(NamedTuple):
    """A field's value as text.

    `own` tells that every page has another one, copies too.
    """

    text: str
    own: bool


_NOTHING = Value("", own=False)

Snapshot = dict[str, Value]
"""The fields of one item that are not empty, by name."""


class FieldDifference(NamedTuple):
    """A field by which an item says something new, and the change in words."""

    field: str
    change: str


@dataclass(slots=True)
class Reader:
    """Takes snapshots of items, and compares them: the named fields, or all if none is named.

    `began` is the Unix time of the crawl's beginning; `unseen` are the named fields that no item
    has had a value in.
    """

    fields: Collection[str]
    began: float
    unseen: set[str] = field(init=False)

    def __post_init__(self) -> None:
        self.unseen = set(self.fields)

    def snapshot(self, item: Any, response: Response) -> Snapshot:
        """Return what an item of a page says. Raises TypeError for what is no kind of item."""
        addresses = _addresses(response)
        found = {}
        for key, value in ItemAdapter(item).items():
            name = printable(str(key))
            text = text_without_credentials(_text(_inner(value))[:MOST_CHARACTERS])
            if (self.fields and name not in self.fields) or not text:
                continue
            own = not self.fields and (text in addresses or _is_moment(value, self.began))
            found[name] = Value(text, own)
        self.unseen.difference_update(found)
        return found

    def news(self, kept: Sequence[Snapshot], dropped: Iterable[Snapshot]) -> list[FieldDifference]:
        """Return how the items of a dropped page say what no item of the kept page says.

        An item that has no equal is compared with the one that differs in the fewest fields. Empty
        if nothing is lost with the dropped page.
        """
        found: list[FieldDifference] = []
        for item in dropped:
            closest: list[FieldDifference] | None = None
            for other in kept:
                differences = _differences(other, item)
                if closest is None or len(differences) < len(closest):
                    closest = differences
                if not closest:
                    break
            found += [FieldDifference(NO_ITEM, "of the kept page")] if closest is None else closest
        return found


def _differences(kept: Snapshot, dropped: Snapshot) -> list[FieldDifference]:
    found = []
    for name, value in dropped.items():
        before = kept.get(name, _NOTHING)
        change = "" if before.own or value.own else _change(before.text, value.text)
        if change:
            found.append(FieldDifference(name, change))
    return found


def _change(before: str, after: str) -> str:
    """Return in words what the second text says beyond the first; "" if nothing."""
    if " ".join(before.split()) == " ".join(after.split()):
        return ""
    if not before:
        return f"{_short(after)} is new"
    old, new = words(before), words(after)
    if len(new) > LONG:
        stable = Counter(_stable_words(after))
        share = (stable - Counter(_stable_words(before))).total() / max(1, stable.total())
        return f"{share:.0%} of its words are new" if share > REAL_CHANGE else ""
    if min(len(old), len(new)) >= PHRASE and _contains(old, new):
        return ""
    return f"{_short(before)} → {_short(after)}"


def _stable_words(text: str) -> list[str]:
    """Return the words of a text without addresses, and without lines of clocks and counters."""
    lines = [line.strip() for line in _ADDRESS.sub(" ", text).splitlines()]
    tokens = [(line, words(line)) for line in lines]
    return [word for line, found in tokens if not is_volatile(line, len(found)) for word in found]


def _contains(a: Sequence[str], b: Sequence[str]) -> bool:
    """Tell whether one phrase has all words of the other, and neither a number of its own.

    Signs alone are no words that a template adds.
    """
    one, other = Counter(a), Counter(b)
    only_one, only_other = one - other, other - one
    if only_one and only_other:
        return False
    alone = only_one or only_other
    if alone and SIGNS.issuperset(alone):
        return False
    return not any(any(map(str.isdigit, word)) for word in alone)


def _text(value: Any) -> str:
    """Return a value as text; "" for one that is empty."""
    if value is None or (isinstance(value, (list, dict, set)) and not value):
        return ""
    if isinstance(value, (list, dict, set, frozenset)):
        return json.dumps(value, ensure_ascii=False, sort_keys=True, default=_plain)
    return str(value).strip()


def _inner(value: Any) -> Any:
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, dict) or ItemAdapter.is_item(value):
        return {str(key): _inner(part) for key, part in ItemAdapter(value).items()}
    if hasattr(value, "_asdict"):
        return _inner(value._asdict())
    if isinstance(value, bytes):
        return sha256(value).hexdigest() if value else ""
    return list(map(_inner, value)) if isinstance(value, (list, tuple)) else value


def _plain(value: Any) -> Any:
    return sorted(map(str, value)) if isinstance(value, (set, frozenset)) else str(value)


def _addresses(response: Response) -> set[str]:
    """Return the forms in which items give the page's own address."""
    found = set()
    for sent in {response.url, *([response.request.url] if response.request else [])}:
        url = without_credentials(sent)
        parts = urlsplit(url)
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        found |= {url, parts.path, path} - {"", "/"}
    return found


def _is_moment(value: Any, began: float) -> bool:
    """Tell whether a value is a time of this crawl: when the page was fetched or read."""
    now = time.time()
    return any(
        began - _CLOCK_TOLERANCE <= moment <= now + _CLOCK_TOLERANCE for moment in _moments(value)
    )


def _moments(value: Any) -> list[float]:
    """Return the Unix times that a value may stand for."""
    if isinstance(value, str) and len(value) <= _LONGEST_MOMENT:
        try:
            value = datetime.fromisoformat(value.strip().replace("Z", "+00:00"))
        except ValueError:
            return []
    if isinstance(value, datetime):
        try:
            if value.tzinfo is None:
                return [value.timestamp(), value.replace(tzinfo=timezone.utc).timestamp()]
            return [value.timestamp()]
        except (ValueError, OverflowError, OSError):
            return []
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return [float(value), value / 1000]
    return []


def _short(text: str) -> str:
    text = " ".join(text.split())
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")

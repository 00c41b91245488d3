"""Relative times in a line: "3 hours ago", "vor 1 Tag", "yesterday". Each visit has another one.

The words are those of dateparser: CLDR's, and others that people write ("3 hrs ago"). A time in the
future is content ("in 3 days"), and so is one without a direction ("3 days").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.machinery import SourceFileLoader
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from simhash_gate.fingerprints.words import unsegmented, words

AGO = "<ago>"
"""The token that stands for a relative time. No word is like it."""

# The first in dateparser's order, which is that of their use on the web. A name of a day in a rarer
# language is a name of a person in others: Swahili "leo" and "jana".
_LANGUAGES = 100
_NAMED = 40
_WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_UNITS = ["second", "minute", "hour", "day", "week", "month", "year"]
_DIGITS = re.compile(r"\d+")
_SLOT = re.compile(r"\(\\d[^()]*\)(?:\\s\*)?")  # in dateparser's patterns


class _Known(NamedTuple):
    """What all languages say, with 0 for the digits of a number."""

    ago: dict[str, Any]  # token -> the tokens that can follow; "" where a time can end
    durations: frozenset[str]
    numerals: frozenset[str]  # words that are numbers: "an hour ago"
    hints: frozenset[str]  # each relative time has one of these
    weekdays: frozenset[str]


def without_relative_times(tokens: Sequence[str], alone: bool = False) -> Sequence[str]:
    """Return the tokens of a line, as `words` gives them, with `AGO` for each relative time.

    `alone`: a duration that is the whole line ("3h") is a relative time, too. This is so in an
    element <time> whose `datetime` is not a duration.
    """
    known = _known()
    if not alone and known.hints.isdisjoint(tokens):
        return tokens
    shape = [token if token.isalpha() else _DIGITS.sub("0", token) for token in tokens]
    if alone and " ".join(shape) in known.durations:
        return [AGO]
    kept: list[str] = []
    at = 0
    while at < len(shape):
        node: Any = known.ago
        end = at
        for ahead, token in enumerate(shape[at:], at + 1):
            node = (token in known.numerals and node.get("0")) or node.get(token)
            if not node:
                break
            end = ahead if "" in node else end
        kept.append(AGO if end > at else tokens[at])
        at = max(end, at + 1)
    return kept


def weekdays() -> frozenset[str]:
    """Return the names of the days of a week, as `words` gives them."""
    return _known().weekdays


def _phrase(text: str) -> str:
    return " ".join(words(text))


@cache
def _known() -> _Known:
    languages = list(_languages())
    rules = [rule for info in languages for rule in info.get("simplifications", ())]
    numerals = (word for rule in rules for word, number in rule.items() if number.isdigit())
    ago: dict[str, Any] = {}
    durations: set[str] = set()
    hints: set[str] = set()
    for rank, info in enumerate(languages):
        units = {_phrase(name) for unit in _UNITS for name in info.get(unit, ())}
        durations |= {f"0{gap}{unit}" for unit in units for gap in ("", " ")}
        found, counted = _counted(info, units)
        hints |= counted
        if rank < _NAMED:
            named = _named(info)
            hints |= {max(phrase.split(), key=len) for phrase in named}
            found |= named
        for phrase in found:
            node = ago
            for token in phrase.split():
                node = node.setdefault(token, {})
            node[""] = {}
    days = {
        _phrase(name)
        for info in languages[:_NAMED]
        for day in _WEEKDAYS
        for name in info.get(day, ())
    }
    numbers = frozenset(filter(str.isalpha, numerals))
    return _Known(ago, frozenset(durations), numbers, frozenset(hints), frozenset(days))


def _counted(info: dict[str, Any], units: set[str]) -> tuple[set[str], set[str]]:
    """Return how a language says "3 hours ago", and its words for "ago"."""
    patterns = {
        f" {_phrase(_SLOT.sub(' 0 ', text))} "
        for key, texts in info.get("relative-type-regex", {}).items()
        if key.endswith(" ago") and key.split()[1] in _UNITS
        for text in texts
    }
    said = [f" {_phrase(word)} " for word in info.get("ago", ())]
    used = [word for word in said if any(word in pattern for pattern in patterns)]
    if used:  # a pattern without it is of something else: Danish "for 3 timer" lasts three hours
        patterns = {pattern for pattern in patterns if any(word in pattern for word in used)}
    around = {pair for word in said[:1] if word not in used for pair in ((word, " "), (" ", word))}
    for pattern in patterns:
        before, _, rest = pattern.partition(" 0 ")
        unit = max((unit for unit in units if rest.startswith(f"{unit} ")), key=len, default=None)
        if unit:
            around.add((f"{before} ", rest[len(unit) :]))
    around = {pair for pair in around if "".join(pair).strip()}
    hints = {max("".join(pair).split(), key=len) for pair in around}
    found: set[str] = set()
    for pattern in patterns:
        if not hints.isdisjoint(pattern.split()):
            found |= {pattern, pattern.replace(" 0 ", " 0", 1)}
    # One character can be another thing as well: Korean "9시 전" is "before nine o'clock".
    for (before, after), unit in product(around, units):
        if len(unit) > 1:
            numbers = ("0 ",) if unsegmented([unit]) else ("0 ", "0", "")
            found |= {f"{before}{number}{unit}{after}" for number in numbers}
    return found, hints


def _named(info: dict[str, Any]) -> set[str]:
    """Return how a language says "yesterday", if it does not also mean "tomorrow"."""
    named = info.get("relative-type", {})
    future = {text for key in named if key.startswith("in ") for text in named[key]}
    return {
        _phrase(text)
        for key in named
        if key.endswith(" ago") and key[0] != "0" and (key[0] != "1" or key.endswith(" day ago"))
        for text in named[key]
        if text not in future
    }


def _languages() -> Iterator[dict[str, Any]]:
    """Yield dateparser's data of each language, without its code, which takes 13 MB."""
    spec = find_spec("dateparser")
    assert spec is not None
    data = Path(spec.origin or "").parent / "data"
    for language in _load(data / "languages_info.py")["language_order"][:_LANGUAGES]:
        yield _load(data / f"date_translation_data/{language}.py")["info"]


def _load(path: Path) -> dict[str, Any]:
    module = ModuleType(path.stem)
    SourceFileLoader(path.stem, str(path)).exec_module(module)
    return vars(module)

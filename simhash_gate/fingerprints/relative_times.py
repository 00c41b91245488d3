"""Relative times in a line: "3 hours ago", "vor 1 Tag", "yesterday". Each visit has another one.

The words are those of dateparser: CLDR's, and others that people write ("3 hrs ago"). A time in the
future is content ("in 3 days"), and so is one without a direction ("3 days").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.abc import Loader
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec, module_from_spec
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, cast

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

    ago: dict[str, Any]  # token -> the tokens that can follow; "" -> the place in `_UNITS`
    durations: dict[str, int]
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
        for ahead in range(at, len(shape)):
            token = shape[ahead]
            node = (token in known.numerals and node.get("0")) or node.get(token)
            if not node:
                break
            if "" in node:
                end, unit = ahead + 1, node[""]
        if end == at:
            kept.append(tokens[at])
            end += 1
        else:
            for width in (1, 2):  # "3 hours, 20 minutes ago", not "45 minutes, 3 days ago"
                before = " ".join(shape[max(at - width, 0) : at])
                if known.durations.get(before) == unit + 1 and kept[-1] != AGO:
                    del kept[-width:]
                    break
            kept.append(AGO)
        at = end
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
    durations: dict[str, int] = {}
    hints: set[str] = set()
    for rank, info in enumerate(languages):
        units = {_phrase(name): at for at, of in enumerate(_UNITS) for name in info.get(of, ())}
        durations.update((f"0{gap}{unit}", units[unit]) for unit in units for gap in ("", " "))
        found, counted = _counted(info, units)
        hints |= counted
        if rank < _NAMED:
            named = _named(info)
            hints |= {max(phrase.split(), key=len) for phrase in named}
            found |= named
        for phrase, at in found.items():
            node = ago
            for token in phrase.split():
                node = node.setdefault(token, {})
            node[""] = at
    days = {
        _phrase(name)
        for info in languages[:_NAMED]
        for day in _WEEKDAYS
        for name in info.get(day, ())
    }
    numbers = frozenset(filter(str.isalpha, numerals))
    return _Known(ago, durations, numbers, frozenset(hints), frozenset(days))


def _counted(info: dict[str, Any], units: dict[str, int]) -> tuple[dict[str, int], set[str]]:
    """Return how a language says "3 hours ago", and its words for "ago"."""
    patterns = {
        f" {_phrase(_SLOT.sub(' 0 ', text))} ": _UNITS.index(key.split()[1])
        for key, texts in info.get("relative-type-regex", {}).items()
        if key.endswith(" ago") and key.split()[1] in _UNITS
        for text in texts
    }
    said = [f" {_phrase(word)} " for word in info.get("ago", ())]
    used = [word for word in said if any(word in pattern for pattern in patterns)]
    if used:  # a pattern without it is of something else: Danish "for 3 timer" lasts three hours
        patterns = {p: at for p, at in patterns.items() if any(word in p for word in used)}
    around = {pair for word in said[:1] if word not in used for pair in ((word, " "), (" ", word))}
    for pattern in patterns:
        before, _, rest = pattern.partition(" 0 ")
        unit = max((unit for unit in units if rest.startswith(f"{unit} ")), key=len, default=None)
        if unit:
            around.add((f"{before} ", rest[len(unit) :]))
    around = {pair for pair in around if "".join(pair).strip()}
    hints = {max("".join(pair).split(), key=len) for pair in around}
    found: dict[str, int] = {}
    for pattern, at in patterns.items():
        if not hints.isdisjoint(pattern.split()):
            found |= {pattern: at, pattern.replace(" 0 ", " 0", 1): at}
    # One character can be another thing as well: Korean "9시 전" is "before nine o'clock".
    for (before, after), unit in product(around, units):
        if len(unit) > 1:
            numbers = ("0 ",) if unsegmented([unit]) else ("0 ", "0", "")
            found |= {f"{before}{number}{unit}{after}": units[unit] for number in numbers}
    return found, hints


def _named(info: dict[str, Any]) -> dict[str, int]:
    """Return how a language says "yesterday", if it does not also mean "tomorrow"."""
    named = info.get("relative-type", {})
    future = {text for key in named if key.startswith("in ") for text in named[key]}
    return {
        _phrase(text): len(_UNITS)
        for key in named
        if key.endswith(" ago") and (key[0] not in "01" or key.endswith(" day ago"))
        for text in named[key]
        if text not in future
    }


def _languages() -> Iterator[dict[str, Any]]:
    """Yield dateparser's data of each language, without its code, which takes 13 MB."""
    data = Path(cast(str, cast(ModuleSpec, find_spec("dateparser")).origin)).parent / "data"
    for language in _load("languages_info", data).language_order[:_LANGUAGES]:
        yield _load(language, data / "date_translation_data").info


def _load(name: str, folder: Path) -> Any:
    spec = cast(ModuleSpec, PathFinder.find_spec(name, [str(folder)]))
    module = module_from_spec(spec)
    cast(Loader, spec.loader).exec_module(module)
    return module

"""The kinds of values of settings: how each is read, and the allowed values in words."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, fields
from difflib import get_close_matches
from typing import Any, NamedTuple

from simhash_gate.common.times import seconds_of
from simhash_gate.common.wording import require, shortened

PREFIX = "SIMHASH_GATE_"
MIB = 1 << 20
_LONGEST_MESSAGE = 1_000  # characters
_LONGEST_VALUE = 80  # of a line of JSON, in a message
FLAGS = dict.fromkeys(("true", "1", "yes", "on"), True)
FLAGS |= dict.fromkeys(("false", "0", "no", "off"), False)
"""The words for True and False."""
_OF_PROBES = 0.05


class SettingsError(ValueError):
    """A setting, or a policy override, has a value that can't be used."""

    def __init__(self, message: str) -> None:
        # The value may be long, and the allowed values come after it.
        half = _LONGEST_MESSAGE // 2
        long = len(message) > _LONGEST_MESSAGE
        super().__init__(f"{message[:half]} … {message[-half:]}" if long else message)


def meant(name: str, names: Iterable[str], prefix: str = "") -> str:
    """Return a message on an unknown name: the most similar name, or all names if none is."""
    near = get_close_matches(name, names, 1)
    listed = ", ".join(prefix + name for name in near or names)
    return f"did you mean {listed}?" if near else f"known are {listed}"


class ValueKind(NamedTuple):
    """A kind of values: the allowed values in words, and the function that reads one."""

    allowed: str
    parse: Callable[[Any], Any]

    def of(self, name: str, value: Any) -> Any:
        """Return the parsed value. Raises `SettingsError` with name, value, what is allowed."""
        try:
            return self.parse(value)
        except SettingsError as error:  # its message is more precise
            raise SettingsError(f"{name}: {error}") from None
        except (TypeError, ValueError, KeyError, OverflowError):
            raise SettingsError(f"{name} = {value!r}: expected {self.allowed}") from None


def setting(default: Any, kind: ValueKind, meaning: str, *, of_request: bool = True) -> Any:
    """Return a field of a dataclass that is a setting. Its documentation begins with `meaning`.

    With `of_request`, a setting of domains can also be set for one request.
    """
    metadata = {"kind": kind, "meaning": meaning, "of_request": of_request}
    return field(default=default, metadata=metadata)


def settings_in(table: Any) -> dict[str, ValueKind]:
    """Return the settings of a dataclass by name, with their kinds."""
    return {field.name: field.metadata["kind"] for field in fields(table) if field.metadata}


class Checked:
    """A dataclass whose settings are read when one is made. Raises `SettingsError`."""

    __slots__ = ()

    def __post_init__(self) -> None:
        for name, kind in settings_in(type(self)).items():
            object.__setattr__(self, name, kind.of(name, getattr(self, name)))


def read_one(source: Mapping[str, Any], name: str, kind: ValueKind, default: Any) -> Any:
    """Return one setting, for use before all are read. Raises `SettingsError`."""
    value = source.get(PREFIX + name)
    return default if value is None else kind.of(PREFIX + name, value)


def json_value(
    allowed: str, kind: type, is_one: Callable[[Any], bool] = lambda _: True
) -> ValueKind:
    """Values that JSON has of a kind: a number may be whole where it need not be."""

    def parse(value: Any) -> Any:
        if type(value) not in ((float, int) if kind is float else (kind,)) or not is_one(value):
            raise TypeError
        return kind(value)

    return ValueKind(allowed, parse)


def checked(line: Mapping[str, Any], key: str, kind: ValueKind) -> Any:
    """Return a value of a JSON object, or None. Raises ValueError that says what is allowed."""
    value = line.get(key)
    try:
        return None if value is None else kind.parse(value)
    except (TypeError, ValueError, OverflowError):
        shown = shortened(repr(value), _LONGEST_VALUE)
        raise ValueError(f"{key!r} is {shown}: expected {kind.allowed}") from None


def whole_number(low: int, high: int | None = None) -> ValueKind:
    """Return the kind of values that are whole numbers from `low` to `high`, or from `low` on."""

    def parse(value: Any) -> int:
        number = int(value) if isinstance(value, str) else value
        if isinstance(number, bool) or not isinstance(number, int):
            raise TypeError
        if number < low or (high is not None and number > high):
            raise ValueError
        return number

    allowed = f"at least {low}" if high is None else f"from {low} to {high}"
    return ValueKind(f"a whole number {allowed}", parse)


def one_of(*choices: str) -> ValueKind:
    """Return the kind of values that are one of these choices."""
    return ValueKind("one of " + ", ".join(map(repr, choices)), {c: c for c in choices}.__getitem__)


def _number(value: Any) -> float:
    if isinstance(value, bool):
        raise TypeError
    return float(value)


def _seconds(value: Any) -> float:
    span = isinstance(value, str) and value.strip()[-1:].isalpha() and value.strip()[:1].isdigit()
    number = seconds_of(value) if span else _number(value)
    if not (math.isfinite(number) and number > 0):
        raise ValueError
    return number


def _probed(value: Any) -> float:
    """Return the share of pages that are fetched all the same, 0 if the setting is off."""
    word = str(value).strip().lower()
    share = (_OF_PROBES if FLAGS[word] else 0.0) if word in FLAGS else _number(value)
    if not 0 <= share <= 1:
        raise ValueError
    return share


def _budget(value: Any) -> int:
    number: int = WHOLE.parse(0 if value in (None, "", "None") else value)
    if 0 < number < MIB:  # the user probably meant megabytes
        raise ValueError
    return number


def _path(value: Any) -> str:
    return require(os.fspath(value), str, "the path as text")


def _path_pattern(value: Any) -> str:
    pattern = _path(value or "")
    _ = pattern % {"name": "", "time": ""}
    return pattern


def _names(value: Any) -> tuple[str, ...]:
    names = value.split(",") if isinstance(value, str) else list(value)
    if not all(isinstance(n, str) and "*" not in (n.strip(), *n.strip()[:-1]) for n in names):
        raise TypeError
    return tuple(name.strip() for name in names if name.strip())


def _selectors(value: Any) -> tuple[str, ...]:
    from cssselect import HTMLTranslator, SelectorError  # few name fields

    if isinstance(value, str):  # a selector may have commas: a list is written in JSON
        value = json.loads(value) if value.lstrip().startswith("[") and '"' in value else [value]
    selectors = tuple(value)
    for selector in selectors:
        try:
            HTMLTranslator().css_to_xpath(ATTRIBUTE.sub("", selector))
        except SelectorError as error:
            raise SettingsError(f"{selector!r} is no CSS selector: {error}") from None
    return selectors


ATTRIBUTE = re.compile(r"@[\w:-]+\Z")
TEXT = json_value("a string", str)
BITS, COUNT, WHOLE = whole_number(0, 64), whole_number(1), whole_number(0)
FLAG = ValueKind("True or False", lambda value: FLAGS[str(value).strip().lower()])
OPTIONAL_SECONDS = ValueKind(
    "a number of seconds above 0, or None for no limit; or a time such as '12h' or '7d'",
    lambda value: None if value in (None, "", "None") else _seconds(value),
)
PROBED = ValueKind("True, False, or the share from 0 to 1 that is fetched all the same", _probed)
BUDGET = ValueKind(f"bytes, a whole number at least {MIB}, or 0 for none", _budget)
PATH = ValueKind("the path of a file or folder", _path)
PATH_PATTERN = ValueKind(
    "the path of a file, in which %(name)s and %(time)s stand for the spider and the start "
    "of the crawl, and %% for a per cent sign",
    _path_pattern,
)
PARAMETERS = ValueKind("names of query parameters, as a list; one may end in *, not be it", _names)
SELECTORS = ValueKind("CSS selectors, as a list", _selectors)
NAMES = ValueKind("names: a list, or with commas between them", _names)

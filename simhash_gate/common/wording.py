"""Wording of messages: numbers with nouns, and problems with inputs."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TypeVar

T = TypeVar("T")
Say = Callable[[str], object]
Complain = Callable[[str, str], None]
"""Called with the place of an input that can't be used (`file`, `file:line`), and why."""


class MissingExtraError(Exception):
    """An optional dependency is not installed. The message says how to install it."""


def need(package: str, what: str, extra: str) -> Any:
    """Return a package that `what` needs. Raises `MissingExtraError`."""
    try:
        return import_module(package)
    except ImportError:
        message = f"{what} needs {package}: pip install 'simhash-gate[{extra}]'"
        raise MissingExtraError(message) from None


_FIRST, _END = -62_135_596_800, 253_402_300_800  # the years 1 and 10,000: all that datetime shows


def require(value: object, kind: type[T], expected: str) -> T:
    """Return a value of a kind. Raises TypeError that says what is expected for any other."""
    if not isinstance(value, kind):
        raise TypeError(f"expected {expected}, not {value!r:.80}")
    return value


def require_time(value: object) -> float:
    """Return a Unix time. Raises ValueError for any other value: text, milliseconds, infinity."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and _FIRST <= value < _END:  # type: ignore[operator]
        return float(value)  # type: ignore[arg-type]
    raise ValueError(f"expected a Unix time in seconds, not {value!r:.80}")


@contextmanager
def complaining(complain: Complain, place: str) -> Iterator[None]:
    """If the block raises OSError or ValueError, report it with the place, and go on after it."""
    try:
        yield
    except OSError as error:
        complain(place, why(error))
    except ValueError as error:
        complain(place, str(error))


def why(error: OSError) -> str:
    """Return the reason of an error without the path, which the place names already."""
    return error.strerror or str(error)


def how_many(number: int, noun: str, form: str = "") -> str:
    """Return a number with a noun: "1 page", "2 pages". `form` is the format of the number."""
    return f"{number:{form}} {noun}{'s' * (abs(number) != 1)}"


def unread(folder: str, number: int, some: Collection[str]) -> str:
    """Return how many other files a folder has, with the names of some."""
    names = [*(os.path.relpath(it, folder) for it in some), *["…"] * (number > len(some))]
    return f"{how_many(number, 'other file')} not read ({', '.join(names)})"


def printable(text: str) -> str:
    """Return a page's text on one line, without characters that control a terminal."""
    return text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)


def shortened(text: str, longest: int) -> str:
    """Return a text of at most so many characters; the last tells that more was cut."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"

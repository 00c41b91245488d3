"""What decides the fingerprint of a page besides its bytes and its URL, and the tables it names."""

from __future__ import annotations

import hashlib
import importlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from simhash_gate.values import Kind, SettingsError, setting, settings_in

if TYPE_CHECKING:
    from simhash_gate.fingerprints.features import Shingle
    from simhash_gate.page.extract import Extractor

ALGORITHM = 19  # raise it with every change that moves fingerprints
STEADY = "simhash_gate.page.extract.SteadyExtractor"
READABILITY = "simhash_gate.page.extract.ReadabilityExtractor"
_SHINGLE = re.compile(r"(?:word:(\d{1,2}))?(?: (?=char)|\b)(?:char:(\d{1,2}))?")


def shingle_sizes(shingle: str) -> tuple[Shingle, int, int]:
    """Return what is hashed, and of how many words or else characters a shingle is."""
    found = _SHINGLE.fullmatch(shingle)
    word, char = found.groups() if found else (None, None)
    sizes = [int(size) for size in (word, char) if size]
    if not sizes or not all(1 <= size <= 20 for size in sizes):
        raise ValueError
    kind: Shingle = "auto" if word and char else "word" if word else "char"
    return kind, int(word or 1), int(char or 1)


def _shingle(value: Any) -> str:
    shingle_sizes(value)
    return str(value)


@lru_cache(maxsize=8)
def load_idf(source: str | tuple[tuple[str, float], ...]) -> dict[str, float]:
    """Return the weights of an IDF table. Raises `SettingsError` for what is none."""
    if not isinstance(source, str):
        return dict(source)
    try:
        return _weights(json.loads(Path(source).read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise SettingsError(f"{source}: expected a readable JSON file ({error})") from error
    except TypeError:
        raise SettingsError(f"{source}: expected {IDF.allowed}") from None


@lru_cache(maxsize=8)
def left_out(source: str | tuple[tuple[str, float], ...]) -> frozenset[str]:
    """Return the words of an IDF table that weigh nothing."""
    return frozenset(name for name, weight in load_idf(source).items() if not weight)


def _weights(table: Any) -> dict[str, float]:
    """Return a table, a mapping or pairs, as it is used. Raises TypeError and ValueError."""
    if not isinstance(table, (Mapping, tuple)):
        raise TypeError
    pairs = table.items() if isinstance(table, Mapping) else table
    return {_word(name): _weight(weight) for name, weight in pairs}


def _word(name: object) -> str:
    if not isinstance(name, str):
        raise TypeError
    return name


def _weight(given: object) -> float:
    if not isinstance(given, Real) or isinstance(given, bool):
        raise TypeError
    weight = float(given)
    if not 0 <= weight < math.inf:
        raise ValueError
    return weight


def _idf(value: Any) -> str | tuple[tuple[str, float], ...]:
    """Return a table in a form that can be hashed: the path of its file, or its pairs."""
    if isinstance(value, str | Path):
        load_idf(str(value))
        return str(value)
    return tuple(sorted(_weights(value).items()))


@lru_cache(maxsize=8)
def load_extractor(path: str) -> Extractor:
    """Return what finds articles. Raises `SettingsError` for a path that leads to no class."""
    try:
        module, _, name = path.rpartition(".")
        return cast("Extractor", getattr(importlib.import_module(module), name)())
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise SettingsError(f"{path}: expected the path of a class ({error})") from error


def _extractor(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    if value not in (STEADY, READABILITY):  # to load these takes longer than all else
        load_extractor(value)
    return value


SHINGLE = Kind("'word:3 char:5', or one of the two, with numbers from 1 to 20", _shingle)
IDF = Kind(
    "a JSON file or a mapping: words or shingles, as strings, with finite numbers of 0 or more",
    _idf,
)
EXTRACTOR = Kind("the path of a class", _extractor)


@dataclass(frozen=True)
class Options:
    """What decides the fingerprint of a page besides its bytes and its URL.

    An `idf` that is a mapping is frozen into pairs. Raises `SettingsError` for a value that is not
    allowed.

    `markdown` asks for `Page.markdown` to be made where the page
    is read; without it, it is made when it is first asked for. `anchors` asks for `Page.anchors`.
    `compare` are domains, and the CSS selectors of the fields that `Page.sketch` has of their
    pages; those of all others under "".
    None of these decides a fingerprint.
    """

    shingle: str = setting("word:3 char:5", SHINGLE, "What is hashed")
    idf: str | tuple[tuple[str, float], ...] = setting((), IDF, "Weights of words or shingles")
    extractor: str = setting(STEADY, EXTRACTOR, "The class that finds the article")
    markdown: bool = False
    anchors: bool = False
    compare: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def __post_init__(self) -> None:
        for name, kind in settings_in(Options).items():
            object.__setattr__(self, name, kind.of(name, getattr(self, name)))


def pipeline_version(options: Options = Options()) -> str:
    """Return a short digest of all that decides fingerprints; two versions never compare."""
    parts = {
        "algorithm": ALGORITHM,
        "shingle": options.shingle,
        "extractor": options.extractor,
        "idf": sorted(load_idf(options.idf).items()),
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]

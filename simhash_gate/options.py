"""What decides the fingerprint of a page besides its bytes and its URL, and the tables it names."""

from __future__ import annotations

import hashlib
import importlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from simhash_gate.fingerprints.words import SIGNS, words

if TYPE_CHECKING:
    from simhash_gate.fingerprints.features import Shingle
    from simhash_gate.page.extract import Extractor

ALGORITHM = 18  # raise it with every change that moves fingerprints
STEADY = "simhash_gate.page.extract.SteadyExtractor"
READABILITY = "simhash_gate.page.extract.ReadabilityExtractor"

_UNDECIDED = (
    "markdown",
    "anchors",
    "compare",
)  # options that fingerprints do not depend on


def _invalid(name: str, value: object, allowed: str) -> ValueError:
    return ValueError(f"{name} = {value!r}: expected {allowed}")


@lru_cache(maxsize=8)
def load_idf(source: str | tuple[tuple[str, float], ...]) -> dict[str, float]:
    """Return the weights of an IDF table. Raises ValueError for what is none."""
    if not isinstance(source, str):
        return dict(source)
    try:
        table = json.loads(Path(source).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise _invalid("idf", source, f"a readable JSON file ({error})") from error
    return _weights(source, table)


def _weights(source: object, table: Any) -> dict[str, float]:
    """Return a table, a mapping or pairs, as it is used. Raises ValueError that names `source`."""
    pairs = table.items() if isinstance(table, Mapping) else table
    try:
        if isinstance(table, (Mapping, tuple)):
            return {_word(name): _weight(weight) for name, weight in pairs}
    except (TypeError, ValueError, OverflowError):
        pass
    raise _invalid("idf", source, "words or shingles, as strings, with finite numbers of 0 or more")


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


@lru_cache(maxsize=8)
def load_stop_words(source: str | tuple[str, ...]) -> frozenset[str]:
    """Return the words that a file has, or that are given. Raises ValueError for what is none."""
    lines: Any = source
    if isinstance(source, str):
        try:
            lines = Path(source).read_text(encoding="utf-8").split()
        except (OSError, ValueError) as error:
            raise _invalid("stop_words", source, f"a readable text file ({error})") from error
    if not all(isinstance(word, str) for word in lines):
        raise _invalid("stop_words", source, "a text file, or words")
    return frozenset(word for line in lines for word in words(line)) - SIGNS


@lru_cache(maxsize=8)
def load_extractor(path: str) -> Extractor:
    """Return what finds articles. Raises ValueError for a path that leads to no class."""
    try:
        module, _, name = path.rpartition(".")
        return cast("Extractor", getattr(importlib.import_module(module), name)())
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise _invalid("extractor", path, f"the path of a class ({error})") from error


def _frozen(name: str, source: Any) -> Any:
    """Return the weights or words of an option in a form that can be hashed."""
    if isinstance(source, Path):
        return str(source)
    if name == "idf" and isinstance(source, (Mapping, tuple)):
        return tuple(sorted(_weights(source, source).items()))
    if name == "stop_words" and isinstance(source, (list, set, frozenset)):
        return tuple(sorted(source))
    return source


@dataclass(frozen=True)
class Options:
    """What decides the fingerprint of a page besides its bytes and its URL.

    `shingle` is `auto`, `word` or `char`; `shingle_size` counts words, `char_shingle_size`
    characters. `idf` is a JSON file or a mapping of word or shingle -> weight, `stop_words` a text
    file, or the words. `extractor` is the path of a class that finds the article. Mappings and
    lists are frozen into tuples. Raises ValueError for a value that is not allowed.

    `markdown` asks for `Page.markdown` to be made where the page
    is read; without it, it is made when it is first asked for. `anchors` asks for `Page.anchors`.
    `compare` are domains, and the CSS selectors of the fields that `Page.sketch` has of their
    pages; those of all others under "".
    None of these decides a fingerprint.
    """

    shingle: Shingle = "auto"
    shingle_size: int = 3
    char_shingle_size: int = 5
    idf: str | tuple[tuple[str, float], ...] = ()
    stop_words: str | tuple[str, ...] = ()
    extractor: str = STEADY
    markdown: bool = False
    anchors: bool = False
    compare: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def __post_init__(self) -> None:
        for name in ("idf", "stop_words"):
            object.__setattr__(self, name, _frozen(name, getattr(self, name)))
        if self.shingle not in ("auto", "word", "char"):
            raise _invalid("shingle", self.shingle, "'auto', 'word' or 'char'")
        for name in ("shingle_size", "char_shingle_size"):
            size = getattr(self, name)
            if not isinstance(size, int) or isinstance(size, bool) or not 1 <= size <= 20:
                raise _invalid(name, size, "a whole number from 1 to 20")
        for name, allowed in (
            ("idf", "a JSON file, or words or shingles with their weights"),
            ("stop_words", "a text file, or words"),
            ("extractor", "the path of a class"),
        ):
            if not isinstance(getattr(self, name), (str, tuple)):
                raise _invalid(name, getattr(self, name), allowed)
        load_idf(self.idf)
        load_stop_words(self.stop_words)
        if self.extractor not in (STEADY, READABILITY):  # to load these takes longer than all else
            load_extractor(self.extractor)


def pipeline_version(options: Options = Options()) -> str:
    """Return a short digest of all that decides fingerprints; two versions never compare."""
    parts = {name: value for name, value in asdict(options).items() if name not in _UNDECIDED} | {
        "algorithm": ALGORITHM,
        "idf": sorted(load_idf(options.idf).items()),
        "stop_words": sorted(load_stop_words(options.stop_words)),
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]

"""What is remembered of a page's words, to tell what exactly differs once two pages look alike.

A fingerprint knows how much of two texts differs, never what: a changed clock and a changed price
move it alike. A sketch keeps the sentences, compressed, or for a long page a hash of each.
"""

from __future__ import annotations

import json
import re
import zlib
from collections import Counter
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import NamedTuple

import mmh3

from simhash_gate.fingerprints.features import words

LIMIT = 5120
"""Bytes of a sketch beyond which sentences are kept as hashes."""

_SENTENCE = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])")
_SHOWN = 60
_PAIRED = 4  # sentences of each page, and characters of each sentence: it is for a person to read
_COMPARED = 150
_SAME_HEADLINE = 0.8  # of the words of the shorter one: templates add the name of the site


@dataclass(frozen=True, slots=True)
class Sketch:
    """The words of one page.

    `headline` is the article's own, "" if it has none; `title` the page's; `canonical` the address
    that the page gives itself; `identifiers` its product numbers. `sentences` are what it says,
    `fleeting` its lines about itself (clocks, counters). Of a long page there are only `hashes`.
    """

    headline: str = ""
    title: str = ""
    canonical: str = ""
    identifiers: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()
    fleeting: tuple[str, ...] = ()
    hashes: tuple[int, ...] = ()

    def encode(self) -> bytes:
        """Return the sketch as bytes, about `LIMIT` at most but for very long pages."""
        whole = _pack(self)
        if len(whole) <= LIMIT:
            return whole
        hashes = tuple(_hashed(self.sentences))
        return _pack(replace(self, sentences=(), fleeting=(), hashes=hashes))


def decode(data: bytes) -> Sketch:
    """Return the sketch that `encode` wrote. Raises ValueError for anything else."""
    try:
        headline, title, canonical, *lists = json.loads(zlib.decompress(data))
        return Sketch(headline, title, canonical, *map(tuple, lists))
    except (zlib.error, TypeError, ValueError) as error:
        raise ValueError(f"no sketch: {error}") from error


class Comparison(NamedTuple):
    """Whether two pages say the same, and what differs, in words."""

    same: bool
    difference: str


def sentences(text: str) -> list[str]:
    """Split a block of text after its sentences."""
    return [part for part in _SENTENCE.split(text) if part]


def compare(kept: Sketch, new: Sketch) -> Comparison:
    """Compare two pages by what they say, whatever order their blocks stand in.

    Another headline, product number or sentence makes another page; what is fleeting does not.
    """
    for before, after in (
        (" ".join(kept.identifiers), " ".join(new.identifiers)),
        *(() if _same_headline(kept, new) else ((kept.headline, new.headline),)),
        *(() if _same_address(kept, new) else ((kept.title, new.title),)),
    ):
        if before and after and before != after:
            return Comparison(False, _change(before, after))
    removed, added = _differing(kept, new)
    if removed or added:
        return Comparison(False, _first_change(removed, added))
    before, after = (" ".join(sketch.fleeting) for sketch in (kept, new))
    if before != after and not (kept.hashes or new.hashes):
        return Comparison(True, f"only {_change(before, after)} differs")
    return Comparison(True, "the same text")


def _pack(sketch: Sketch) -> bytes:
    values = [getattr(sketch, name) for name in sketch.__slots__]
    return zlib.compress(json.dumps(values, ensure_ascii=False).encode("utf-8", "replace"), 6)


def _hashed(texts: tuple[str, ...]) -> list[int]:
    return [mmh3.hash(" ".join(words(text)), signed=False) for text in texts]


def _same_headline(a: Sketch, b: Sketch) -> bool:
    one, other = set(words(a.headline)), set(words(b.headline))
    return len(one & other) >= _SAME_HEADLINE * min(len(one), len(other))


def _same_address(a: Sketch, b: Sketch) -> bool:
    if not a.canonical or not b.canonical or a.canonical == b.canonical:
        return True
    return bool(set(words(a.title)) & set(words(b.title)))


def _differing(kept: Sketch, new: Sketch) -> tuple[list[str], list[str]]:
    """Return the sentences that only one of the pages has, "" for one that is known by its hash."""
    if kept.hashes or new.hashes:
        before = kept.hashes or tuple(_hashed(kept.sentences))
        after = new.hashes or tuple(_hashed(new.sentences))
        texts = dict(zip(after, new.sentences, strict=False)) if new.sentences else {}
        gone, come = Counter(before) - Counter(after), Counter(after) - Counter(before)
        return [""] * gone.total(), [texts.get(number, "") for number in come.elements()]
    old, young = ([" ".join(words(text)) for text in page.sentences] for page in (kept, new))
    shown = dict(zip(old, kept.sentences, strict=True))
    shown.update(zip(young, new.sentences, strict=True))
    removed = list((Counter(old) - Counter(young)).elements())
    added = list((Counter(young) - Counter(old)).elements())
    if " ".join(removed).split() == " ".join(added).split():  # the same, but split elsewhere
        return [], []
    return [shown[text] for text in removed if text], [shown[text] for text in added if text]


def _first_change(removed: list[str], added: list[str]) -> str:
    """Describe the change that tells most: a sentence that was altered, else one come or gone."""
    pairs = [(a, b) for a in removed[:_PAIRED] for b in added[:_PAIRED] if a and b]
    ratio = SequenceMatcher(None, autojunk=False)
    for a, b in pairs:
        ratio.set_seqs(a[:_COMPARED], b[:_COMPARED])
        if ratio.real_quick_ratio() > 0.6 and ratio.ratio() > 0.6:
            return _change(a, b)
    if any(added):
        return f"{_short(next(filter(None, added)))} was added"
    if any(removed):
        return f"{_short(next(filter(None, removed)))} is gone"
    return f"{len(removed)} sentences are gone and {len(added)} came"


def _change(before: str, after: str) -> str:
    """Show where two texts begin to differ, with a word of context."""
    a, b = before.split(), after.split()
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    end = 0
    while end < min(len(a), len(b)) - start and a[-1 - end] == b[-1 - end]:
        end += 1
    start = max(0, start - 1)
    old = " ".join(a[start : len(a) - end])
    new = " ".join(b[start : len(b) - end])
    return f"{_short(old)} → {_short(new)}"


def _short(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")

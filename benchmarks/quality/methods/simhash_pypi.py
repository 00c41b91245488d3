"""The `simhash` package of PyPI, as its README uses it: on a text, as it comes."""

from __future__ import annotations

import re

from simhash import Simhash

from benchmarks.quality.methods.base import HammingMethod
from benchmarks.quality.text import readability_text

_WORD = re.compile(r"\w+")
_WIDTH = 4


class ReadabilitySimhash(HammingMethod):
    """On readability-lxml's text."""

    title = "`simhash` of readability's text"
    needs = ("simhash", "readability-lxml", "lxml")

    def fingerprint(self, body: bytes, url: str) -> int | None:
        return _value(readability_text(body))


def _value(text: str) -> int | None:
    # The README's feature list, four characters wide as the package's own default. `Simhash(text)`
    # gives the same value, but overflows under numpy 2 where a feature comes 256 times.
    said = "".join(_WORD.findall(text.lower()))
    features = [said[i : i + _WIDTH] for i in range(max(1, len(said) - _WIDTH + 1))]
    return int(Simhash(features).value) if said else None

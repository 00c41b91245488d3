"""datasketch's MinHash, the usual choice for large collections of texts.

On our text, and on trafilatura's with the parameters of two tools. These compare no estimate of
Jaccard: pages are copies if all hashes of one band are equal (locality-sensitive hashing).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from datasketch import MinHash

from benchmarks.quality.methods.base import Method
from benchmarks.quality.methods.gate import NEEDS, READING
from benchmarks.quality.methods.trafilatura_ import text_of
from benchmarks.quality.text import gate_text
from simhash_gate.fingerprints.features import shingles
from simhash_gate.fingerprints.words import words


class GateMinHash(Method):
    """128 permutations over 3-shingles; duplicates have an estimated Jaccard of 0.9 or more."""

    title = "datasketch MinHash of our text, Jaccard ≥ 0.9"
    needs = ("datasketch", *NEEDS)
    built_on = READING
    unit = "1 − Jaccard"
    threshold = 0.1
    permutations = 128

    def fingerprint(self, body: bytes, url: str) -> np.ndarray | None:
        return _sketch(shingles(words(gate_text(body))), self.permutations)

    def distance(self, a: np.ndarray, b: np.ndarray) -> float:
        return 1 - float(np.mean(a == b))


class Datatrove(Method):
    """14 bands of 8 hashes of five words, as `MinhashConfig` of datatrove 0.10 has by default."""

    title = "datatrove's MinHash (its parameters, by datasketch) of trafilatura's text"
    needs = ("datasketch", "trafilatura")
    bands, rows = 14, 8

    def fingerprint(self, body: bytes, url: str) -> np.ndarray | None:
        said = words(text_of(body, url))
        grams = [" ".join(said[i : i + 5]) for i in range(max(1, len(said) - 4))] if said else []
        return _sketch(grams, self.bands * self.rows)

    def distance(self, a: np.ndarray, b: np.ndarray) -> float:
        same = (a == b).reshape(self.bands, self.rows)
        return float(not same.all(axis=1).any())


class TextDedup(Datatrove):
    """250 permutations; 25 bands of 10, as text-dedup 0.4 has for its 0.7."""

    title = "text-dedup's MinHash (its parameters, by datasketch) of trafilatura's text"
    bands, rows = 25, 10


def _sketch(grams: Iterable[str], permutations: int) -> np.ndarray | None:
    found = {gram.encode("utf-8", "replace") for gram in grams}
    if not found:
        return None
    sketch = MinHash(permutations)
    sketch.update_batch(sorted(found))
    return sketch.hashvalues

"""datasketch's MinHash, the usual choice for large collections of texts, on our extracted text."""

from __future__ import annotations

import numpy as np
from datasketch import MinHash

from benchmarks.quality.methods.base import Method
from benchmarks.quality.methods.gate import NEEDS, READING
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
        found = {shingle.encode("utf-8", "replace") for shingle in shingles(words(gate_text(body)))}
        if not found:
            return None
        sketch = MinHash(self.permutations)
        sketch.update_batch(sorted(found))
        return sketch.hashvalues

    def distance(self, a: np.ndarray, b: np.ndarray) -> float:
        return 1 - float(np.mean(a == b))

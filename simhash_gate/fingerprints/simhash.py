"""Weighted features -> 64 bits, near for near sets of features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import mmh3
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

# Weights are summed as integers: the same features in another order give the same bits.
_WEIGHT_UNIT = 1 << 10


def simhash(features: Mapping[str, float] | Iterable[tuple[str, float]]) -> int:
    """Return the SimHash of weighted features, an unsigned 64-bit integer.

    Each feature is hashed to 64 bits (the first half of MurmurHash3 x64-128, little-endian) and
    votes with its weight for each bit; the sign of the sum is the bit, and a tie is 0. After
    Charikar, "Similarity estimation techniques from rounding algorithms" (STOC 2002), section 3, as
    used by Manku, Jain and Das Sarma, "Detecting near-duplicates for web crawling" (WWW 2007),
    section 2.

    The cosine of two pages' weights is estimated by cos(pi * distance / 64). No features give 0.
    """
    pairs = features.items() if isinstance(features, Mapping) else features
    names: list[str] = []
    weights: list[float] = []
    for name, weight in pairs:
        names.append(name)
        weights.append(weight)
    if not names:
        return 0
    digest = mmh3.mmh3_x64_128_digest
    hashes = b"".join([digest(name.encode("utf-8", "surrogatepass"))[:8] for name in names])
    bits = np.unpackbits(np.frombuffer(hashes, np.uint8).reshape(-1, 8), axis=1, bitorder="little")
    units = np.rint(np.asarray(weights) * _WEIGHT_UNIT).astype(np.int64)
    if (units == units[0]).all():
        positive = 2 * units[0] * bits.sum(axis=0, dtype=np.int64) > units[0] * len(units)
    else:
        positive = 2 * (units @ bits) > units.sum()
    return int.from_bytes(np.packbits(positive, bitorder="little").tobytes(), "little")

"""Weighted features -> 64 bits. Sets of features that share much have near fingerprints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import mmh3
import numpy as np

from simhash_gate.fingerprints.arrays import distinct

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simhash_gate.fingerprints.arrays import Fingerprints

# Weights are summed as integers: the same features in another order give the same bits.
_WEIGHT_UNIT = 1 << 10


def simhash(features: Mapping[str, float] | Iterable[tuple[str, float]]) -> int:
    """Return the SimHash of weighted features, an unsigned 64-bit integer.

    Each feature is hashed to 64 bits (the first half of MurmurHash3 x64-128, little-endian). It
    votes with its weight for each bit. The sign of the sum is the bit, and a tie gives 0. After
    Charikar, "Similarity estimation techniques from rounding algorithms" (STOC 2002), section 3, as
    used by Manku, Jain and Das Sarma, "Detecting near-duplicates for web crawling" (WWW 2007),
    section 2.

    The cosine of two pages' weights is estimated by cos(pi * distance / 64). No features give 0.
    """
    if isinstance(features, Mapping):
        names, weights = list(features), list(features.values())
    else:
        pairs = list(features)
        names, weights = [name for name, _ in pairs], [weight for _, weight in pairs]
    if not names:
        return 0
    hashes = [mmh3.hash_bytes(name.encode("utf-8", "surrogatepass")) for name in names]
    units = np.rint(np.asarray(weights) * _WEIGHT_UNIT).astype(np.int64)
    return _pack(2 * (units @ _bits(_halves(b"".join(hashes)))) > units.sum())


def simhash_of_set(names: Iterable[str | bytes]) -> int:
    """Return the SimHash of features that all have the same weight; repetitions do not count.

    Names may be UTF-8, and have no lone surrogates. The result is that of `simhash`, in half the
    time: only hashes are kept.
    """
    return simhash_of_hashes(_halves(b"".join(map(mmh3.hash_bytes, names))))


def simhash_of_hashes(hashes: Fingerprints) -> int:
    """Return the SimHash of features of one weight by their 64-bit hashes, which may repeat."""
    bits = _bits(distinct(hashes))
    return _pack(2 * _count(bits) > len(bits)) if len(bits) else 0


def _halves(hashes: bytes) -> Fingerprints:
    return np.frombuffer(hashes, "<u8")[::2].astype(np.uint64)


def _bits(hashes: Fingerprints) -> NDArray[np.uint8]:
    """Return a row of 64 bits for each hash, the lowest bit first."""
    octets = hashes.astype("<u8").view(np.uint8).reshape(-1, 8)
    return np.unpackbits(octets, axis=1, bitorder="little")


def _count(bits: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Sum the rows of ones and zeros. Eight columns are added at a time, as bytes up to 255."""
    eights = bits.view(np.uint64)
    sums = np.add.reduceat(eights, np.arange(0, len(eights), 255), axis=0)
    counts: NDArray[np.int64] = sums.view(np.uint8).sum(axis=0, dtype=np.int64)
    return counts


def _pack(bits: NDArray[np.bool_]) -> int:
    return int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little")

"""Words -> shingles, the features of a page -> 64 bits.

Sets of features that share much have near fingerprints. A shingle is three words in a row, or five
characters in scripts without spaces between words. Each shingle counts once, however often it
comes. Else a repeated phrase would outvote a paragraph.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import mmh3
import numpy as np
from numpy.typing import NDArray

from simhash_gate.fingerprints.arrays import Fingerprints, distinct
from simhash_gate.fingerprints.folding import CHARACTER, HashedLines

# Weights are summed as integers: the same features in another order give the same bits.
_WEIGHT_UNIT = 1 << 10
_WORDS, _CHARACTERS = 3, 5
# The hash of a word is multiplied by one of these odd numbers, for its place in the shingle.
_PLACES = np.array(
    [
        0x9E3779B97F4A7C15,
        0xC2B2AE3D27D4EB4F,
        0x165667B19E3779F9,
        0xD6E8FEB86659FD93,
        0xA0761D6478BD642F,
    ],
    np.uint64,
)


def shingle_hashes(words: HashedLines, salt: int = 0) -> Fingerprints:
    """Return a 64-bit hash of each shingle of a page's words, in order.

    The hashes of the words are combined. A shingle that begins with a character of a script without
    word spaces has five tokens, others have three. A text that is too short for a shingle is one
    itself. Another `salt` (64 bits) changes all hashes. The bits are mixed by the last step of
    MurmurHash3 (`fmix64`; Appleby 2011).
    """
    count = len(words.words)
    padded = np.zeros(count + _CHARACTERS, np.uint64)
    padded[:count] = words.words
    placed = [padded[at : at + count] * by for at, by in enumerate(_PLACES)]
    hashes = sum(placed[:_WORDS], np.full(count, salt, np.uint64))
    characters = words.are(CHARACTER)
    if characters.any():
        hashes += sum(placed[_WORDS:]) * characters
    sizes = np.where(characters, _CHARACTERS, _WORDS)
    whole = np.arange(count) + sizes <= count
    hashes = hashes[whole] if whole.any() else hashes[:1]
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        hashes = (hashes ^ (hashes >> np.uint64(33))) * np.uint64(factor)
    return hashes ^ (hashes >> np.uint64(33))


def simhash(features: Mapping[str, float] | Iterable[str]) -> int:
    """Return the SimHash of strings, an unsigned 64-bit integer. A mapping gives each its weight.

    Without weights, each counts once. Raises ValueError for other features.

    Each feature is hashed to 64 bits (the first half of MurmurHash3 x64-128, little-endian). It
    votes with its weight for each bit. The sign of the sum is the bit, and a tie gives 0. After
    Charikar, "Similarity estimation techniques from rounding algorithms" (STOC 2002), section 3, as
    used by Manku, Jain and Das Sarma, "Detecting near-duplicates for web crawling" (WWW 2007),
    section 2.

    The cosine of two pages' weights is estimated by cos(pi * distance / 64). No features give 0.
    """
    try:
        weights = features if isinstance(features, Mapping) else dict.fromkeys(features, 1.0)
        names = [str.encode(name, "utf-8", "surrogatepass") for name in weights]
        units = np.rint(np.array([*weights.values()], float) * _WEIGHT_UNIT)
        if isinstance(features, str) or not np.isfinite(units).all():
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        expected = "strings, or a mapping from strings to finite weights"
        raise ValueError(f"expected {expected}, not {features!r:.80}") from None
    bits = _bits(_halves(b"".join(map(mmh3.hash_bytes, names))))
    votes = units.astype(np.int64)
    return _pack(2 * (votes @ bits) > votes.sum())


def simhash_of_set(names: Iterable[str | bytes]) -> int:
    """Return the SimHash of features that all have the same weight; repetitions do not count.

    Names may be UTF-8, and have no lone surrogates. The result is that of `simhash`, in half the
    time: only hashes are kept.
    """
    return simhash_of_hashes(_halves(b"".join(map(mmh3.hash_bytes, names))))


def simhash_of_hashes(hashes: Fingerprints) -> int:
    """Return the SimHash of features of one weight by their 64-bit hashes, which may repeat."""
    bits = _bits(distinct(hashes))
    if not len(bits):
        return 0
    # Eight columns are added at a time, as bytes up to 255.
    eights = bits.view(np.uint64)
    sums = np.add.reduceat(eights, np.arange(0, len(eights), 255), axis=0)
    return _pack(2 * sums.view(np.uint8).sum(axis=0, dtype=np.int64) > len(bits))


def _halves(hashes: bytes) -> Fingerprints:
    return np.frombuffer(hashes, "<u8")[::2].astype(np.uint64)


def _bits(hashes: Fingerprints) -> NDArray[np.uint8]:
    """Return a row of 64 bits for each hash, the lowest bit first."""
    octets = hashes.astype("<u8").view(np.uint8).reshape(-1, 8)
    return np.unpackbits(octets, axis=1, bitorder="little")


def _pack(bits: NDArray[np.bool_]) -> int:
    return int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little")

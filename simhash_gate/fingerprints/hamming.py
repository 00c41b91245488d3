"""Distance and similarity of two 64-bit fingerprints, and their hex form."""

from __future__ import annotations

import re
from math import cos, pi

BITS = 64
_HEX = re.compile(r"[0-9a-fA-F]{16}")


def require_fingerprint(value: int) -> int:
    """Return `value`. Raises ValueError unless it is an unsigned 64-bit integer."""
    try:
        refused = value >> BITS
    except TypeError:
        refused = 1
    if refused:
        raise ValueError(f"not an unsigned 64-bit fingerprint: {value!r:.80}")
    return value


def require_distance(value: int) -> int:
    """Return `value`. Raises ValueError unless it is a distance from 0 to 64."""
    if value not in range(BITS + 1):
        raise ValueError(f"not a Hamming distance from 0 to {BITS}: {value!r}")
    return value


def hamming_distance(a: int, b: int) -> int:
    """Return how many bits differ, 0 to 64. Raises as `require_fingerprint`."""
    try:
        require_fingerprint(a | b)  # a negative number or a bit too high shows in the union too
    except TypeError:
        a, b = require_fingerprint(a), require_fingerprint(b)  # it says which
    return (a ^ b).bit_count()


def similarity(a: int, b: int) -> float:
    """Return the cosine of the features' weights that a distance estimates, 1.0 to -1.0.

    It is cos(pi * distance / 64): 1.0 for equal fingerprints, around 0 for unrelated pages
    (Charikar 2002, section 3). Raises ValueError if one of the two is no unsigned 64-bit integer.
    """
    return cos(pi * hamming_distance(a, b) / BITS)


def to_hex(fingerprint: int) -> str:
    """Return a fingerprint as 16 lower-case hex digits."""
    return f"{require_fingerprint(fingerprint):016x}"


def from_hex(digits: str) -> int:
    """Return the fingerprint of 16 hex digits. Raises ValueError for other texts."""
    if not _HEX.fullmatch(digits):
        raise ValueError(f"not a fingerprint of 16 hex digits: {digits!r}")
    return int(digits, 16)

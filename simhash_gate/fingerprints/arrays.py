"""Arrays of fingerprints as sorted sets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simhash_gate.fingerprints.hamming import require_fingerprint

Fingerprints = NDArray[np.uint64]
Positions = NDArray[np.intp]

_Scalar = TypeVar("_Scalar", bound=np.generic)
CHUNK = 1 << 16
"""This many fingerprints fit into the cache of a core, with scratch arrays beside them."""


def as_fingerprints(values: ArrayLike) -> Fingerprints:
    """Return a row of numpy.uint64. Raises ValueError for values that don't fit."""
    if isinstance(values, list | tuple):  # numpy makes floats of whole numbers, some of them large
        values = np.array([*map(require_fingerprint, cast("Any", values))], np.uint64)
    array = np.asarray(values)
    kind, size = array.dtype.kind, array.size
    if array.ndim != 1 or (kind != "u" and size and (kind != "i" or array.min() < 0)):
        expected = "unsigned 64-bit fingerprints in a row, such as np.array(…, np.uint64)"
        raise ValueError(f"expected {expected}, not {array.dtype} of the shape {array.shape}")
    return array.astype(np.uint64, copy=False)


def in_chunks(values: NDArray[_Scalar]) -> Iterator[NDArray[_Scalar]]:
    """Yield views of an array, `CHUNK` values in each."""
    for start in range(0, len(values), CHUNK):
        yield values[start : start + CHUNK]


def first_of_each(values: NDArray[Any]) -> Positions:
    """Return the positions in a sorted array where a value differs from the one before."""
    return np.flatnonzero(_are_first(values))


def _are_first(values: NDArray[Any]) -> NDArray[np.bool_]:
    first = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=first[1:])
    return first


def distinct(*arrays: NDArray[_Scalar]) -> NDArray[_Scalar]:
    """Return all values sorted, each once. This is many times faster than numpy.unique."""
    ascending = np.concatenate(arrays)
    ascending.sort()
    return ascending[_are_first(ascending)]


def is_in(values: Fingerprints, members: Fingerprints) -> NDArray[np.bool_]:
    """Tell for each value whether it is one of the sorted `members`. Sorted values are fastest."""
    if not len(members):
        return np.zeros(len(values), np.bool_)
    places = np.minimum(np.searchsorted(members, values), len(members) - 1)
    return np.equal(members[places], values)


def expand(firsts: Positions, counts: Positions) -> Positions:
    """Return the positions of ranges, one range after the other: `counts` from each of `firsts`."""
    before = np.cumsum(counts) - counts
    return np.repeat(firsts - before, counts) + np.arange(counts.sum(dtype=np.intp))

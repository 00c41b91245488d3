"""Near fingerprints of two arrays, found all at once with numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simhash_gate.fingerprints.blocks import probe_count, probes, split

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Fingerprints = NDArray[np.uint64]
    Positions = NDArray[np.intp]

# Four blocks of 16 bits: a table of bounds for each key stays small, and fits threshold 3.
_BLOCKS = 4
# Pairs compared in one go: some tens of megabytes of scratch memory.
_CHUNK = 1 << 20


class Near(NamedTuple):
    """Pairs that are near: three arrays of one length, in order of query, distance, fingerprint."""

    query: Positions
    fingerprint: Fingerprints
    distance: NDArray[np.uint8]


def join(queries: Fingerprints, stored: Fingerprints, radius: int) -> Near:
    """Find every stored fingerprint within `radius` bits of each query.

    `queries` may repeat, `stored` must not. `Near.query` holds positions in `queries`.
    """
    scan = probe_count(_BLOCKS, radius) > len(stored)
    candidates = _everything(queries, stored) if scan else _candidates(queries, stored, radius)
    parts = [_within(queries, stored, radius, *pairs) for pairs in candidates]
    query, found = np.concatenate([*parts, np.empty((2, 0), np.intp)], axis=1)
    # A pair is met once for each block that it shares.
    query, found = np.divmod(np.unique(query * len(stored) + found), max(len(stored), 1))
    distance = np.bitwise_count(queries[query] ^ stored[found])
    order = np.lexsort((stored[found], distance, query))
    return Near(query[order], stored[found][order], distance[order])


def _within(
    queries: Fingerprints, stored: Fingerprints, radius: int, query: Positions, found: Positions
) -> Positions:
    near = np.bitwise_count(queries[query] ^ stored[found]) <= radius
    return np.stack((query[near], found[near]))


def _everything(
    queries: Fingerprints, stored: Fingerprints
) -> Iterator[tuple[Positions, Positions]]:
    step = _CHUNK // max(len(stored), 1) + 1
    for start in range(0, len(queries), step):
        chunk = np.arange(start, min(start + step, len(queries)))
        yield np.repeat(chunk, len(stored)), np.tile(np.arange(len(stored)), len(chunk))


def _candidates(
    queries: Fingerprints, stored: Fingerprints, radius: int
) -> Iterator[tuple[Positions, Positions]]:
    """Yield positions of queries and of stored fingerprints that share a block, or nearly."""
    blocks = split(_BLOCKS)
    for table, flips in probes(_BLOCKS, radius):
        shift, mask = np.uint64(blocks[table].shift), np.uint64(blocks[table].mask)
        keys = (stored >> shift & mask).astype(np.intp)
        order = np.argsort(keys, kind="stable")
        bounds = np.zeros(blocks[table].mask + 2, np.intp)
        np.cumsum(np.bincount(keys, minlength=len(bounds) - 1), out=bounds[1:])
        wanted = (queries >> shift & mask).astype(np.intp)
        for flip in flips:
            for query, position in _expand(bounds, wanted ^ flip):
                yield query, order[position]


def _expand(bounds: Positions, keys: Positions) -> Iterator[tuple[Positions, Positions]]:
    """Yield, for each key in turn, its position and every position inside its bounds."""
    counts = bounds[keys + 1] - bounds[keys]
    ends = np.cumsum(counts)
    start = 0
    while start < len(keys):
        before = ends[start] - counts[start]
        stop = max(int(np.searchsorted(ends, before + _CHUNK)), start + 1)
        chunk = counts[start:stop]
        offset = bounds[keys[start:stop]] - (ends[start:stop] - chunk - before)
        yield (
            np.repeat(np.arange(start, stop), chunk),
            np.repeat(offset, chunk) + np.arange(int(ends[stop - 1] - before)),
        )
        start = stop

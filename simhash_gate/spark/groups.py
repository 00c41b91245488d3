"""Which fingerprints meet in one task of a cluster, and the near pairs among those that do.

Cut 64 bits into k + 1 blocks. Two fingerprints that differ in at most k bits agree in a block at
least. So each fingerprint goes to k + 1 groups: to one for each block, with all others that have
the same bits there. A group may be too large for a task. Its fingerprints agree in a block, so
they differ in at most k bits of the rest. This is cut into k + 1 pieces in turn: each fingerprint
goes to k + 1 smaller groups, with those that have the same bits in the block and in a piece.

A pair that meets in several groups belongs to the first of them: to that which agrees in no
earlier block, or piece.

Manku, Jain, Das Sarma, "Detecting Near-Duplicates for Web Crawling" (2007), section 3.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simhash_gate.collection.pairs import stream_pairs
from simhash_gate.fingerprints.blocks import split
from simhash_gate.fingerprints.hamming import BITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray
    from pyarrow import RecordBatch

    from simhash_gate.fingerprints.arrays import Fingerprints, Positions

FOUND = "scope bigint, a bigint, b bigint, distance int"
"""What `find_pairs` returns, as a schema of Spark: pairs of fingerprints of one scope."""
_AT_ONCE = 1 << 20


class Kind(NamedTuple):
    """What the fingerprints of a group agree in, and where its own pairs differ; all are masks."""

    same: int
    differ: tuple[int, ...]


@lru_cache
def kinds(radius: int) -> tuple[Kind, ...]:
    """Return the kinds of groups: one for each block; then, block by block, one for each piece."""
    blocks = [block.mask << block.shift for block in split(radius + 1)]
    found = [Kind(block, tuple(blocks[:number])) for number, block in enumerate(blocks)]
    for whole in found[: radius + 1]:
        pieces = _pieces(~whole.same, radius + 1)
        found += [
            Kind(whole.same | piece, (*whole.differ, *pieces[:number]))
            for number, piece in enumerate(pieces)
        ]
    return tuple(found)


def pieces_of(block: int, radius: int) -> range:
    """Return the numbers of the kinds that a large group of a block is split into."""
    first = (block + 1) * (radius + 1)
    return range(first, first + radius + 1)


def _pieces(mask: int, count: int) -> list[int]:
    """Cut the bits of a mask into masks of the same size, as far as that can be."""
    bits = [bit for bit in range(BITS) if mask >> bit & 1]
    edges = [len(bits) * number // count for number in range(count + 1)]
    return [sum(1 << bit for bit in bits[low:high]) for low, high in pairwise(edges)]


def find_pairs(batches: Iterable[RecordBatch], radius: int) -> Iterator[RecordBatch]:
    """Find the near pairs of one task: its batches have columns `kind`, `scope`, `fingerprint`.

    Fingerprints must be distinct, but for kinds and scopes, and all of a group in one task.
    """
    from pyarrow import record_batch

    columns = [[column.to_numpy() for column in batch.columns] for batch in batches]
    if not columns:
        return
    numbers, scopes, signed = map(np.concatenate, zip(*columns, strict=True))
    columns.clear()
    bits = signed.view(np.uint64)
    found: list[tuple[Positions, Positions]] = []
    own = _Own(radius)

    def use(one: Positions, other: Positions) -> None:
        chosen = own.of(bits[one] ^ bits[other], numbers[one])
        found.append((one[chosen], other[chosen]))

    stream_pairs(bits, radius, use, scopes=_together(numbers, scopes))
    for one, other in found:
        for start in range(0, len(one), _AT_ONCE):
            i, j = one[start : start + _AT_ONCE], other[start : start + _AT_ONCE]
            distance = np.bitwise_count(bits[i] ^ bits[j]).astype(np.int32)
            pairs = [scopes[i], signed[i], signed[j], distance]
            yield record_batch(pairs, names=["scope", "a", "b", "distance"])


def _together(numbers: NDArray[np.int32], scopes: NDArray[np.int64]) -> NDArray[np.uint32]:
    """Number the pairs of a kind and a scope."""
    order = np.lexsort((numbers, scopes))
    kind, scope = numbers[order], scopes[order]
    first = np.zeros(len(order), np.uint32)
    first[1:] = (kind[1:] != kind[:-1]) | (scope[1:] != scope[:-1])
    together = np.empty(len(order), np.uint32)
    together[order] = np.cumsum(first, dtype=np.uint32)
    return together


class _Own:
    """Which pairs belong to the group in which they met."""

    def __init__(self, radius: int) -> None:
        known = kinds(radius)
        most = max(len(kind.differ) for kind in known)
        self._same = np.array([kind.same for kind in known], np.uint64)
        # Distinct fingerprints always differ in some of all bits.
        every = (1 << BITS) - 1
        self._differ = np.array(
            [[*kind.differ, *[every] * (most - len(kind.differ))] for kind in known], np.uint64
        )

    def of(self, differ: Fingerprints, numbers: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Tell by the bits in which pairs differ, and by the kinds of their groups."""
        own: NDArray[np.bool_] = np.equal(differ & self._same[numbers], 0)
        for masks in self._differ.T:
            own &= np.not_equal(differ & masks[numbers], 0)
        return own

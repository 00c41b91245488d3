"""Blocks of a fingerprint, in which near fingerprints (nearly) agree, and hash tables of blocks.

The 64 bits are cut into m blocks. Two fingerprints that differ in at most r = q·m + a bits (a < m)
differ by at most q bits in one of the first a + 1 blocks, or by at most q - 1 bits in one of the
others. Otherwise they would differ in at least (a + 1)(q + 1) + (m - a - 1)q = r + 1 bits. So a
lookup of all keys within these few bits, in a table for each block, misses nothing. The same holds
if a key has only some bits of its block.

Each stored fingerprint has a slot, numbered from 1. The table of a block has two arrays: for each
key the first slot of its chain (the head), and for each slot the next one. 0 ends a chain.

Manku, Jain, Das Sarma, "Detecting Near-Duplicates for Web Crawling" (2007), section 3;
Norouzi, Punjani, Fleet, "Fast Search in Hamming Space with Multi-Index Hashing" (2012), section 3.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from functools import lru_cache
from itertools import combinations, pairwise
from math import comb
from typing import Literal, NamedTuple

import numpy as np

from simhash_gate.fingerprints.arrays import Fingerprints
from simhash_gate.fingerprints.hamming import BITS

# Shift and mask of the block, heads, and the next slot of each slot. It is a plain tuple because
# CPython unpacks that faster than a NamedTuple.
Table = tuple[int, int, "array[int]", "array[int]"]

FEW = 32
"""At most this many are compared one by one: tables would take more memory than they do."""

_MOST_BLOCKS = 16
# Bytes that the heads of all tables may take for each fingerprint.
_HEADS = 36
# Slots that are linked at once: sorting them stays in the cache, and takes little memory.
_CHUNK = 1 << 12
_SLOT_BITS = np.uint64(32)
_SLOT_MASK = np.uint64((1 << 32) - 1)


class BitBlock(NamedTuple):
    """`width` neighbouring bits of a fingerprint. The lowest is at `shift`."""

    shift: int
    width: int

    @property
    def mask(self) -> int:
        """The bits of a key."""
        return (1 << self.width) - 1


@lru_cache
def split(count: int, widest: int = BITS) -> tuple[BitBlock, ...]:
    """Cut a fingerprint into `count` blocks, 1 to 64, of about equal size, from the lowest bits up.

    A block keeps at most its `widest` lowest bits. Raises ValueError for another count.
    """
    if count not in range(1, BITS + 1):
        raise ValueError(f"not a number of blocks from 1 to {BITS}: {count!r}")
    edges = [BITS * number // count for number in range(count + 1)]
    return tuple(BitBlock(low, min(high - low, widest)) for low, high in pairwise(edges))


def _reaches(blocks: tuple[BitBlock, ...], radius: int) -> list[int]:
    """Return for each block the number of bits to flip, -1 if the other blocks suffice."""
    quotient, rest = divmod(radius, len(blocks))
    return [min(quotient - (number > rest), block.width) for number, block in enumerate(blocks)]


@lru_cache
def probe_count(count: int, radius: int, widest: int = BITS) -> int:
    """Return the number of keys that a lookup tries."""
    blocks = split(count, widest)
    return sum(
        comb(block.width, bits)
        for block, reach in zip(blocks, _reaches(blocks, radius), strict=True)
        for bits in range(reach + 1)
    )


@lru_cache
def probes(count: int, radius: int, widest: int = BITS) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """Return the keys that a lookup must try so that nothing within `radius` is missed.

    They are pairs of a block's number and flips. The keys are that of the query, xor each flip.
    Flips of few bits come first. There may be very many keys: `probe_count` tells.
    """
    blocks = split(count, widest)
    return tuple(
        (number, _flips(block.width, reach))
        for number, (block, reach) in enumerate(zip(blocks, _reaches(blocks, radius), strict=True))
        if reach >= 0
    )


def _flips(width: int, reach: int) -> tuple[int, ...]:
    return tuple(
        sum(1 << bit for bit in bits)
        for number in range(reach + 1)
        for bits in combinations(range(width), number)
    )


class Layout(NamedTuple):
    """The number of tables, the bits of each key, and the most fingerprints for this layout."""

    blocks: int
    width: int
    most: int


def empty_tables(layout: Layout, size: int) -> list[Table]:
    """Return empty tables for at least `size` fingerprints."""
    none = array(_code(size), [0])
    return [
        (block.shift, block.mask, none * (1 << block.width), none * 1)
        for block in split(layout.blocks, layout.width)
    ]


def link(tables: Iterable[Table], values: Fingerprints, start: int) -> None:
    """Put the values from slot `start` to the end at the heads of their chains."""
    for _, _, _, following in tables:
        following.frombytes(bytes(following.itemsize * (len(values) - len(following))))
    for low in range(start, len(values), _CHUNK):
        part = values[low : low + _CHUNK]
        slots = np.arange(low, low + len(part), dtype=np.uint64)
        for shift, mask, first, following in tables:
            rows = (part >> np.uint64(shift) & np.uint64(mask)) << _SLOT_BITS | slots
            rows.sort()
            keys, ordered = (rows >> _SLOT_BITS).view(np.int64), (rows & _SLOT_MASK).view(np.int64)
            heads = np.frombuffer(first, first.typecode)
            after = np.frombuffer(following, following.typecode)
            after[ordered] = heads[keys]
            again = np.flatnonzero(keys[1:] == keys[:-1])
            after[ordered[again + 1]] = ordered[again]
            heads[keys] = ordered  # the last one of equal keys stays


def redirect(table: Table, fingerprint: int, slot: int, target: int) -> None:
    """Let the head or the slot that leads to the slot of this fingerprint lead to `target`."""
    shift, mask, heads, after = table
    key = fingerprint >> shift & mask
    before = heads[key]
    if before == slot:
        heads[key] = target
        return
    while after[before] != slot:
        before = after[before]
    after[before] = target


@lru_cache  # every new index has the size 0
def cheapest(size: int, radius: int, fixed: int | None) -> Layout:
    """Choose the layout for which a lookup and an insert touch the fewest entries.

    Few blocks are wide: a lookup tries more keys, but finds fewer fingerprints that are not near.
    `Layout.most` is reached when there is memory for one more bit. `fixed` is the user's choice.
    """
    heads = _HEADS // array(_code(size)).itemsize

    def width(blocks: int) -> int:
        return min((heads * max(size, FEW) // blocks).bit_length() - 1, BITS // blocks)

    def cost(blocks: int) -> float:
        keys = probe_count(blocks, radius, width(blocks))
        return 2 * blocks + keys + 1.5 * keys * size / (1 << width(blocks))

    blocks = fixed or min(range(2, _MOST_BLOCKS + 1), key=cost)
    bits, most = width(blocks), 2 * size
    if bits < BITS // blocks:
        most = min(most, -(-(blocks << bits + 1) // heads))
    return Layout(blocks, bits, max(FEW, most))


def _code(size: int) -> Literal["H", "I"]:
    """Return the type of slots, 2 or 4 bytes, for up to twice `size` fingerprints."""
    return "H" if 2 * size < 1 << 16 else "I"

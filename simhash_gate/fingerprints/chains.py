"""Hash tables of blocks: a chain of slots for each key, in arrays of machine integers.

A fingerprint stands in a slot, by number from 1 on. The table of a block has a head for each key,
the first slot of its chain, and for each slot the one after it; 0 ends a chain.
"""

from __future__ import annotations

from array import array
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from simhash_gate.fingerprints.blocks import probe_count, split
from simhash_gate.fingerprints.hamming import BITS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simhash_gate.fingerprints.arrays import Fingerprints

    # Shift and mask of the block, heads, and what comes after each slot. A plain tuple: CPython
    # takes it apart faster than a NamedTuple.
    Table = tuple[int, int, array[int], array[int]]

FEW = 32
"""So few are compared one by one; tables would take more memory than they do."""

_MOST_BLOCKS = 16
# Bytes for each fingerprint that the heads take at most, all tables together.
_HEADS = 36
# Slots that are linked at once: the sorting stays in the cache, and takes little memory.
_CHUNK = 1 << 12
_SLOT_BITS = np.uint64(32)
_SLOT_MASK = np.uint64((1 << 32) - 1)


class Layout(NamedTuple):
    """How many tables, of how many bits of each block, and for how many fingerprints at most."""

    blocks: int
    width: int
    most: int


def empty_tables(layout: Layout, size: int, slots: int) -> list[Table]:
    """Return tables for at least `size` fingerprints with so many slots, and nothing in them."""
    none = array(_code(size), [0])
    return [
        (block.shift, block.mask, none * (1 << block.width), none * slots)
        for block in split(layout.blocks, layout.width)
    ]


def link(tables: Iterable[Table], values: Fingerprints, start: int) -> None:
    """Put the values from slot `start` on, the last ones there are, at the head of their chains."""
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
            heads[keys] = ordered  # of equal keys, the last one stays


def redirect(table: Table, fingerprint: int, slot: int, target: int) -> None:
    """Let what leads to a slot of this fingerprint lead to another one."""
    shift, mask, heads, after = table
    key = fingerprint >> shift & mask
    before = heads[key]
    if before == slot:
        heads[key] = target
        return
    while after[before] != slot:
        before = after[before]
    after[before] = target


@lru_cache  # of every new index, the size is 0
def cheapest(size: int, radius: int, fixed: int | None) -> Layout:
    """Choose blocks, and how many bits of each, for which a lookup and an insert touch the least.

    Few blocks are wide: more keys to ask for, but less behind each that is not near. It is time to
    choose anew as soon as there is memory for one bit more. `fixed` is a number of blocks that is
    given.
    """
    heads = _HEADS // array(_code(size)).itemsize

    def width(blocks: int) -> int:
        return min((heads * max(size, FEW) // blocks).bit_length() - 1, BITS // blocks)

    def cost(blocks: int) -> float:
        asked = probe_count(blocks, radius, width(blocks))
        return 2 * blocks + asked + 1.5 * asked * size / (1 << width(blocks))

    blocks = fixed or min(range(2, _MOST_BLOCKS + 1), key=cost)
    bits, most = width(blocks), 2 * size
    if bits < BITS // blocks:
        most = min(most, -(-(blocks << bits + 1) // heads))
    return Layout(blocks, bits, max(FEW, most))


def _code(size: int) -> Literal["H", "I"]:
    """Return the type of slots, of 2 bytes or of 4, with room for as many again."""
    return "H" if 2 * size < 1 << 16 else "I"

"""Blocks of a fingerprint: where two that are near must (nearly) agree.

Cut 64 bits into m blocks. Two fingerprints that differ in no more than r = q·m + a bits (a < m)
differ by at most q bits in one of the first a + 1 blocks, or by at most q - 1 bits in one of the
others: were it not so, they would differ in (a + 1)(q + 1) + (m - a - 1)q = r + 1 bits at least.
So a table for each block, asked for the keys within those few bits, misses nothing. The same holds
if a key is only some bits of its block: whatever differs there differs in the block.

Manku, Jain, Das Sarma, "Detecting Near-Duplicates for Web Crawling" (2007), section 3;
Norouzi, Punjani, Fleet, "Fast Search in Hamming Space with Multi-Index Hashing" (2012), section 3.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations, pairwise
from math import comb
from typing import NamedTuple

from simhash_gate.fingerprints.hamming import BITS


class Block(NamedTuple):
    """`width` neighbouring bits of a fingerprint, the lowest of them at `shift`."""

    shift: int
    width: int

    @property
    def mask(self) -> int:
        """The bits of a key."""
        return (1 << self.width) - 1


class Probe(NamedTuple):
    """Which keys to ask for in the table of block number `table`: its own, xor each flip."""

    table: int
    flips: tuple[int, ...]


@lru_cache
def split(count: int, widest: int = BITS) -> tuple[Block, ...]:
    """Cut a fingerprint into `count` blocks, 1 to 64, from the lowest bits up, as even as can be.

    Of a block that is wider than `widest` bits, the lowest ones stand for it. Raises ValueError for
    another count.
    """
    if not 1 <= count <= BITS:
        raise ValueError(f"not a number of blocks from 1 to {BITS}: {count}")
    edges = [BITS * number // count for number in range(count + 1)]
    return tuple(Block(low, min(high - low, widest)) for low, high in pairwise(edges))


def _reaches(blocks: tuple[Block, ...], radius: int) -> list[int]:
    """Return for each block how many of its bits to flip; -1 where the others suffice."""
    quotient, rest = divmod(radius, len(blocks))
    return [min(quotient - (number > rest), block.width) for number, block in enumerate(blocks)]


@lru_cache
def probe_count(count: int, radius: int, widest: int = BITS) -> int:
    """Return how many keys a lookup asks for."""
    blocks = split(count, widest)
    return sum(
        comb(block.width, bits)
        for block, reach in zip(blocks, _reaches(blocks, radius), strict=True)
        for bits in range(reach + 1)
    )


@lru_cache
def probes(count: int, radius: int, widest: int = BITS) -> tuple[Probe, ...]:
    """Return the keys that a lookup must ask for so that nothing within `radius` is missed.

    Few bits are flipped first. There are `probe_count(count, radius, widest)` keys: look before you
    ask.
    """
    blocks = split(count, widest)
    return tuple(
        Probe(number, _flips(block.width, reach))
        for number, (block, reach) in enumerate(zip(blocks, _reaches(blocks, radius), strict=True))
        if reach >= 0
    )


def _flips(width: int, reach: int) -> tuple[int, ...]:
    return tuple(
        sum(1 << bit for bit in bits)
        for number in range(reach + 1)
        for bits in combinations(range(width), number)
    )

"""Which remembered page is the best match: one order for all stores."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from simhash_gate.fingerprints.hamming import require_distance
from simhash_gate.stores.base import Match

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from simhash_gate.stores.base import Record

KEY_BYTES, NAME_BYTES = 8, 4
"""Bytes that a sketch begins with: its key, and the part of that which stands for the name."""

# Threshold 3, and all up to it, visits every block of four: so `near` is looked for there at least.
NEAR_REACH = 3


class Candidate(NamedTuple):
    """A record that a lookup came across; `number` grows in order of insertion."""

    number: int
    distance: int
    unlikeness: int


def reach(radius: int, near: int) -> int:
    """Return the radius that a lookup visits: the exact one, widened a little for `near`."""
    return radius if radius >= NEAR_REACH else max(radius, min(near, NEAR_REACH))


@lru_cache
def extent(radius: int, near: int) -> tuple[int, int]:
    """Return the radius that a lookup visits, and within how many bits it tells of what it meets.

    Raises ValueError for a radius out of range.
    """
    return reach(require_distance(radius), near), max(radius, near)


def unlikeness(record: Record, request: str, sketch: bytes) -> int:
    """Return how unlike a record another is by its request and by the claims in its sketch.

    0 for the same request, 1 for the same key, 2 for the first half of it, which is the name's.
    """
    if request == record.request:
        return 0
    own = record.sketch[:KEY_BYTES]
    if sketch[:KEY_BYTES] == own:
        return 1
    return 2 if sketch[:NAME_BYTES] == own[:NAME_BYTES] else 3


def best_first(candidates: Iterable[Candidate], radius: int) -> list[Candidate]:
    """Return the matches within `radius`, then those beyond it, each the best first.

    Within the radius the least unlike goes first, then the least distance, then the latest; beyond
    it the least distance, then the latest.
    """

    def rank(candidate: Candidate) -> tuple[bool, int, int, int]:
        beyond = candidate.distance > radius
        unlike = 0 if beyond else candidate.unlikeness
        return beyond, unlike, candidate.distance, -candidate.number

    return sorted(candidates, key=rank)


def best_match(
    candidates: Collection[Candidate],
    load: Callable[[int], Record | None],
    radius: int,
    dismissed: Collection[Record],
) -> tuple[int, Match] | None:
    """Return the best match within `radius`, else beyond it, and its number; None without one.

    `load` returns the record with a number, or None if it counts no more.
    """
    refused = {record.identity for record in dismissed} if dismissed else ()
    ordered = best_first(candidates, radius) if len(candidates) > 1 else candidates
    for number, distance, _ in ordered:
        record = load(number)
        if record is not None and not (refused and record.identity in refused):
            return number, Match(record, distance)
    return None

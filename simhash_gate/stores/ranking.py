"""Which remembered page is the best match: one order for all stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from simhash_gate.stores.base import Match

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from simhash_gate.stores.base import Record

# Threshold 3, and all up to it, visits every block of four: so `near` is looked for there at least.
NEAR_REACH = 3


class Candidate(NamedTuple):
    """A record that a lookup came across; `number` grows in order of insertion."""

    number: int
    distance: int
    same_request: bool


def reach(radius: int, near: int) -> int:
    """Return the radius that a lookup visits: the exact one, widened a little for `near`."""
    return radius if radius >= NEAR_REACH else max(radius, min(near, NEAR_REACH))


def best_first(candidates: Iterable[Candidate], radius: int, near: int) -> list[Candidate]:
    """Return the matches within `radius`, then those within `near`, each the best first.

    Within the radius the same request goes first, then the least distance, then the latest; beyond
    it the least distance, then the latest.
    """

    def rank(candidate: Candidate) -> tuple[bool, bool, int, int]:
        beyond = candidate.distance > radius
        other = beyond or not candidate.same_request
        return beyond, other, candidate.distance, -candidate.number

    limit = max(radius, near)
    found = {candidate for candidate in candidates if candidate.distance <= limit}
    return sorted(found, key=rank) if len(found) > 1 else [*found]


def best_match(
    candidates: Iterable[Candidate],
    load: Callable[[int], Record | None],
    radius: int,
    near: int,
    dismissed: Collection[Record],
) -> tuple[int, Match] | None:
    """Return the best match within `radius`, else within `near`, and its number; None without one.

    `load` returns the record with a number, or None if it counts no more.
    """
    refused = {record.identity for record in dismissed} if dismissed else ()
    for number, distance, _ in best_first(candidates, radius, near):
        record = load(number)
        if record is not None and not (refused and record.identity in refused):
            return number, Match(record, distance)
    return None

"""Of each page of a collection, the nearest that came before it: what a crawl would judge by."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from simhash_gate.collection.gathered import Member
    from simhash_gate.fingerprints.arrays import Fingerprints

FARTHEST = 24
"""Bits: beyond, pages are unrelated, and so many that they would hide what is near."""
MOST_COMPARISONS = 4_000_000_000
"""In one scope; of one with more pages than that allows, a sample is looked at."""


class NearestPage(NamedTuple):
    """A page, the nearest earlier one of its scope, and their distance in bits."""

    page: Member
    earlier: Member
    distance: int


@dataclass
class Scope:
    """The pages of one scope, in order, those at most `FARTHEST` from an earlier one apart.

    `looked_at` counts the pages whose neighbour was looked for.
    """

    name: str
    pages: list[Member] = field(default_factory=list)
    looked_at: int = 0
    neighbours: list[NearestPage] = field(default_factory=list)

    @property
    def histogram(self) -> list[int]:
        """How many pages are 0, 1, ... `FARTHEST` bits from the nearest earlier one."""
        found = Counter(neighbour.distance for neighbour in self.neighbours)
        return [found[distance] for distance in range(FARTHEST + 1)]


class Scopes(NamedTuple):
    """All scopes, the one with the most pages first; pages of a name seen before are left out."""

    scopes: list[Scope]
    repeated: int


def find_neighbours(members: Iterable[Member], only: str | None = None) -> Scopes:
    """Read all members, of the scope `only` if it is named, and find their neighbours.

    A page that comes again under its own name is no copy, but a later visit. Of a large scope,
    neighbours are looked for of a random sample of pages, the same in every run.
    """
    scopes: dict[str, Scope] = {}
    seen: set[tuple[str, str]] = set()
    repeated = 0
    for member in members:
        if only not in (None, member.scope):
            continue
        if (member.scope, member.name) in seen:
            repeated += 1
            continue
        seen.add((member.scope, member.name))
        scopes.setdefault(member.scope, Scope(member.scope)).pages.append(member)
    for scope in scopes.values():
        _fill(scope)
    ordered = sorted(scopes.values(), key=lambda scope: (-len(scope.pages), scope.name))
    return Scopes(ordered, repeated)


def _fill(scope: Scope) -> None:
    fingerprints = np.array([page.fingerprint for page in scope.pages], np.uint64)
    chosen = _sample(len(fingerprints), 2 * MOST_COMPARISONS // max(1, len(fingerprints)))
    scope.looked_at = len(chosen)
    for place, earlier, distance in nearest_earlier(fingerprints, chosen):
        if distance <= FARTHEST:
            pair = scope.pages[place], scope.pages[earlier]
            scope.neighbours.append(NearestPage(*pair, distance))


def _sample(pages: int, most: int) -> Sequence[int]:
    return range(pages) if pages <= most else sorted(random.Random(0).sample(range(pages), most))


def nearest_earlier(
    fingerprints: Fingerprints, places: Sequence[int]
) -> Iterator[tuple[int, int, int]]:
    """Yield each place but the first, with that of the nearest earlier fingerprint, and how far.

    `places` are positions in an array of n numpy.uint64. Of equally near ones the first is taken.
    Every pair is compared, a row at a time, which stays in the processor's cache: at these
    distances an index saves nothing.
    """
    for place in places:
        if place:
            distances = np.bitwise_count(fingerprints[:place] ^ fingerprints[place])
            earlier = int(distances.argmin())
            yield place, earlier, int(distances[earlier])

"""`simhash-gate similar`: all pages of a collection that are like one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simhash_gate.collection.collection import Members
from simhash_gate.common.urls import without_credentials
from simhash_gate.fingerprints.hamming import from_hex, to_hex
from simhash_gate.fingerprints.ranges import in_chunks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simhash_gate.collection.gathered import Gathered
    from simhash_gate.collection.table import Row
    from simhash_gate.common.complaints import Complain
    from simhash_gate.settings import Settings


class Query(NamedTuple):
    """A fingerprint that is looked for; `row` is that of the page itself, if it is one of them."""

    fingerprint: int
    row: int | None = None


def find_query(
    page: str, gathered: Gathered, settings: Settings, complain: Complain
) -> Query | None:
    """Return the fingerprint of 16 hex digits, of a page of the collection by its name, or a file.

    None if there is none, which is complained of.
    """
    try:
        return Query(from_hex(page))
    except ValueError:
        page = without_credentials(page)  # as pages are called
    row = gathered.find(page)
    if row is not None:
        return Query(int(gathered.fingerprints[row]), row)
    if "://" in page:
        complain(page, "no page of the source has this URL, and a fingerprint")
        return None
    members = Members(settings, complain)
    member = next(members.of(page), None)
    if member is None and members.passed_over:
        complain(page, "no fingerprint: there is no text to compare")
    return None if member is None else Query(member.fingerprint)


def similar_rows(gathered: Gathered, query: Query, radius: int) -> Iterator[Row]:
    """Yield a row for each page within `radius` bits, the nearest first, then in order."""
    wanted, start = np.uint64(query.fingerprint), 0
    near: list[tuple[int, int]] = []
    for chunk in in_chunks(gathered.fingerprints):
        distances = np.bitwise_count(chunk ^ wanted)
        rows = np.flatnonzero(distances <= radius)
        near += zip(distances[rows].tolist(), (rows + start).tolist(), strict=True)
        start += len(chunk)
    near.sort()
    for distance, row in near:
        if row != query.row:
            (name,), (title,) = gathered.names([row]), gathered.titles([row])
            bits = to_hex(int(gathered.fingerprints[row]))
            yield (name, distance, title, bits) if gathered.named else (name, distance, bits)

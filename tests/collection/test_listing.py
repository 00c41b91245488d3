"""All pairs and all copies of a collection: what brute force finds, on every path."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simhash_gate.collection import disk, listing
from simhash_gate.collection.disk import Gathered, Member
from simhash_gate.collection.listing import cluster_rows, find_pairs, pair_rows
from simhash_gate.fingerprints.hamming import to_hex
from simhash_gate.sources.fingerprints import read_list

FINGERPRINTS = st.integers(0, 2**64 - 1)


@st.composite
def crowded(draw):
    """Pages around a few centres, with repeats, in scopes of any size."""
    centres = draw(st.lists(FINGERPRINTS, min_size=1, max_size=3))
    flips = st.sets(st.integers(0, 63), max_size=6).map(lambda bits: sum(1 << bit for bit in bits))
    near = st.tuples(st.sampled_from(centres), flips).map(lambda pair: pair[0] ^ pair[1])
    return draw(st.lists(st.tuples(near | FINGERPRINTS, st.sampled_from("xyz")), max_size=40))


@contextmanager
def gathered(pages, *, across):
    found = Gathered("1", across=across, named=True)
    for number, (bits, scope) in enumerate(pages):
        found.add(Member(f"{number}", scope, bits, "", 0))
    found.finish()
    yield found
    found.close()


def tell(_):
    pass


@pytest.mark.parametrize("memory", [64, 1_000, 1 << 30], ids=["a page", "a few", "all"])
@settings(max_examples=40, deadline=None)
@given(pages=crowded(), radius=st.integers(0, 8), across=st.booleans(), at_once=st.integers(1, 9))
def test_pairs_are_those_of_brute_force_however_little_memory(
    memory, pages, radius, across, at_once
):
    with (
        gathered(pages, across=across) as found,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(disk, "_AT_ONCE", at_once)
        rows = list(pair_rows(found, find_pairs(found, radius, memory, tell)))
    assert [row[:3] for row in rows] == [
        (f"{i}", f"{j}", (a ^ b).bit_count())
        for (i, (a, one)), (j, (b, other)) in combinations(enumerate(pages), 2)
        if (a ^ b).bit_count() <= radius and (across or one == other)
    ]


@pytest.mark.parametrize("few", [0, 1_000])
@settings(max_examples=60, deadline=None)
@given(pages=crowded(), radius=st.integers(0, 8))
def test_copies_are_those_of_a_gate_that_keeps_page_after_page(few, pages, radius):
    kept: list[int] = []
    expected = set()
    for number, (bits, scope) in enumerate(pages):
        near = [
            ((bits ^ pages[other][0]).bit_count(), -other)
            for other in kept
            if pages[other][1] == scope
        ]
        distance, other = min(near, default=(65, 0))
        if distance <= radius:
            expected.add((f"{-other}", f"{number}", distance))
        else:
            kept.append(number)
    with (
        gathered(pages, across=False) as found,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(listing, "_FEW", few)
        rows = [row[:3] for row in cluster_rows(found, radius)]
    assert len(rows) == len(set(rows))
    assert set(rows) == expected


LINES = [
    *((f"{to_hex(5)}{end}", 5) for end in ("\n", "\r\n", " \n")),
    ("\n", None),
    ("ABCDEF0123456789\n", 0xABCDEF0123456789),
    ("ab cd ef 01 23 45 \n", False),
    ("0123456789abcdefg\n", False),
    ("0x23456789abcdef\n", False),
    ("0123456789abcde\n", False),
]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(LINES), max_size=30), st.booleans(), st.sampled_from([1, 3, 1000]))
def test_a_list_is_read_line_by_line_whatever_stands_in_it(lines, last_ends, at_once):
    text = "".join(line for line, _ in lines)
    complaints = []
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr("simhash_gate.sources.fingerprints._LINES", at_once)
        path = Path(name, "list.txt")
        path.write_bytes((text if last_ends else text.rstrip()).encode())
        batches = list(read_list(str(path), lambda place, _: complaints.append(place)))
    found = [
        pair for batch in batches for pair in zip(*(part.tolist() for part in batch), strict=True)
    ]
    assert found == [(n, value) for n, (_, value) in enumerate(lines, 1) if value]
    assert complaints == [f"{path}:{n}" for n, (_, value) in enumerate(lines, 1) if value is False]
    assert all(batch.fingerprints.dtype == np.uint64 for batch in batches)

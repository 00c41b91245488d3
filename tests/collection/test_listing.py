"""All pairs and all copies of a collection: what brute force finds, on every path."""

from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simhash_gate.collection import listing
from simhash_gate.collection.gathered import Gathered, Member
from simhash_gate.collection.listing import TooManyError, cluster_rows, pair_rows
from simhash_gate.fingerprints.hamming import to_hex
from simhash_gate.sources.fingerprints import read_list
from tests.collection.crowds import brute_force, crowded


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


@pytest.mark.slow
@settings(max_examples=120, deadline=None)
@given(pages=crowded(scopes="xyz"), radius=st.integers(0, 8), across=st.booleans())
def test_pairs_are_those_of_brute_force(pages, radius, across):
    with gathered(pages, across=across) as found:
        rows = list(pair_rows(found, radius, tell))
    assert [row[:3] for row in rows] == [
        (f"{i}", f"{j}", distance) for i, j, distance in brute_force(pages, radius, across=across)
    ]


def test_more_pairs_than_memory_holds_are_refused_with_what_to_do(monkeypatch):
    monkeypatch.setattr(listing, "_MOST_PAIRS", 3)
    with gathered([(5, "")] * 4, across=True) as found, pytest.raises(TooManyError) as error:
        pair_rows(found, 3, tell)
    assert "more than 3 pairs. With --clusters, each copy is listed once." in str(error.value)


@pytest.mark.parametrize("few", [0, 1_000])
@settings(max_examples=60, deadline=None)
@given(pages=crowded(scopes="xyz"), radius=st.integers(0, 8))
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
    with gathered(pages, across=False) as found, pytest.MonkeyPatch.context() as patch:
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


@pytest.mark.parametrize("at_once", [1, 3, 1_000])
@pytest.mark.parametrize("last", LINES[:5], ids=repr)
def test_a_list_is_read_line_by_line_whatever_stands_in_it(tmp_path, monkeypatch, last, at_once):
    monkeypatch.setattr("simhash_gate.sources.fingerprints._LINES", at_once)
    lines = [*LINES, *LINES[::-1], last]
    path = tmp_path / "list.txt"
    path.write_bytes("".join(line for line, _ in lines).rstrip().encode())
    complaints = []
    batches = list(read_list(str(path), lambda place, _: complaints.append(place)))
    found = [pair for batch in batches for pair in zip(*(it.tolist() for it in batch), strict=True)]
    assert found == [(n, value) for n, (_, value) in enumerate(lines, 1) if value]
    assert complaints == [f"{path}:{n}" for n, (_, value) in enumerate(lines, 1) if value is False]
    assert all(batch.fingerprints.dtype == np.uint64 for batch in batches)

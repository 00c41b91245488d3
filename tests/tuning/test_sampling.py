"""What to ask about, and what the answers say of all pairs."""

from __future__ import annotations

from collections import Counter

import pytest

from simhash_gate.collection.disk import Member
from simhash_gate.collection.neighbours import Neighbour, Scope, find_neighbours
from simhash_gate.tuning.sampling import next_pair, score, strata


def member(name: str, fingerprint: int, scope: str = "a.example") -> Member:
    return Member(name, scope, fingerprint, name.title(), 100)


def scope_of(sizes: dict[int, int], name: str = "a.example") -> Scope:
    """A scope with so many pairs at each distance."""
    pairs = [
        Neighbour(member(f"{name}/{bits}-{n}", 0), member(f"{name}/{bits}-{n}-kept", 0), bits)
        for bits, number in sizes.items()
        for n in range(number)
    ]
    return Scope(name, [], 0, pairs)


def test_each_page_is_compared_with_those_before_it() -> None:
    found = find_neighbours(
        [
            member("first", 0b0),
            member("far", (1 << 40) - 1),
            member("second", 0b111),
            member("third", 0b110),
            member("elsewhere", 0b0, "b.example"),
            member("first", 0b1),  # a later visit
        ]
    )
    assert found.repeated == 1
    large, small = found.scopes
    assert [(p.page.name, p.earlier.name, p.distance) for p in large.neighbours] == [
        ("second", "first", 3),
        ("third", "second", 1),
    ]
    assert (large.histogram[1], large.histogram[3], sum(large.histogram)) == (1, 1, 2)
    assert (small.name, small.neighbours) == ("b.example", [])


def ask(scopes, answers: dict[frozenset[str], bool]) -> Neighbour:
    """Return the pair that is asked about next."""
    pair = next_pair(strata(scopes, answers), set(answers), line=3)
    assert pair is not None
    return pair


def test_every_distance_is_asked_about_first_from_the_line_outwards() -> None:
    scope = scope_of({0: 50, 3: 5, 4: 5, 8: 5, 14: 20})
    answers = {}
    order = []
    for _ in range(5):
        pair = ask([scope], answers)
        order.append(pair.distance)
        answers[pair.names] = True
    assert order in ([3, 4, 0, 8, 14], [4, 3, 0, 8, 14])


def test_pairs_of_all_scopes_are_asked_about_in_proportion() -> None:
    scopes = [scope_of({4: 60}, "large.example"), scope_of({4: 20}, "small.example")]
    answers = {}
    names = Counter()
    for _ in range(20):
        pair = ask(scopes, answers)
        names[pair.page.name.split("/")[0]] += 1
        answers[pair.names] = True
    assert names == {"large.example": 15, "small.example": 5}


def test_answers_stand_for_their_share_of_all_pairs() -> None:
    scope = scope_of({0: 90, 4: 10})
    by_distance = {bits: [p for p in scope.neighbours if p.distance == bits] for bits in (0, 4)}
    answers = {pair.names: True for pair in by_distance[0][:5]}
    answers |= {pair.names: n < 2 for n, pair in enumerate(by_distance[4][:4])}
    scores = score(strata([scope], answers))
    assert scores[3].recall == pytest.approx(90 / 95)
    assert scores[4].precision == pytest.approx(95 / 100)
    assert scores[4].recall == 1
    assert scores[4].precision_interval.low < 95 / 100 < scores[4].precision_interval.high

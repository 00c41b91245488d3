"""A rule that fails for some URLs of a shape goes on for the others."""

from __future__ import annotations

import pytest

from simhash_gate.urls.evidence import POOLED
from simhash_gate.urls.learner import Learner
from simhash_gate.urls.parts import WITH, parts_of
from simhash_gate.urls.rules import Rule
from tests.urls.teaching import ENOUGH, HOME, SHAPE, SITE, X, cut, evidence, mixed, pairs_by, teach

NEWER = f"{SHAPE} after {99 + 2 * ENOUGH}"


def test_a_rule_that_fails_for_newer_pages_goes_on_for_older_ones() -> None:
    learner, changes = cut()
    y = Rule("parameter", "y", "*")
    told = {(change.shape, change.rule, change.state) for change in changes}
    assert told == {(NEWER, X, "suspended"), (NEWER, y, "learning")}
    assert evidence(learner, X, NEWER).contradictions == 1
    assert evidence(learner, X, SHAPE).contradictions == 0
    assert learner.canonical(SITE, f"{HOME}/a/120?x=5") == f"{HOME}/a/120"
    for query in ("x=5", "y=5"):
        url = f"{HOME}/a/800?{query}"
        assert learner.canonical(SITE, url) == url
    # What did not fail comes back as soon as newer pages confirm it.
    teach(learner, pairs_by("/a/{n}?y={m}", "/a/{n}", 300, POOLED - 1))
    assert learner.canonical(SITE, f"{HOME}/a/800?y=5") == f"{HOME}/a/800?y=5"
    teach(learner, pairs_by("/a/{n}?y={m}", "/a/{n}", 400, 1))
    assert learner.canonical(SITE, f"{HOME}/a/800?y=5") == f"{HOME}/a/800"
    # What fails for older pages, too, rests on these as well.
    (change,) = teach(learner, [("/a/110?x=2", "/a/110?x=1")], same=False)
    assert (change.shape, change.rule, change.state) == (SHAPE, X, "suspended")
    url = f"{HOME}/a/120?x=5"
    assert learner.canonical(SITE, url) == url


@pytest.mark.parametrize(("taught", "fails"), [(pairs_by, 900), (mixed, 110)])
def test_a_shape_is_not_cut_by_numbers_that_say_nothing(taught, fails: int) -> None:
    """Where pages came in their order, and among the numbers that a rule held for."""
    learner = Learner()
    teach(learner, taught("/a/{n}?x={m}", "/a/{n}", count=2 * ENOUGH))
    changes = teach(learner, [(f"/a/{fails}?x=2", f"/a/{fails}?x=1")], same=False)
    assert [(change.shape, change.state) for change in changes] == [(SHAPE, "suspended")]


WITH_Y = f"{SHAPE}{WITH}y"


def test_a_rule_that_fails_beside_a_parameter_goes_on_without_it() -> None:
    """`?limit=` is no matter on short lists, and those that have an `?offset=` are long."""
    learner, z = Learner(), Rule("parameter", "z", "*")
    teach(learner, pairs_by("/a/{n}?x={n}", "/a/{n}"))
    teach(learner, pairs_by("/a/{n}?z={n}", "/a/{n}", 100))
    changes = teach(learner, [("/a/800?x=1&y=5", "/a/800?y=5")], same=False)
    told = [(each.shape, each.rule, each.state) for each in changes]
    assert told == [(WITH_Y, X, "suspended"), (WITH_Y, z, "learning")]
    assert evidence(learner, X, SHAPE).state == "active"
    assert evidence(learner, X, WITH_Y).contradictions == 1
    assert learner.reasons(SITE, f"{HOME}/a/900?x=1", f"{HOME}/a/900") == ((SHAPE, X),)
    one, other = f"{HOME}/a/900?x=1&y=5", f"{HOME}/a/900?y=5"
    assert learner.canonical(SITE, one) != learner.canonical(SITE, other)
    assert learner.shapes.of(parts_of(one)) == WITH_Y
    changes = teach(learner, [("/a/801?x=1", "/a/801")], same=False)
    assert [(each.shape, each.state) for each in changes] == [(SHAPE, "suspended")]

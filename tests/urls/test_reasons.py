"""A rule is a reason to skip a request only where it was tried."""

from __future__ import annotations

from simhash_gate.urls.active_rules import EVERY
from simhash_gate.urls.evidence import CONFIRMED, Evidence
from simhash_gate.urls.learner import Learner
from tests.urls.teaching import ENOUGH, HOME, PRINT, SHAPE, SITE, TITLE, X, pairs_by, teach


def test_a_second_value_of_a_page_is_another_case_than_the_first() -> None:
    """`?oldid=` of each page is that of its present version at first, and later of old ones."""
    learner = Learner()
    teach(learner, pairs_by("/a/{n}?x={n}", "/a/{n}"))
    first, second, bare = (f"{HOME}/a/900{end}" for end in ("?x=1", "?x=2", ""))
    assert learner.reasons(SITE, first, bare) == ((SHAPE, X),)
    assert learner.reasons(SITE, second, bare) == ()
    assert learner.reasons(SITE, second, first) == ()
    assert learner.reasons(SITE, first, bare) == ((SHAPE, X),)
    teach(learner, pairs_by("/a/{n}?x={n}5", "/a/{n}", count=CONFIRMED - 1))
    assert learner.reasons(SITE, second, bare) == ()
    teach(learner, pairs_by("/a/{n}?x={n}5", "/a/{n}", CONFIRMED - 1, 1))
    assert learner.reasons(SITE, second, bare) == ((SHAPE, X),)


def test_a_second_value_is_known_as_such_by_every_way_to_the_page() -> None:
    learner = Learner()
    for rule in (TITLE, PRINT):
        learner.put(SITE, EVERY, rule, Evidence(word="pinned"))
    teach(learner, pairs_by("/index.php?title=a-b-{n}&x={n}", "/index.php?title=a-b-{n}"))
    asked = [f"{HOME}/index.php?title=a-b-900&x={value}" for value in (1, 2)]
    for url in asked:
        learner.place(SITE, url)
    for other in (f"{HOME}/wiki/a-b-900", f"{HOME}/wiki/a-b-900/print"):
        assert learner.canonical(SITE, asked[0]) == learner.canonical(SITE, other)
        assert {rule for _, rule in learner.reasons(SITE, asked[0], other)} >= {TITLE, X}
        assert not learner.reasons(SITE, asked[1], other)


def test_another_value_of_a_parameter_is_another_case_than_none() -> None:
    """The form for a section says the same for each section, and not what that of the page says."""
    learner = Learner()
    for mine, its in ("56", "65"):
        teach(learner, [(f"/a/{n}?x={n}{mine}", f"/a/{n}?x={n}{its}") for n in range(ENOUGH)])
    bare, one, other = (f"{HOME}/a/900{end}" for end in ("", "?x=1", "?x=2"))
    assert learner.reasons(SITE, other, one)
    assert learner.reasons(SITE, one, bare) == learner.reasons(SITE, bare, one) == ()
    teach(learner, pairs_by("/a/{n}?x={n}", "/a/{n}", 100, CONFIRMED - 1))
    assert learner.reasons(SITE, one, bare) == learner.reasons(SITE, bare, one) == ()
    teach(learner, pairs_by("/a/{n}?x={n}", "/a/{n}", 200, 1))
    assert learner.reasons(SITE, one, bare)
    assert learner.reasons(SITE, bare, one)


def test_a_rule_is_not_used_beside_a_parameter_that_it_was_not_learned_beside() -> None:
    learner = Learner()
    teach(learner, pairs_by("/a/{n}?x={n}", "/a/{n}"))
    one, other = f"{HOME}/a/900?x=1&y=5", f"{HOME}/a/900?y=5"
    assert learner.canonical(SITE, one) == learner.canonical(SITE, other)
    assert learner.reasons(SITE, one, other) == ()
    teach(learner, pairs_by("/a/{n}?y=5&x={n}", "/a/{n}?y=5", 100, CONFIRMED - 1))
    assert learner.reasons(SITE, one, other) == ()
    teach(learner, pairs_by("/a/{n}?y=5&x={n}", "/a/{n}?y=5", 200, 1))
    assert learner.reasons(SITE, one, other) == ((SHAPE, X),)
    # What seldom matters anywhere is used beside any parameter.
    teach(learner, pairs_by("/b/{n}?utm_source={n}", "/b/{n}"))
    assert learner.reasons(SITE, f"{HOME}/b/900?utm_source=1&y=5", f"{HOME}/b/900?y=5")

"""What a person said of a rule: it is pinned, forbidden, or a guess."""

from __future__ import annotations

from typing import cast

import pytest

from simhash_gate.urls.active_rules import EVERY
from simhash_gate.urls.evidence import ENOUGH_CONTENTS, Evidence, Word
from simhash_gate.urls.learner import Learner
from tests.urls.teaching import HOME, SHAPE, SITE, X, pairs_by, teach

PLACES = [(SITE, SHAPE), (SITE, EVERY), (EVERY, EVERY)]
"""Where a person can say a word: URLs of a shape, of a site, and of all sites."""


@pytest.mark.parametrize(("scope", "shape"), PLACES)
def test_a_pinned_rule_acts_until_a_page_contradicts_it(scope: str, shape: str) -> None:
    learner = Learner()
    changes = learner.put(scope, shape, X, Evidence(word="pinned"))
    assert [change.state for change in changes] == ["active"]
    assert learner.canonical(SITE, f"{HOME}/a/1?x=5") == f"{HOME}/a/1"
    assert learner.acting_on(SITE, f"{HOME}/a/1?x=5") == [(shape, X)]
    changes = teach(learner, [("/a/1?x=5", "/a/1")], same=False)
    assert [(change.state, change.scope, change.shape) for change in changes] == [
        ("suspended", scope, shape)
    ]
    assert learner.canonical(SITE, f"{HOME}/a/1?x=5") == f"{HOME}/a/1?x=5"


@pytest.mark.parametrize(("scope", "shape"), PLACES)
@pytest.mark.parametrize("first", [True, False])
def test_a_forbidden_rule_never_acts(scope: str, shape: str, first: bool) -> None:
    """Whether the word or the evidence comes first."""
    learner = Learner()
    if first:
        learner.put(scope, shape, X, Evidence(word="forbidden"))
    teach(learner, pairs_by("/a/{n}?x={m}", "/a/{n}", count=50))
    if not first:
        assert learner.acts_on(SITE)
        (change,) = learner.put(scope, shape, X, Evidence(word="forbidden"))
        assert (change.scope, change.shape, change.state) == (SITE, SHAPE, "suspended")
    assert not learner.acts_on(SITE)


@pytest.mark.parametrize(("scope", "shape"), PLACES)
@pytest.mark.parametrize("first", [True, False])
def test_a_guess_of_a_person_acts_after_few_cases(scope: str, shape: str, first: bool) -> None:
    learner = Learner()
    before = 0 if first else 2
    teach(learner, pairs_by("/a/{n}?x={m}", "/a/{n}", count=before))
    learner.put(scope, shape, X, Evidence(word="guess"))
    teach(learner, pairs_by("/a/{n}?x={m}", "/a/{n}", before, ENOUGH_CONTENTS - before - 1))
    assert not learner.acts_on(SITE)
    teach(learner, pairs_by("/a/{n}?x={m}", "/a/{n}", ENOUGH_CONTENTS - 1, 1))
    assert learner.canonical(SITE, f"{HOME}/a/9?x=5") == f"{HOME}/a/9"


def test_a_word_for_a_shape_is_an_exception_to_that_for_the_site() -> None:
    for order in ((SHAPE, EVERY), (EVERY, SHAPE)):
        learner, words = Learner(), {SHAPE: "forbidden", EVERY: "pinned"}
        for shape in order:
            learner.put(SITE, shape, X, Evidence(word=cast("Word", words[shape])))
        assert learner.canonical(SITE, f"{HOME}/a/9?x=5") == f"{HOME}/a/9?x=5"
        assert learner.canonical(SITE, f"{HOME}/b/9?x=5") == f"{HOME}/b/9"


def test_a_pinned_rule_does_not_act_where_it_was_contradicted_just_before() -> None:
    learner = Learner()
    teach(learner, [("/a/1?x=5", "/a/1")], same=False)
    learner.put(SITE, EVERY, X, Evidence(word="pinned"))
    assert learner.canonical(SITE, f"{HOME}/a/9?x=5") == f"{HOME}/a/9?x=5"
    assert learner.canonical(SITE, f"{HOME}/b/9?x=5") == f"{HOME}/b/9"


def test_a_rule_for_all_sites_that_fails_on_one_rests_on_all() -> None:
    learner = Learner()
    learner.put(EVERY, EVERY, X, Evidence(word="pinned"))
    learner.observe(SITE, f"{HOME}/a/1")
    (change,) = learner.observe(SITE, f"{HOME}/a/1?x=1", f"{HOME}/a/1", same=False)
    assert (change.scope, change.shape, change.state) == (EVERY, EVERY, "suspended")
    assert learner.canonical("a.example", "https://a.example/9?x=5") == "https://a.example/9?x=5"

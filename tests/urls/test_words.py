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
    other = "https://a.example/9?x=5"
    assert (learner.canonical("a.example", other) != other) == (scope == EVERY)
    changes = teach(learner, [("/a/1?x=5", "/a/1")], same=False)
    told = [(change.scope, change.shape, change.state) for change in changes]
    assert told == [(scope, shape, "suspended")]
    assert learner.canonical(SITE, f"{HOME}/a/1?x=5") == f"{HOME}/a/1?x=5"
    # A rule for all sites rests on all.
    assert learner.canonical("a.example", other) == other


@pytest.mark.parametrize(("scope", "shape"), PLACES)
@pytest.mark.parametrize("before", [0, 2, 50])
def test_a_forbidden_rule_never_acts_and_a_guess_after_few_cases(
    scope: str, shape: str, before: int
) -> None:
    """Whether the word or the evidence comes first."""
    forbidden, guess = Learner(), Learner()
    for learner in (forbidden, guess):
        teach(learner, pairs_by("/a/{n}?x={m}", "/a/{n}", count=before))
    changes = forbidden.put(scope, shape, X, Evidence(word="forbidden"))
    told = [(change.scope, change.shape, change.state) for change in changes]
    assert told == ([(SITE, SHAPE, "suspended")] if before == 50 else [])
    teach(forbidden, pairs_by("/a/{n}?x={m}", "/a/{n}", before, 50))
    assert not forbidden.acts_on(SITE)
    guess.put(scope, shape, X, Evidence(word="guess"))
    for number in range(before, ENOUGH_CONTENTS):
        assert not guess.acts_on(SITE)
        teach(guess, pairs_by("/a/{n}?x={m}", "/a/{n}", number, 1))
    assert guess.canonical(SITE, f"{HOME}/a/9?x=5") == f"{HOME}/a/9"


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

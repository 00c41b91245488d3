"""Rules are learned from pairs of URLs: which, when they act, and what users say."""

from __future__ import annotations

import struct

import pytest

from simhash_gate.urls.active_rules import EVERY
from simhash_gate.urls.evidence import (
    CONFIRMED,
    MOST_CONTRADICTIONS,
    POOLED,
    WINDOW,
    Evidence,
    lower_bound,
)
from simhash_gate.urls.evidence import ENOUGH_CONTENTS as FEW
from simhash_gate.urls.fetched import Fetched, content_of
from simhash_gate.urls.learner import LEAST, Learner
from simhash_gate.urls.parts import parts_of
from simhash_gate.urls.rules import Rule
from tests.urls.teaching import (
    ENOUGH,
    HOME,
    PRINT,
    SCRIPTED,
    SHAPE,
    SITE,
    TITLE,
    WIKI,
    X,
    evidence,
    pairs_by,
    teach,
)


@pytest.mark.parametrize(
    ("one", "other", "rule", "needed"),
    [
        ("/a/{n}?x={m}", "/a/{n}", X, ENOUGH),
        ("/a/{n}?x=1&y=2", "/a/{n}?y=2&x=1", Rule("order"), ENOUGH),
        ("/a/{n}?x={n}5", "/a/{n}?x={m}", Rule("value", "x", "{number}"), ENOUGH),
        ("/a/{n};ticket={m}", "/a/{n}", Rule("path parameter", "ticket"), ENOUGH),
        ("/a/{n}/printed", "/a/{n}", Rule("segment", "printed", "-1"), ENOUGH),
        ("/a/{n}/some-old-name", "/a/{n}/some-new-name", Rule("place", "2"), ENOUGH),
        ("/a/{n}/", "/a/{n}", Rule("slash"), ENOUGH),
        ("/A/{n}", "/a/{n}", Rule("case"), ENOUGH),
        # What seldom matters anywhere needs few cases.
        ("http://example.com/a/{n}", "/a/{n}", Rule("scheme"), FEW),
        ("https://m.example.com/a/{n}", "/a/{n}", Rule("host", "m.example.com", SITE), FEW),
        ("/a{n}/index.html", "/a{n}/", Rule("index"), FEW),
        ("/a/{n}?utm_source=x{m}", "/a/{n}", Rule("parameter", "utm_source", "*"), FEW),
        ("/a/{n}/print", "/a/{n}", PRINT, FEW),
        ("/i.php?title=N{n}", "/a/N{n}", Rule("path", "title", "/a/*"), FEW),
    ],
)
def test_each_kind_of_rule_is_learned_and_acts_at_its_bound(
    one: str, other: str, rule: Rule, needed: int
) -> None:
    def pair(number: int) -> tuple[str, str]:
        made = (url.format(n=number, m=number + 7) for url in (one, other))
        url, kept = (url if "://" in url else HOME + url for url in made)
        return url, kept

    learner, later = Learner(), pair(900)
    for number in range(needed):
        assert learner.canonical(SITE, later[0]) != learner.canonical(SITE, later[1])
        url, kept = pair(number)
        learner.observe(SITE, kept)
        changes = learner.observe(SITE, url, kept, same=True)
    (change,) = (change for change in changes if change.rule == rule)
    assert (change.scope, change.state) == (SITE, "active")
    assert needed == FEW or change.bound >= LEAST > lower_bound(needed - 1, needed - 1)
    assert change.examples[0] == pair(0)
    assert learner.canonical(SITE, later[0]) == learner.canonical(SITE, later[1])
    assert not learner.acts_on("other.example")


def test_one_page_under_many_urls_is_not_what_these_share() -> None:
    """A site that wants a login for a while, and pages that are their own else."""
    learner, kept = Learner(), f"{HOME}/login"
    learner.observe(SITE, kept)
    for number in range(60):
        learner.observe(SITE, f"{HOME}/index.php?title=t{number}", kept, same=True)
        learner.observe(SITE, f"{HOME}/user/{number}", kept, same=True)
    assert not learner.acts_on(SITE)


def said(name: bytes, first: int, count: int = 20) -> bytes:
    """Return what a page says that has a name, and words with hashes from `first` on."""
    return name + struct.pack(f">{count}H", *range(first, first + count))


@pytest.mark.parametrize(("cases", "same"), [(93, 55), (48, 13), (170, 44)])
@pytest.mark.parametrize("value", ["{n}", "no"])
def test_a_parameter_that_matters_at_times_is_refused(cases: int, same: int, value: str) -> None:
    """Whichever come last, and however the two are mixed."""
    told = [(number + 1) * same // cases > number * same // cases for number in range(cases)]
    for mixed in (told, sorted(told), sorted(told, reverse=True)):
        learner = Learner()
        for number, holds in enumerate(mixed):
            own = f"/index.php?title=t{number}"
            teach(learner, [(f"{own}&oldid={value.format(n=number)}", own)], same=holds)
        assert not learner.acts_on(SITE)


def test_what_cannot_be_told_counts_for_neither_side() -> None:
    """Of 88 pages for printing 81 are the same, and of seven nobody can tell."""
    learner, rule = Learner(), Rule("parameter", "printable", "yes")
    for number in range(88):
        own = f"{HOME}/index.php?title=t{number}"
        known = {"fingerprint": number}
        learner.observe(SITE, own, **known)
        told = (own, True) if (number + 1) % 12 else (None, None)
        learner.observe(SITE, f"{own}&printable=yes", *told, **known)
    found = evidence(learner, rule)
    assert (found.seen, found.contradictions, found.state) == (81, 0, "active")
    assert 6.9 < found.unsure <= 7


@pytest.mark.parametrize(
    ("name", "shared", "state"),
    [
        (b"list", 19, "active"),
        (b"list", 15, "suspended"),
        (b"list", 8, "dropped"),
        (b"else", 12, "dropped"),
    ],
)
def test_views_of_one_name_with_nearly_the_same_words_do_not_stop_a_rule(
    name: bytes, shared: int, state: str
) -> None:
    """Lists that the gate reads apart; where they share less, their rule rests, or is dropped."""
    learner = Learner()
    teach(learner, pairs_by("/a/{n}?x={m}", "/a/{n}"))
    for number in range(100, 100 + ENOUGH):
        views = (("", said(b"list", 0), 1), (f"?x={number}", said(name, 20 - shared), 2**64 - 1))
        for query, words, fingerprint in views:
            shown = {"fingerprint": fingerprint, "said": words}
            learner.observe(SITE, f"{HOME}/a/{number}{query}", **shown)
    assert evidence(learner, X).state == state


B_SHAPE = f"{SITE}/b/{{number}}"


def test_cases_of_other_shapes_count_where_a_shape_confirms_them_until_one_is_against_it() -> None:
    learner = Learner()
    teach(learner, pairs_by("/a/{n}?x={m}", "/a/{n}", count=3 * ENOUGH))
    assert teach(learner, pairs_by("/b/{n}?x={m}", "/b/{n}", count=POOLED - 1)) == []
    (change,) = teach(learner, pairs_by("/b/{n}?x={m}", "/b/{n}", POOLED, 1))
    assert (change.rule, change.shape, change.state) == (X, B_SHAPE, "active")
    (change,) = teach(learner, [("/c/1?x=5", "/c/1")], same=False)
    assert (change.shape, change.state) == (B_SHAPE, "suspended")
    assert learner.canonical(SITE, f"{HOME}/a/7?x=1") == f"{HOME}/a/7"
    assert learner.canonical(SITE, f"{HOME}/c/7?x=1") == f"{HOME}/c/7?x=1"
    changes = teach(learner, pairs_by("/b/{n}?x={m}", "/b/{n}", 50, CONFIRMED - POOLED))
    assert [change.state for change in changes] == ["active"]


def test_a_contradiction_suspends_a_rule_for_so_many_cases_and_the_third_one_drops_it() -> None:
    learner = Learner()
    teach(learner, pairs_by("/a/{n}?x={m}", "/a/{n}"))
    for number in range(1, MOST_CONTRADICTIONS + 1):
        url = f"/a/{number}000"
        assert learner.acts_on(SITE)
        (change,) = teach(learner, [(f"{url}?x=1", url)], same=False)
        assert change.state == ("dropped" if number == MOST_CONTRADICTIONS else "suspended")
        assert change.examples == ((f"{HOME}{url}?x=1", f"{HOME}{url}"),)
        assert not learner.acts_on(SITE)
        start = number * 1_000 + 1
        assert teach(learner, pairs_by("/a/{n}?x={m}", "/a/{n}", start, WINDOW - 1)) == []
        changes = teach(learner, pairs_by("/a/{n}?x={m}", "/a/{n}", start + WINDOW, 200))
        assert [change.state for change in changes] == ["active"] * (change.state != "dropped")


def test_of_several_rules_the_one_with_fewest_cases_is_to_blame() -> None:
    learner = Learner()
    printed = [f"{url}&printable=yes" for url in SCRIPTED]
    teach(learner, zip(SCRIPTED[:40], WIKI[:40], strict=True))
    teach(learner, zip(printed[40:60], WIKI[40:60], strict=True))
    printable = Rule("parameter", "printable", "yes")
    assert evidence(learner, printable).state == "active"
    changes = teach(learner, [(printed[70], WIKI[70])], same=False)
    assert [(each.rule, each.state) for each in changes] == [(printable, "suspended")]
    assert not learner.reasons(SITE, HOME + printed[71], HOME + WIKI[71])
    assert learner.reasons(SITE, HOME + SCRIPTED[71], HOME + WIKI[71])


@pytest.mark.parametrize("tests", ["..?.?", ".!..!", "........?..?...?", "nnnnn"])
def test_probes_that_bring_pages_like_no_other_one_stop_a_rule(tests: str) -> None:
    """The pages share a name and half of their words: nobody can tell whether they are others.

    It may be known (`!`) that they are not a third page.
    """
    learner = Learner()
    teach(learner, pairs_by("/a/{n}?x={n}", "/a/{n}"))
    changes = []
    for number, test in enumerate(tests, 900):
        own, url, third = f"{HOME}/a/{number}", f"{HOME}/a/{number}?x={number}", f"{HOME}/b?y=1"
        stood = Fetched(own, parts_of(own), content_of(own), 0, said(b"name", 0, 32))
        learner.observe(SITE, own)
        changes += learner.observe(
            *(SITE, url),
            *{".": (own, True), "?": (None, None), "!": (third, False), "n": (third, None)}[test],
            fingerprint=2**64 - 1,
            said=said(b"name", 12, 32),
            stood=stood,
            by=learner.reasons(SITE, own, url),
        )
    stopped = [(X, "suspended")] if tests in ("..?.?", ".!..!") else []
    assert [(each.rule, each.state) for each in changes] == stopped


def test_numbers_of_a_parameter_may_be_no_matter_where_its_words_are() -> None:
    learner = Learner()
    number = Rule("value", "x", "{number}")
    teach(learner, pairs_by("/a/{n}?x={n}5", "/a/{n}?x={m}"))
    one, other = f"{HOME}/a/900?x=1", f"{HOME}/a/900?x=2"
    assert learner.canonical(SITE, one) == learner.canonical(SITE, other)
    teach(learner, [("/a/800?x=new", "/a/800?x=7"), ("/a/801?x=7", "/a/801")], same=False)
    assert evidence(learner, X).state == "suspended"
    assert evidence(learner, number).state == "active"
    assert learner.canonical(SITE, one) == learner.canonical(SITE, other)
    rest = {learner.canonical(SITE, f"{HOME}/a/900{end}") for end in ("?x=new", "?x=old", "")}
    assert len(rest | {learner.canonical(SITE, one)}) == 4
    changes = teach(learner, [("/a/802?x=3", "/a/802?x=4")], same=False)
    assert number in {change.rule for change in changes}
    assert learner.canonical(SITE, one) != learner.canonical(SITE, other)


def test_what_a_parameter_says_may_be_a_part_of_another_path() -> None:
    """Of a page with two more parameters, that which makes it another one is found."""
    learner = Learner()
    printed = [f"{url}&printable=yes" for url in SCRIPTED]
    teach(learner, zip(printed[:20], WIKI[:20], strict=True))
    assert evidence(learner, TITLE).state == "active"
    learned = [learner.canonical(SITE, HOME + url) for url in (printed[50], SCRIPTED[50])]
    assert learned == [HOME + WIKI[50]] * 2
    told = [word for n in range(40) for word in (WIKI[n], f"{SCRIPTED[n]}&action=history")]
    for number, url in enumerate(told):
        words = struct.pack(">32H", *range(number * 40, number * 40 + 32))
        apart = {"fingerprint": number % 2 * (2**64 - 1), "said": bytes(8) + words}
        learner.observe(SITE, HOME + url, **apart)
    assert evidence(learner, TITLE).state == "active"
    history = evidence(learner, Rule("parameter", "action", "history"))
    assert (history.against > 10, history.support) == (True, 0)
    found = learner.rules_between(SITE, HOME + printed[50], HOME + WIKI[50])
    shape = f"{SITE}/index.php"
    assert found == ((shape, Rule("parameter", "printable", "yes")), (shape, TITLE))
    # Where it once says another path, it is left alone.
    teach(learner, [(SCRIPTED[60], WIKI[60])], same=False)
    assert evidence(learner, TITLE).state == "suspended"
    assert learner.canonical(SITE, HOME + SCRIPTED[50]) == HOME + SCRIPTED[50]


PLACES = [(SITE, SHAPE), (SITE, EVERY), (EVERY, EVERY)]
"""Where a person can say a word: URLs of a shape, of a site, and of all sites."""


def test_what_a_parameter_says_may_be_added_to_a_path_that_another_one_says() -> None:
    """`/index.php?title=Links&of=X` is `/wiki/Links/X`."""
    learner = Learner()
    teach(learner, zip(SCRIPTED[:20], WIKI[:20], strict=True))
    names = [path.removeprefix("/wiki/") for path in WIKI]
    long = [(f"/index.php?title=Links&of={x}+on", f"/wiki/Links/{x}_on") for x in names]
    (change,) = teach(learner, long[:10])
    assert (change.shape, change.rule) == (f"{SITE}/wiki/links", Rule("path", "of", "./*_*"))
    assert learner.canonical(SITE, HOME + long[50][0]) == HOME + long[50][1]


def test_two_hosts_that_each_stand_for_the_other_have_the_same_urls() -> None:
    learner, names = Learner(), ("a.example.com", SITE)
    for pair in (names, names[::-1]):
        learner.put(SITE, EVERY, Rule("host", *pair), Evidence(word="pinned"))
    assert len({learner.canonical(SITE, f"https://{name}/a") for name in names}) == 1


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
    for number in range(before, FEW):
        assert not guess.acts_on(SITE)
        teach(guess, pairs_by("/a/{n}?x={m}", "/a/{n}", number, 1))
    assert guess.canonical(SITE, f"{HOME}/a/9?x=5") == f"{HOME}/a/9"
    teach(guess, pairs_by("/a/{n}?x={m}", "/a/{n}", 500, 2 * POOLED), same=False)
    assert guess.canonical(SITE, f"{HOME}/a/9?x=5") != f"{HOME}/a/9"


def test_a_word_for_a_shape_is_an_exception_to_that_for_the_site() -> None:
    for order in ((SHAPE, EVERY), (EVERY, SHAPE)):
        learner = Learner()
        words = {SHAPE: Evidence(word="forbidden"), EVERY: Evidence(word="pinned")}
        for shape in order:
            learner.put(SITE, shape, X, words[shape])
        assert learner.canonical(SITE, f"{HOME}/a/9?x=5") == f"{HOME}/a/9?x=5"
        assert learner.canonical(SITE, f"{HOME}/b/9?x=5") == f"{HOME}/b/9"


def test_a_pinned_rule_does_not_act_where_it_was_contradicted_just_before() -> None:
    learner = Learner()
    teach(learner, [("/a/1?x=5", "/a/1")], same=False)
    learner.put(SITE, EVERY, X, Evidence(word="pinned"))
    assert learner.canonical(SITE, f"{HOME}/a/9?x=5") == f"{HOME}/a/9?x=5"
    assert learner.canonical(SITE, f"{HOME}/b/9?x=5") == f"{HOME}/b/9"


def test_further_pages_of_a_list_do_not_contradict_that_its_first_page_may_name_its_start() -> None:
    """`/a/7?start=0` is `/a/7`; each second page differs from it by the value of `start` alone."""
    learner = Learner()
    first = Rule("parameter", "start", "0")
    teach(learner, pairs_by("/a/{n}?start=0", "/a/{n}", count=ENOUGH))
    for plain in ("/a/{n}", "/a/{n}?start=0"):
        teach(learner, pairs_by("/a/{n}?start=20", plain, count=3), same=False)
    assert evidence(learner, first).contradictions == 0
    assert learner.canonical(SITE, f"{HOME}/a/9?start=0") == f"{HOME}/a/9"
    assert learner.canonical(SITE, f"{HOME}/a/9?start=20") != f"{HOME}/a/9"

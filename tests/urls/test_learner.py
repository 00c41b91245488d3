"""Rules are learned from pairs of URLs: which, when they act, and what ends that."""

from __future__ import annotations

import struct
from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simhash_gate.urls import first_values, pools, siblings
from simhash_gate.urls import parts as url_parts
from simhash_gate.urls.active_rules import EVERY
from simhash_gate.urls.evidence import (
    CONFIRMED,
    ENOUGH_CONTENTS,
    FADES,
    MOST_CONTRADICTIONS,
    POOLED,
    WINDOW,
    Evidence,
    Word,
    lower_bound,
)
from simhash_gate.urls.fetched import Fetched, content_of, relation
from simhash_gate.urls.learner import LEAST, Change, Learner
from simhash_gate.urls.parts import WITH, parts_of
from simhash_gate.urls.rules import Rule
from simhash_gate.urls.visits import Visits

if TYPE_CHECKING:
    from collections.abc import Iterable

SITE = "example.com"
HOME = f"https://{SITE}"
X, PRINT = Rule("parameter", "x", "*"), Rule("segment", "print", "-1")
ENOUGH = 35
"""So many cases without a contradiction have a bound of 0.9."""


def teach(learner: Learner, pairs: Iterable[tuple[str, str]], *, same: bool = True) -> list[Change]:
    """Fetch the second URL of each pair, then the first, which is the same page or not."""
    changes = []
    for url, kept in pairs:
        changes += learner.observe(SITE, HOME + kept)
        changes += learner.observe(SITE, HOME + url, HOME + kept, same)
    return changes


def pairs_by(form: str, plain: str, start: int = 0, count: int = ENOUGH) -> list[tuple[str, str]]:
    """Return pairs of URLs of different pages, from number `start` on."""
    return [
        (form.format(n=n, m=n + 7), plain.format(n=n, m=n + 7)) for n in range(start, start + count)
    ]


def evidence(learner: Learner, rule: Rule, shape: str = "", scope: str = SITE) -> Evidence:
    (found,) = (
        each
        for where, its_shape, its, each in learner.evidence(scope)
        if its == rule and shape in ("", its_shape)
    )
    return found


@pytest.mark.parametrize(
    ("form", "plain", "rule"),
    [
        ("/a/{n}?x={m}", "/a/{n}", X),
        ("/a/{n}?x=yes", "/a/{n}", Rule("parameter", "x", "yes")),
        ("/a/{n}?x=1&y=2", "/a/{n}?y=2&x=1", Rule("order")),
        ("/a/{n}?x={n}5", "/a/{n}?x={m}", Rule("value", "x", "{{number}}".format())),
        ("/a/{n};ticket={m}", "/a/{n}", Rule("path parameter", "ticket")),
        ("/(S(abcdef{m}))/a/{n}", "/a/{n}", Rule("segment", "{{code}}".format(), "0")),
        ("/a/{n}/printed", "/a/{n}", Rule("segment", "printed", "-1")),
        ("/a/{n}/some-old-name", "/a/{n}/some-new-name", Rule("place", "2")),
        ("/a/{n}/", "/a/{n}", Rule("slash")),
        ("/A/{n}", "/a/{n}", Rule("case")),
    ],
)
def test_each_kind_of_rule_is_learned_and_acts_at_its_bound(
    form: str, plain: str, rule: Rule
) -> None:
    learner = Learner()
    changes = teach(learner, pairs_by(form, plain, count=ENOUGH - 1))
    assert [change for change in changes if change.rule == rule] == []
    before = [HOME + url for url in (form.format(n=900, m=900), plain.format(n=900, m=900))]
    assert learner.canonical(SITE, before[0]) != learner.canonical(SITE, before[1])
    changes = teach(learner, pairs_by(form, plain, ENOUGH - 1, 1))
    (change,) = (change for change in changes if change.rule == rule)
    assert (change.scope, change.state) == (SITE, "active")
    assert change.bound >= LEAST > lower_bound(ENOUGH - 1, ENOUGH - 1)
    assert change.examples[0] == (HOME + form.format(n=0, m=7), HOME + plain.format(n=0, m=7))
    assert learner.canonical(SITE, before[0]) == learner.canonical(SITE, before[1])


@pytest.mark.parametrize(
    ("one", "other", "rule"),
    [
        ("http://example.com/a/{n}", "https://example.com/a/{n}", Rule("scheme")),
        ("https://m.example.com/a/{n}", HOME + "/a/{n}", Rule("host", "m.example.com", SITE)),
        (HOME + "/a{n}/index.html", HOME + "/a{n}/", Rule("index")),
        (HOME + "/a/{n}?utm_source=x{m}", HOME + "/a/{n}", Rule("parameter", "utm_source", "*")),
        (HOME + "/a/{n};jsessionid={m}", HOME + "/a/{n}", Rule("path parameter", "jsessionid")),
        (HOME + "/a/{n}/print", HOME + "/a/{n}", PRINT),
        (HOME + "/a/{n}?print=1", HOME + "/a/{n}", Rule("parameter", "print", "1")),
        (HOME + "/i.php?title=N{n}", HOME + "/a/N{n}", Rule("path", "title", "/a/*")),
    ],
)
def test_what_seldom_matters_anywhere_needs_few_cases(one: str, other: str, rule: Rule) -> None:
    learner, needed = Learner(), 0
    while not learner.acts_on(SITE):
        needed += 1
        url, kept = (each.format(n=needed, m=needed) for each in (one, other))
        learner.observe(SITE, kept)
        learner.observe(SITE, url, kept, same=True)
        assert needed <= ENOUGH_CONTENTS
    assert needed == ENOUGH_CONTENTS
    assert [each for _, _, each, its in learner.evidence(SITE) if its.state == "active"] == [rule]


def test_a_guess_is_refuted_like_any_rule() -> None:
    learner = Learner()
    teach(learner, pairs_by("/a/{n}?ref_src=x{n}", "/a/{n}", count=20), same=False)
    teach(learner, pairs_by("/a/{n}?ref_src=x{n}", "/a/{n}", 20, 400))
    assert not learner.acts_on(SITE)


@pytest.mark.parametrize("page", ["login", "not-found"])
def test_one_page_under_many_urls_is_not_what_these_share(page: str) -> None:
    """A site that wants a login, or has gone, for a while, and pages that are their own else."""
    learner, kept = Learner(), f"{HOME}/{page}"
    learner.observe(SITE, kept)
    for number in range(60):
        learner.observe(SITE, f"{HOME}/index.php?title=t{number}", kept, same=True)
        learner.observe(SITE, f"{HOME}/user/{number}", kept, same=True)
    assert not learner.acts_on(SITE)


def test_a_parameter_that_chooses_the_page_is_not_learned_from_error_pages_between() -> None:
    learner = Learner()
    error = f"{HOME}/index.php?title=error"
    page = {"fingerprint": 0, "said": bytes(range(68))}
    learner.observe(SITE, error, **page)
    for number in range(500):
        url = f"{HOME}/index.php?title=t{number}"
        if number % 5:
            learner.observe(SITE, url, error, same=True, **page)
        else:  # another page, of other words
            own = bytes((number + n) % 256 for n in range(100, 168))
            learner.observe(SITE, url, fingerprint=2**64 - 1 - number, said=own)
    assert not learner.acts_on(SITE)


def said(name: bytes, first: int, count: int = 20) -> bytes:
    """Return what a page says that has a name, and words with hashes from `first` on."""
    return name + struct.pack(f">{count}H", *range(first, first + count))


@pytest.mark.parametrize(
    ("name", "shared", "told"),
    [
        (b"same", 8, False),
        (b"same", 12, None),
        (b"else", 8, False),
        (b"else", 12, False),
        (b"else", 16, None),
        (bytes(4), 12, False),
    ],
)
def test_pages_of_one_name_are_told_apart_where_they_share_few_words(
    name: bytes, shared: int, told: bool | None
) -> None:
    """Of 32 words 8 are those of both, of 28 words 12, of 24 words 16."""
    mine = bytes(4) if not any(name) else b"same"
    page, other = (
        Fetched(url, parts_of(url), number, number * (2**64 - 1), said(its_name, number * first))
        for number, (url, its_name, first) in enumerate(
            [(f"{HOME}/a", mine, 0), (f"{HOME}/b", name, 20 - shared)]
        )
    )
    assert relation(page, other) is relation(other, page) is told


def test_copies_that_read_far_apart_do_not_contradict_a_rule() -> None:
    """A short article, of which the site for phones shows other lines around the text."""
    learner, phone = Learner(), Rule("host", f"m.{SITE}", SITE)
    for number in range(40):
        shown = (said(b"name", 0), said(b"name", 8)) if number == 30 else (said(b"name", 0),) * 2
        told = (f"{HOME}/a/{number}", True) if number != 30 else (None, None)
        learner.observe(SITE, f"{HOME}/a/{number}", fingerprint=number, said=shown[0])
        learner.observe(
            *(SITE, f"https://m.{SITE}/a/{number}", *told),
            fingerprint=2**64 - 1 - number,
            said=shown[1],
        )
    found = evidence(learner, phone)
    assert (found.state, found.contradictions, found.support > 35) == ("active", 0, True)
    assert 0.9 < found.unsure <= 1


@pytest.mark.parametrize(
    ("form", "cases", "same", "rules"),
    [
        ("/index.php?oldid={n}", 94, 55, ["oldid"]),
        ("/index.php?redirect=no", 49, 13, ["redirect"]),
        ("/index.php?limit={n}", 171, 44, ["limit"]),
    ],
)
@pytest.mark.parametrize("last", [True, False])
def test_a_parameter_that_matters_at_times_is_refused(
    form: str, cases: int, same: int, rules: list[str], last: bool
) -> None:
    """Whichever come last, and however the two are mixed."""
    learner = Learner()
    told = [number * same // cases != (number - 1) * same // cases for number in range(1, cases)]
    for mixed in (told, sorted(told, reverse=not last)):
        for number, holds in enumerate(mixed):
            own = f"/index.php?title=t{number}"
            url = own + form.partition("?")[2].format(n=number).join(("&", ""))
            teach(learner, [(url, own)], same=holds)
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
    assert learner.canonical(SITE, f"{HOME}/index.php?title=n&printable=yes") == (
        f"{HOME}/index.php?title=n"
    )


def test_a_rule_of_which_little_can_be_told_rests() -> None:
    learner = Learner()
    teach(learner, pairs_by("/a/{n}?x={m}", "/a/{n}"))
    assert evidence(learner, X).state == "active"
    changes = []
    for number in range(100, 100 + ENOUGH):
        learner.observe(SITE, f"{HOME}/a/{number}", fingerprint=1)
        changes += learner.observe(SITE, f"{HOME}/a/{number}?x={number}", fingerprint=1)
    assert [(change.rule, change.state) for change in changes] == [(X, "suspended")]
    assert not changes[0].evidence.rests  # no page contradicts it
    assert "/a/1" in changes[0].examples[0][0]  # the last of which nobody can tell
    assert not learner.acts_on(SITE)


@pytest.mark.parametrize(("shared", "state"), [(19, "active"), (15, "suspended")])
def test_views_of_one_name_with_nearly_the_same_words_do_not_stop_a_rule(
    shared: int, state: str
) -> None:
    """Lists that the gate reads apart; where they share less, their rule rests."""
    learner = Learner()
    teach(learner, pairs_by("/a/{n}?x={m}", "/a/{n}"))
    for number in range(100, 100 + ENOUGH):
        views = (("", 0, 1), (f"?x={number}", 20 - shared, 2**64 - 1))
        for query, first, fingerprint in views:
            shown = {"fingerprint": fingerprint, "said": said(b"list", first)}
            learner.observe(SITE, f"{HOME}/a/{number}{query}", **shown)
    assert evidence(learner, X).state == state


def test_values_of_other_shapes_count_unless_a_case_is_against_the_rule() -> None:
    for same in (True, False):
        learner = Learner()
        teach(learner, pairs_by("/a/{n}?x={m}", "/a/{n}", count=3 * ENOUGH))
        teach(learner, [("/c/1?x=5", "/c/1")], same=same)
        teach(learner, pairs_by("/b/{n}?x=9", "/b/{n}", count=2 * ENOUGH))
        state = evidence(learner, X, f"{SITE}/b/{{number}}").state
        assert state == ("active" if same else "learning")


def test_a_parameter_that_matters_on_one_shape_acts_on_the_other() -> None:
    learner = Learner()
    for number in range(60):
        teach(learner, pairs_by("/story/{n}?x={m}", "/story/{n}", number, 1))
        teach(learner, pairs_by("/archive/{n}?x={m}", "/archive/{n}", number, 1), same=False)
    assert learner.canonical(SITE, f"{HOME}/story/7?x=1") == f"{HOME}/story/7"
    assert learner.canonical(SITE, f"{HOME}/archive/7?x=1") == f"{HOME}/archive/7?x=1"


def test_cases_of_other_shapes_count_where_a_shape_confirms_them() -> None:
    learner = Learner()
    teach(learner, pairs_by("/a/{n}?x={m}", "/a/{n}"))
    changes = teach(learner, pairs_by("/b/{n}?x={m}", "/b/{n}", count=POOLED - 1))
    assert changes == []
    (change,) = teach(learner, pairs_by("/b/{n}?x={m}", "/b/{n}", POOLED, 1))
    assert (change.rule, change.shape, change.state) == (X, f"{SITE}/b/{{number}}", "active")


def test_where_another_shape_contradicts_a_rule_more_cases_are_needed() -> None:
    learner = Learner()
    teach(learner, pairs_by("/a/{n}?x={m}", "/a/{n}", count=3 * ENOUGH))
    teach(learner, pairs_by("/b/{n}?x={m}", "/b/{n}", count=POOLED))
    assert evidence(learner, X, f"{SITE}/b/{{number}}").state == "active"
    (change,) = teach(learner, [("/c/1?x=5", "/c/1")], same=False)
    assert (change.shape, change.state) == (f"{SITE}/b/{{number}}", "suspended")
    assert evidence(learner, X, f"{SITE}/a/{{number}}").state == "active"
    changes = teach(learner, pairs_by("/b/{n}?x={m}", "/b/{n}", 50, CONFIRMED - POOLED))
    assert [change.state for change in changes] == ["active"]


def test_one_contradiction_suspends_a_rule_and_three_drop_it() -> None:
    learner, start = Learner(), 0
    states = []
    for _ in range(MOST_CONTRADICTIONS):
        states += [
            change.state
            for change in teach(learner, pairs_by("/a/{n}?x={m}", "/a/{n}", start, 150))
        ]
        start += 150
        assert learner.acts_on(SITE)
        (change,) = teach(learner, [(f"/a/{start}?x=1", f"/a/{start}")], same=False)
        assert change.examples == ((f"{HOME}/a/{start}?x=1", f"{HOME}/a/{start}"),)
        assert not learner.acts_on(SITE)
        states.append(change.state)
    assert states == ["active", "suspended", "active", "suspended", "active", "dropped"]
    assert teach(learner, pairs_by("/a/{n}?x={m}", "/a/{n}", start, 500)) == []


def test_a_rule_that_rests_is_dropped_by_two_more_contradictions() -> None:
    learner = Learner()
    teach(learner, pairs_by("/a/{n}?x={m}", "/a/{n}"))
    changes = teach(learner, pairs_by("/a/{n}?x={m}", "/a/{n}", 100, 5), same=False)
    assert [change.state for change in changes] == ["suspended", "dropped"]


def test_a_suspended_rule_rests_for_so_many_cases() -> None:
    learner = Learner()
    teach(learner, pairs_by("/a/{n}?x={m}", "/a/{n}", count=500))
    teach(learner, [("/a/600?x=1", "/a/600")], same=False)
    assert teach(learner, pairs_by("/a/{n}?x={m}", "/a/{n}", 700, WINDOW - 1)) == []
    (change,) = teach(learner, [("/a/900?x=1", "/a/900")])
    assert change.state == "active"


def test_old_cases_count_for_less() -> None:
    learner = Learner()
    teach(learner, pairs_by("/a/{n}?x={m}", "/a/{n}", count=10))
    assert evidence(learner, X).support == pytest.approx((1 - FADES**10) / (1 - FADES))


SHAPE = f"{SITE}/a/{{number}}"
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


def mixed(form: str, plain: str, count: int = 2 * ENOUGH) -> list[tuple[str, str]]:
    """Return pairs of URLs in an order that is not that of their numbers."""
    found = pairs_by(form, plain, 100, count)
    return found[::2] + found[1::2]


NEWER = f"{SHAPE} after {99 + 2 * ENOUGH}"


def cut() -> tuple[Learner, list[Change]]:
    """Return a learner of two rules, of which one fails for a newer page; and what it said."""
    learner = Learner()
    teach(learner, mixed("/a/{n}?x={m}", "/a/{n}"))
    teach(learner, mixed("/a/{n}?y={m}", "/a/{n}"))
    return learner, teach(learner, [("/a/900?x=2", "/a/900?x=1")], same=False)


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


def test_what_fails_for_older_pages_too_rests_on_these_as_well() -> None:
    learner, _ = cut()
    (change,) = teach(learner, [("/a/110?x=2", "/a/110?x=1")], same=False)
    assert (change.shape, change.rule, change.state) == (SHAPE, X, "suspended")
    url = f"{HOME}/a/120?x=5"
    assert learner.canonical(SITE, url) == url


def test_a_rule_that_did_not_fail_for_newer_pages_comes_back_as_soon_as_these_confirm_it() -> None:
    learner, _ = cut()
    teach(learner, pairs_by("/a/{n}?y={m}", "/a/{n}", 300, POOLED - 1))
    assert learner.canonical(SITE, f"{HOME}/a/800?y=5") == f"{HOME}/a/800?y=5"
    teach(learner, pairs_by("/a/{n}?y={m}", "/a/{n}", 400, 1))
    assert learner.canonical(SITE, f"{HOME}/a/800?y=5") == f"{HOME}/a/800"


def test_numbers_say_nothing_where_pages_came_in_their_order() -> None:
    learner = Learner()
    teach(learner, pairs_by("/a/{n}?x={m}", "/a/{n}", count=2 * ENOUGH))
    changes = teach(learner, [("/a/900?x=2", "/a/900?x=1")], same=False)
    assert [(change.shape, change.state) for change in changes] == [(SHAPE, "suspended")]


def test_a_contradiction_among_the_numbers_that_a_rule_held_for_is_one_against_all() -> None:
    learner = Learner()
    teach(learner, mixed("/a/{n}?x={m}", "/a/{n}"))
    (change,) = teach(learner, [("/a/110?x=2", "/a/110?x=1")], same=False)
    assert (change.shape, change.state) == (SHAPE, "suspended")


TITLE = Rule("path", "title", "/wiki/*")
WIKI = [f"/wiki/{chr(97 + n % 26) * 3}-{n}" for n in range(100)]
SCRIPTED = [f"/index.php?title={path.removeprefix('/wiki/')}" for path in WIKI]


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


def test_what_a_parameter_says_may_be_added_to_a_path_that_another_one_says() -> None:
    """`/index.php?title=Links&of=X` is `/wiki/Links/X`."""
    learner = Learner()
    teach(learner, zip(SCRIPTED[:20], WIKI[:20], strict=True))
    names = [path.removeprefix("/wiki/") for path in WIKI]
    long = [(f"/index.php?title=Links&of={x}+on", f"/wiki/Links/{x}_on") for x in names]
    changes = teach(learner, long[:10])
    own = Rule("path", "of", "./*_*")
    assert [(each.shape, each.rule) for each in changes] == [(f"{SITE}/wiki/links", own)]
    assert learner.canonical(SITE, HOME + long[50][0]) == HOME + long[50][1]
    both = ((f"{SITE}/index.php", TITLE), (f"{SITE}/wiki/links", own))
    assert learner.reasons(SITE, HOME + long[50][0], HOME + long[50][1]) == both
    changes = teach(learner, long[60:61], same=False)
    assert [(each.shape, each.rule, each.state) for each in changes] == [
        (f"{SITE}/wiki/links", own, "suspended")
    ]
    assert evidence(learner, TITLE).state == "active"


def test_a_second_value_of_a_page_is_another_case_than_the_first() -> None:
    """`?oldid=` of each page is that of its present version at first, and later of old ones."""
    learner = Learner()
    teach(learner, pairs_by("/a/{n}?x={n}", "/a/{n}"))
    assert evidence(learner, X).state == "active"
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
    for rule in (TITLE, Rule("segment", "print", "-1")):
        learner.put(SITE, EVERY, rule, Evidence(word="pinned"))
    teach(learner, pairs_by("/index.php?title=a-b-{n}&x={n}", "/index.php?title=a-b-{n}"))
    asked = [f"{HOME}/index.php?title=a-b-900&x={value}" for value in (1, 2)]
    for url in asked:
        learner.place(SITE, url)
    for other in (f"{HOME}/wiki/a-b-900", f"{HOME}/wiki/a-b-900/print"):
        assert learner.canonical(SITE, asked[0]) == learner.canonical(SITE, other)
        assert {rule for _, rule in learner.reasons(SITE, asked[0], other)} >= {TITLE, X}
        assert not learner.reasons(SITE, asked[1], other)


@pytest.mark.parametrize("caught_up", [True, False])
def test_a_first_value_is_known_by_what_later_rules_leave_of_its_url(caught_up: bool) -> None:
    learner = Learner()
    with closing(Visits()) as visits:
        asked = f"{HOME}/index.php?title=a-b-900&x=1"
        shape, canonical = learner.place(SITE, asked)
        visits.add(SITE, shape, asked, canonical)
        learner.put(SITE, EVERY, TITLE, Evidence(word="pinned"))
        teach(learner, pairs_by("/wiki/a-b-{n}?x={n}", "/wiki/a-b-{n}"))
        visits.rules_changed(SITE, shape)
        if caught_up:
            visits.catch_up(learner.place)
    second, bare = f"{HOME}/wiki/a-b-900?x=2", f"{HOME}/wiki/a-b-900"
    assert bool(learner.reasons(SITE, second, bare)) != caught_up


def test_two_parameters_that_say_the_same_path_are_both_reasons() -> None:
    learner = Learner()
    learner.put(SITE, EVERY, TITLE, Evidence(word="pinned"))
    for mine, its in ("56", "65"):
        pairs = [(f"/index.php?x={n}{mine}", f"/index.php?x={n}{its}") for n in range(ENOUGH)]
        teach(learner, pairs)
    one, other = f"{HOME}/index.php?x=page-zz&title=page-zz", f"{HOME}/wiki/page-zz"
    assert learner.canonical(SITE, one) == other
    assert not learner.reasons(SITE, one, other)


def test_another_value_of_a_parameter_is_another_case_than_none() -> None:
    """The form for a section says the same for each section, and not what that of the page says."""
    learner = Learner()
    for mine, its in ("56", "65"):
        teach(learner, [(f"/a/{n}?x={n}{mine}", f"/a/{n}?x={n}{its}") for n in range(ENOUGH)])
    assert evidence(learner, X).state == "active"
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


def test_what_seldom_matters_anywhere_is_used_beside_any_parameter() -> None:
    learner = Learner()
    teach(learner, pairs_by("/a/{n}?utm_source={n}", "/a/{n}"))
    assert learner.reasons(SITE, f"{HOME}/a/900?utm_source=1&y=5", f"{HOME}/a/900?y=5")


WITH_Y = f"{SHAPE}{WITH}y"


def test_a_rule_that_fails_beside_a_parameter_goes_on_without_it() -> None:
    """`?limit=` is no matter on short lists, and those that have an `?offset=` are long."""
    learner = Learner()
    teach(learner, pairs_by("/a/{n}?x={n}", "/a/{n}"))
    changes = teach(learner, [("/a/800?x=1&y=5", "/a/800?y=5")], same=False)
    assert [(each.shape, each.rule, each.state) for each in changes] == [(WITH_Y, X, "suspended")]
    assert evidence(learner, X, SHAPE).state == "active"
    assert evidence(learner, X, WITH_Y).contradictions == 1
    assert learner.reasons(SITE, f"{HOME}/a/900?x=1", f"{HOME}/a/900") == ((SHAPE, X),)
    one, other = f"{HOME}/a/900?x=1&y=5", f"{HOME}/a/900?y=5"
    assert learner.canonical(SITE, one) != learner.canonical(SITE, other)
    assert learner.shapes.of(parts_of(one)) == WITH_Y
    changes = teach(learner, [("/a/801?x=1", "/a/801")], same=False)
    assert [(each.shape, each.state) for each in changes] == [(SHAPE, "suspended")]


@pytest.mark.parametrize(("cases", "parts"), [(0, True), (1, True), (2, False)])
def test_a_shape_is_parted_by_what_few_cases_had(cases: int, parts: bool) -> None:
    learner = Learner()
    teach(learner, pairs_by("/a/{n}?x={n}&y=5", "/a/{n}?y=5", 100, cases))
    teach(learner, pairs_by("/a/{n}?x={n}", "/a/{n}", count=45 - cases))
    teach(learner, [("/a/99?x=1&y=5", "/a/99?y=5")], same=False)
    assert (evidence(learner, X, SHAPE).state == "active") == parts


def test_other_rules_must_show_anew_that_they_hold_where_a_shape_was_parted() -> None:
    learner = Learner()
    teach(learner, pairs_by("/a/{n}?x={n}", "/a/{n}"))
    teach(learner, pairs_by("/a/{n}?z={n}", "/a/{n}", 100))
    z = Rule("parameter", "z", "*")
    changes = teach(learner, [("/a/800?x=1&y=5", "/a/800?y=5")], same=False)
    assert [(each.shape, each.rule, each.state) for each in changes] == [
        (WITH_Y, X, "suspended"),
        (WITH_Y, z, "learning"),
    ]
    changes = teach(learner, pairs_by("/a/{n}?y=5&z={n}", "/a/{n}?y=5", 200, POOLED))
    assert [(each.shape, each.rule, each.state) for each in changes] == [(WITH_Y, z, "active")]


def test_what_is_forbidden_on_a_shape_is_so_on_its_parts() -> None:
    learner = Learner()
    z = Rule("parameter", "z", "*")
    learner.put(SITE, SHAPE, z, Evidence(word="forbidden"))
    teach(learner, pairs_by("/a/{n}?x={n}", "/a/{n}"))
    teach(learner, [("/a/800?x=1&y=5", "/a/800?y=5")], same=False)
    teach(learner, pairs_by("/a/{n}?y=5&z={n}", "/a/{n}?y=5", 200))
    assert evidence(learner, z, WITH_Y).word == "forbidden"
    assert evidence(learner, z, WITH_Y).state == "learning"


def test_a_shape_is_parted_by_a_few_parameters(monkeypatch) -> None:
    monkeypatch.setattr(url_parts, "MOST_NAMES", 1)
    learner = Learner()
    teach(learner, pairs_by("/a/{n}?x={n}", "/a/{n}"))
    teach(learner, [("/a/800?x=1&y=5", "/a/800?y=5")], same=False)
    assert evidence(learner, X, SHAPE).state == "active"
    teach(learner, [("/a/800?x=1&z=5", "/a/800?z=5")], same=False)
    assert evidence(learner, X, SHAPE).state == "suspended"


def test_the_first_value_of_a_page_is_known_by_the_url_that_rules_leave_too() -> None:
    learner = Learner()
    learner.put(SITE, EVERY, Rule("slash"), Evidence(word="pinned"))
    teach(learner, pairs_by("/a/{n}?x={n}", "/a/{n}"))
    assert learner.reasons(SITE, f"{HOME}/a/900?x=1", f"{HOME}/a/900")
    assert not learner.reasons(SITE, f"{HOME}/a/900/?x=2", f"{HOME}/a/900")
    assert learner.reasons(SITE, f"{HOME}/a/900/?x=1", f"{HOME}/a/900")


def test_the_first_values_of_many_pages_are_remembered(monkeypatch) -> None:
    monkeypatch.setattr(first_values, "MOST_PAGES", 20)
    values = first_values.FirstValues()

    def later(page: int, value: int) -> bool:
        parts = parts_of(f"{HOME}/{page}?x={value}")
        return bool(values.later(SITE, parts, parts))

    assert not any(later(page, 1) for page in range(10))
    assert later(9, 2)
    assert not any(later(page, 1) for page in range(10, 15))
    assert later(9, 2)
    assert not any(later(page, 1) for page in range(20, 100))
    assert not later(8, 2)
    assert len(values._new) + len(values._old) <= 21


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


@pytest.mark.parametrize(
    ("tests", "stops"),
    [
        ("..?.?", True),
        ("??", True),
        (".!..!", True),
        ("?", False),
        ("........?..?...?", False),
        ("nnnnn", False),
    ],
)
def test_probes_that_bring_pages_like_no_other_one_stop_a_rule(tests: str, stops: bool) -> None:
    """The pages share a name and half of their words: nobody can tell whether they are others.

    It may be known (`!`) that they are not a third page.
    """
    learner = Learner()
    teach(learner, pairs_by("/a/{n}?x={n}", "/a/{n}"))
    words = [struct.pack(">32H", *range(start, start + 32)) for start in (0, 12)]
    changes = []
    for number, test in enumerate(tests, 900):
        urls = f"{HOME}/a/{number}", f"{HOME}/a/{number}?x={number}"
        contents = content_of(urls[0]), content_of(urls[0] if test == "." else urls[1])
        one, other = (
            Fetched(url, parts_of(url), content, bits, b"name" + said)
            for url, content, bits, said in zip(urls, contents, (0, 2**64 - 1), words, strict=True)
        )
        assert relation(other, one) is (True if test == "." else None)
        third = f"{HOME}/b/c/d?y=1"
        told = {".": (urls[0], True), "?": (None, None), "!": (third, False), "n": (third, None)}
        learner.observe(SITE, urls[0])
        changes += learner.observe(
            *(SITE, urls[1], *told[test]),
            fingerprint=other.fingerprint,
            said=other.said,
            stood=one,
            by=learner.reasons(SITE, *urls),
        )
    assert [(each.rule, each.state) for each in changes] == [(X, "suspended")] * stops


def test_a_parameter_that_once_says_another_path_is_left_alone() -> None:
    learner = Learner()
    teach(learner, zip(SCRIPTED[:20], WIKI[:20], strict=True))
    assert learner.canonical(SITE, HOME + SCRIPTED[50]) == HOME + WIKI[50]
    teach(learner, [(SCRIPTED[21], WIKI[21])], same=False)
    assert evidence(learner, TITLE).state == "suspended"
    assert learner.canonical(SITE, HOME + SCRIPTED[50]) == HOME + SCRIPTED[50]


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


def test_two_pages_that_no_single_rule_tells_apart_stop_all_that_make_them_one() -> None:
    learner = Learner()
    learner.put(SITE, EVERY, Rule("place", "1"), Evidence(word="pinned"))
    learner.put(SITE, EVERY, PRINT, Evidence(word="pinned"))
    one, other = f"{HOME}/a/5/print", f"{HOME}/a/6"
    assert learner.canonical(SITE, one) == learner.canonical(SITE, other)
    learner.observe(SITE, one, other, same=False)
    assert learner.canonical(SITE, one) != learner.canonical(SITE, other)


def test_a_part_of_the_path_goes_however_often_it_is_there() -> None:
    learner = Learner()
    learner.put(SITE, EVERY, PRINT, Evidence(word="pinned"))
    assert learner.canonical(SITE, f"{HOME}/a{'/print' * 9}") == f"{HOME}/a"


def test_hosts_that_stand_for_each_other_end_at_one_of_them() -> None:
    learner = Learner()
    for hosts in (("a.example.com", SITE), (SITE, "a.example.com")):
        learner.put(SITE, EVERY, Rule("host", *hosts), Evidence(word="pinned"))
    found = {learner.canonical(SITE, url) for url in (f"{HOME}/a", "https://a.example.com/a")}
    assert len(found) == 1


def test_the_rules_between_two_urls_are_those_that_make_them_one() -> None:
    learner = Learner()
    learner.put(SITE, SHAPE, X, Evidence(word="pinned"))
    learner.put(SITE, EVERY, Rule("slash"), Evidence(word="pinned"))
    learner.put(SITE, EVERY, Rule("order"), Evidence(word="pinned"))
    found = learner.rules_between(SITE, f"{HOME}/a/1?x=2", f"{HOME}/a/1?x=3")
    assert found == ((SHAPE, X),)
    found = learner.rules_between(SITE, f"{HOME}/a/1/?x=2", f"{HOME}/a/1")
    assert found == ((EVERY, Rule("slash")), (SHAPE, X))


def test_no_more_than_so_much_evidence_is_kept(monkeypatch) -> None:
    monkeypatch.setattr(pools, "MOST_RULES", 50)
    learner = Learner()
    teach(learner, pairs_by("/a/{n}?x={m}", "/a/{n}"))
    for number in range(300):
        teach(
            learner,
            [(f"/a/1?p{number}=1", "/a/1"), (f"/s{number % 40}/1?y=1", f"/s{number % 40}/1")],
        )
        assert len(list(learner.evidence())) <= 50
    assert learner.canonical(SITE, f"{HOME}/a/9?x=5") == f"{HOME}/a/9"


def test_rules_that_act_are_kept_though_they_are_too_many(monkeypatch) -> None:
    monkeypatch.setattr(pools, "MOST_RULES", 10)
    learner = Learner()
    for number in range(30):
        learner.put(SITE, EVERY, Rule("parameter", f"p{number}", "*"), Evidence(word="pinned"))
    teach(learner, pairs_by("/a/{n}?x={m}", "/a/{n}"))
    assert learner.active >= 30


def test_no_more_than_so_many_pages_are_remembered(monkeypatch) -> None:
    monkeypatch.setattr(siblings, "MOST_SEEN", 20)
    learner = Learner()
    for number in range(200):
        learner.observe(SITE, f"{HOME}/a/{number}?x=1&y={number}")
    groups = learner._siblings._groups
    assert {page.url for group in groups.values() for page in group} == {
        f"{HOME}/a/{number}?x=1&y={number}" for number in range(180, 200)
    }


PATHS = ["a", "b", "1", "2", "print", "index.html", "A", "x;s=1", "x;s=2"]
URLS = st.builds(
    lambda scheme, host, path, slash, query: (
        f"{scheme}://{host}{SITE}/{'/'.join(path)}{'/' if slash and path else ''}"
        f"{'?' if query else ''}{'&'.join('='.join(pair) for pair in query)}"
    ),
    st.sampled_from(["https", "http"]),
    st.sampled_from(["", "m.", "www."]),
    st.lists(st.sampled_from(PATHS), max_size=3),
    st.booleans(),
    st.lists(st.tuples(st.sampled_from(["x", "y", "sid"]), st.sampled_from("12")), max_size=2),
)
SEEN = st.tuples(URLS, URLS, st.sampled_from([True, True, True, False, None]))
RULES = st.sampled_from(
    [
        *(X, Rule("parameter", "x", "1"), Rule("parameter", "sid", "*"), Rule("order")),
        *(Rule("value", "x", "{number}"), Rule("value", "sid", "{number}")),
        *(Rule("path", "x", "/a/*"), Rule("path", "sid", "/*"), Rule("path", "sid", "/b/*.html")),
        *(Rule("path", "x", "./*_*"), Rule("path", "sid", "./*")),
        *(PRINT, Rule("segment", "print", "0"), Rule("place", "0"), Rule("place", "1")),
        *(Rule("host", "m.example.com", SITE), Rule("host", SITE, "m.example.com")),
        *(Rule("slash"), Rule("index"), Rule("case"), Rule("scheme"), Rule("path parameter", "s")),
    ]
)
WORDS = st.tuples(RULES, st.sampled_from(["pinned", "forbidden", "guess"]))


def watched(steps: list, learner: Learner | None = None, scope: str = SITE) -> Learner:
    """Let a learner take steps; whatever they are, see that no rule acts that must not."""
    learner = Learner(0.3) if learner is None else learner
    for step in steps:
        if len(step) == 2:
            learner.put(scope, EVERY, step[0], Evidence(word=step[1]))
            continue
        url, kept, same = step
        told = (None, None) if same is None else (kept, same)
        learner.observe(scope, url, *told, fingerprint=hash(url) % 2**64)
        for where, shape, rule, found in learner.evidence():
            if found.rests or found.is_dropped:
                assert found.state != "active"
                assert rule not in learner._rules.get((where, shape), ())
            assert (found.state == "active") == (rule in learner._rules.get((where, shape), ()))
        if same is False and parts_of(url) != parts_of(kept):
            assert learner.canonical(scope, url) != learner.canonical(scope, kept)
    return learner


STEPS = st.lists(SEEN | WORDS | SEEN.map(lambda seen: (*seen[:2], True)), max_size=40)


@given(STEPS)
@settings(max_examples=60, deadline=None)
def test_no_rule_acts_with_a_contradiction_inside_its_window(steps: list) -> None:
    watched(steps)


@given(STEPS, st.lists(URLS, min_size=1, max_size=8))
@settings(max_examples=60, deadline=None)
def test_a_canonical_url_is_its_own(steps: list, urls: list[str]) -> None:
    learner = watched(steps)
    for url in urls:
        canonical = learner.canonical(SITE, url)
        assert learner.canonical(SITE, canonical) == canonical
        assert learner.place(SITE, url)[1] == canonical
        acting = learner.acting_on(SITE, url)
        assert bool(acting) == (parts_of(canonical) != parts_of(url))


@given(STEPS, STEPS, st.data())
@settings(max_examples=40, deadline=None)
def test_evidence_of_one_scope_never_changes_another(mine: list, theirs: list, data) -> None:
    """Hosts of both are the same here, so that nothing but the scope tells them apart."""
    alone = watched([], Learner(0.3), "one")
    both = watched([], Learner(0.3), "one")
    for step in mine:
        for url in [step[0], step[1]] if len(step) == 3 else []:
            both.shapes.note(parts_of(url))
            alone.shapes.note(parts_of(url))
    rest = iter(theirs)
    for step in mine:
        watched([step], alone, "one")
        watched([step], both, "one")
        watched([*islice(rest, data.draw(st.integers(0, 3)))], both, "other")
    assert [*both.evidence("one")] == [*alone.evidence("one")]
    for url in {step[0] for step in (*mine, *theirs) if len(step) == 3}:
        assert both.canonical("one", url) == alone.canonical("one", url)

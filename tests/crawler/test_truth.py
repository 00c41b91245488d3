from __future__ import annotations

import pytest

from crawler.truth import NO_SKIPS, Served, Skips, changed_fraction, score, words


def page(serve, article="", version=0, *, status=200, html=True, product="", offer="", **more):
    return Served(serve, f"/{serve}", status, html, article, version, product, offer, **more)


def figures(log, delivered, **given):
    known = {"dropped": (), "articles": ("a",), "products": (), "seconds": 2.0, "alone": True}
    changed = {("a", 1, 2): 0.3, ("a", 1, 3): 0.05, ("a", 2, 3): 0.25}
    told = {"changed": changed, "skips": NO_SKIPS, "warmup": 0}
    return score(log, delivered, **(known | told | given))


A1, A2 = [page(serve, "a", 1) for serve in range(4)], [page(serve, "a", 2) for serve in range(4)]
OFFERS = [page(1, offer="x;M;9"), page(2, offer="x;L;9"), page(3, offer="x;L;9")]
SALE = [page(1, product="x", offer="x;M;9"), page(2, product="x", offer="x;M;8")]


@pytest.mark.parametrize(
    ("log", "delivered", "given", "expected"),
    [
        # A second page of a delivered version is a duplicate.
        (A1[1:], {1, 3}, {}, {"duplicates": 2, "duplicates_delivered": 1, "caught": 0.5}),
        # A page is no duplicate of one that was dropped.
        (A1[1:3], {2}, {}, {"duplicates": 0, "lost": 0, "caught": 1.0}),
        # An article is lost when no version of it was delivered.
        ([A1[1], A2[2], page(3, "b", 1)], {2}, {"articles": ("a", "b", "c")}, {"lost": 2}),
        # A version that changed by a tenth is an update until it is delivered.
        ([A1[1], *A2[2:]], {1, 2, 3}, {}, {"updates": 1, "updates_dropped": 0, "duplicates": 1}),
        # It is dropped when no page of it came through.
        ([A1[1], *A2[2:]], {1}, {}, {"updates": 2, "updates_dropped": 2}),
        ([A1[1], *A2[2:]], {1, 3}, {}, {"updates": 2, "updates_dropped": 0}),
        # It must differ from every delivered version.
        ([A1[1], A2[2], page(3, "a", 3)], {1, 2}, {}, {"updates": 1, "duplicates": 0}),
        # An older version that comes later is an update, too.
        ([A2[1], A1[2]], {1}, {}, {"updates_dropped": 1}),
        # Only HTML pages with status 200 count.
        (
            [page(1, html=False), page(2, "a", 1, status=503), A1[3], page(4, status=404), page(5)],
            {3, 5},
            {"seconds": 4.0},
            {"fetched": 2, "duplicates": 0, "pages_per_second": 0.5},
        ),
        # Products are counted apart.
        (
            [page(1, product="x"), page(2, product="y")],
            {1},
            {"articles": (), "products": ("x", "y")},
            {"products": 2, "products_lost": 1, "lost": 0},
        ),
        # An offer is lost when a page of it was dropped and none delivered.
        (OFFERS, {1}, {"dropped": {2, 3}}, {"offers": 2, "offers_lost": 1}),
        (OFFERS, {1, 3}, {"dropped": {2}}, {"offers_lost": 0}),
        # One of several crawls can not know which offers are lost.
        (OFFERS[:1], set(), {"dropped": {1}, "alone": False}, {"offers": 1, "offers_lost": None}),
        # Another price is another offer.
        (SALE, {1}, {"dropped": {2}}, {"offers": 2, "offers_lost": 1, "duplicates": 0}),
        # A second page of a delivered offer is a duplicate.
        (
            [OFFERS[1], OFFERS[2], page(4, offer="x;L;9")],
            {2, 4},
            {"dropped": {3}},
            {"duplicates": 2, "duplicates_delivered": 1, "caught": 0.5},
        ),
        # A crawl that fetched nothing has figures.
        ([], set(), {"seconds": 0.0}, {"fetched": 0, "caught": 1.0, "pages_per_second": 0.0}),
    ],
)
def test_what_was_served_is_counted(log, delivered, given, expected):
    found = figures(log, delivered, **given).as_dict()
    assert {name: found[name] for name in expected} == expected


def shown(serve, content, **more):
    return page(serve, content=content, **more)


def test_a_request_for_what_was_delivered_can_be_avoided_after_the_warm_up():
    log = [shown(1, "x"), shown(2, "x"), shown(3, "y"), shown(4, "x"), shown(5, "")]
    result = figures(log, {1, 3, 5})
    assert (result.avoidable, result.fetches_avoided, result.probes) == (2, 0, 0)
    log = [shown(serve, "x") for serve in range(1, 5)]
    assert figures(log[:3], {2}).avoidable == 1
    counted = [figures(log, {1}, warmup=warmup).avoidable for warmup in (0, 2, 3, 9)]
    assert counted == [3, 2, 1, 0]


def test_an_avoided_request_counts_if_its_content_came_before_or_after():
    skips = Skips(avoided=4, probes=1, contents=["x", "y", "y", "lost"])
    result = figures([shown(1, "x"), shown(2, "y")], {1, 2}, skips=skips)
    assert (result.avoidable, result.fetches_avoided, result.probes) == (3, 4, 1)


def test_pages_of_a_trap_are_counted_until_the_site_ends_it():
    log = [shown(1, "a"), *(shown(serve, "b", trap=True) for serve in (2, 3))]
    for more, counted in (([], (2, False)), ([shown(4, "d", trap=True, status=410)], (2, True))):
        result = figures([*log, *more], {1, 2})
        assert (result.trap_fetches, result.trap_full) == counted


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ("", "", 0.0),
        ("a b c d", "", 1.0),
        ("", "a", 1.0),
        ("a b c d", "a x c d", 0.25),
        ("a b c d", "a b c d e f g h", 0.5),
        ("a b c d", "b c d a", 0.25),
        # A Chinese character is a word.
        ("在 York, 你好 42", "在 York 你坏", 2 / 5),
        # Longer than a machine's word of 64 bits.
        ("a b " * 50, "b a " * 50, 0.01),
    ],
)
def test_the_changed_fraction_is_one_minus_the_common_subsequence_over_the_longer(
    before, after, changed
):
    assert changed_fraction(words(before), words(after)) == pytest.approx(changed)

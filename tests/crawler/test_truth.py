import pytest

from crawler.truth import Served, Truth, score


def page(serve, article="", version=0, *, status=200, html=True, product="", offer="", **more):
    return Served(serve, f"/{serve}", status, html, article, version, product, offer, **more)


def figures(log, delivered, **given):
    known = {"articles": ["a"], "products": [], "log": log}
    known["changed"] = {"a 1 2": 0.3, "a 1 3": 0.05, "a 2 3": 0.25}
    known |= {name: given.pop(name) for name in [*known] if name in given}
    return score(Truth(**known), delivered, **{"seconds": 2.0, **given})


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
        # It must differ from every delivered version.
        ([A1[1], A2[2], page(3, "a", 3)], {1, 2}, {}, {"updates": 1, "duplicates": 0}),
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
        # Another price is another offer.
        (SALE, {1}, {"dropped": {2}}, {"offers": 2, "offers_lost": 1, "duplicates": 0}),
    ],
)
def test_what_was_served_is_counted(log, delivered, given, expected):
    found = figures(log, delivered, **given)
    assert {name: found[name] for name in expected} == expected


def shown(*contents):
    return [page(serve, content=content) for serve, content in enumerate(contents, 1)]


def test_a_request_for_what_was_delivered_can_be_avoided():
    assert figures(shown("x", "x", "y", "x", ""), {1, 3, 5})["avoidable"] == 2
    assert figures(shown("x", "x", "x"), {2})["avoidable"] == 1

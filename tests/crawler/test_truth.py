from __future__ import annotations

import random

import pytest

from crawler.truth import NO_SKIPS, Served, Skips, changed_fraction, score, words


def page(serve, article="", version=0, *, status=200, html=True, product="", offer=""):
    return Served(serve, f"/{serve}", status, html, article, version, product, offer)


def figures(
    log,
    delivered,
    *,
    dropped=(),
    articles=("a",),
    products=(),
    changed=None,
    seconds=2.0,
    alone=True,
    skips=NO_SKIPS,
    warmup=0,
):
    return score(
        log,
        delivered,
        dropped=dropped,
        articles=articles,
        products=products,
        changed=changed or {("a", 1, 2): 0.3, ("a", 1, 3): 0.05, ("a", 2, 3): 0.25},
        seconds=seconds,
        alone=alone,
        skips=skips,
        warmup=warmup,
    )


def plain_lcs(a, b):
    row = [0] * (len(b) + 1)
    for x in a:
        new = [0]
        for j, y in enumerate(b):
            new.append(row[j] + 1 if x == y else max(row[j + 1], new[j]))
        row = new
    return row[-1]


def test_a_second_page_of_a_delivered_version_is_a_duplicate():
    result = figures([page(1, "a", 1), page(2, "a", 1), page(3, "a", 1)], {1, 3})
    assert (result.duplicates, result.duplicates_delivered, result.caught) == (2, 1, 0.5)


def test_a_page_is_no_duplicate_of_one_that_was_dropped():
    result = figures([page(1, "a", 1), page(2, "a", 1)], {2})
    assert (result.duplicates, result.lost, result.caught) == (0, 0, 1.0)


def test_the_serve_order_counts_not_the_order_of_the_log():
    result = figures([page(2, "a", 1), page(1, "a", 1)], {1})
    assert (result.duplicates, result.caught) == (1, 1.0)


def test_an_article_is_lost_when_no_version_of_it_was_delivered():
    log = [page(1, "a", 1), page(2, "a", 2), page(3, "b", 1)]
    assert figures(log, {2}, articles=("a", "b", "c")).lost == 2


def test_a_version_that_changed_by_a_tenth_is_an_update_until_it_is_delivered():
    result = figures([page(1, "a", 1), page(2, "a", 2), page(3, "a", 2)], {1, 2, 3})
    assert (result.updates, result.updates_dropped, result.duplicates) == (1, 0, 1)


def test_an_update_is_dropped_when_no_page_of_its_version_came_through():
    log = [page(1, "a", 1), page(2, "a", 2), page(3, "a", 2)]
    assert (figures(log, {1}).updates, figures(log, {1}).updates_dropped) == (2, 2)
    assert (figures(log, {1, 3}).updates, figures(log, {1, 3}).updates_dropped) == (2, 0)


def test_an_update_must_differ_from_every_delivered_version():
    result = figures([page(1, "a", 1), page(2, "a", 2), page(3, "a", 3)], {1, 2})
    assert (result.updates, result.duplicates) == (1, 0)


def test_an_older_version_that_comes_later_is_an_update_too():
    assert figures([page(1, "a", 2), page(2, "a", 1)], {1}).updates_dropped == 1


def test_only_html_pages_with_status_200_count():
    log = [
        page(1, html=False),
        page(2, "a", 1, status=503),
        page(3, "a", 1),
        page(4, status=404),
        page(5),
    ]
    result = figures(log, {3, 5}, seconds=4.0)
    assert (result.fetched, result.duplicates, result.pages_per_second) == (2, 0, 0.5)


def test_products_are_counted_apart():
    log = [page(1, product="x"), page(2, product="y")]
    result = figures(log, {1}, articles=(), products=("x", "y"))
    assert (result.products, result.products_lost, result.lost) == (2, 1, 0)


def test_an_offer_is_lost_when_a_page_of_it_was_dropped_and_none_delivered():
    log = [page(1, offer="x;M;9"), page(2, offer="x;L;9"), page(3, offer="x;L;9")]
    result = figures(log, {1}, dropped={2, 3})
    assert (result.offers, result.offers_lost) == (2, 1)
    assert figures(log, {1, 3}, dropped={2}).offers_lost == 0


def test_an_offer_that_was_neither_dropped_nor_delivered_is_no_loss_to_the_gate():
    assert figures([page(1, offer="x;M;9")], set()).offers_lost == 0


def test_another_price_is_another_offer():
    log = [page(1, product="x", offer="x;M;9"), page(2, product="x", offer="x;M;8")]
    result = figures(log, {1}, dropped={2}, products=("x",))
    assert (result.products_lost, result.offers, result.offers_lost) == (0, 2, 1)
    assert (result.duplicates, result.caught) == (0, 1.0)


def test_a_second_page_of_a_delivered_offer_is_a_duplicate():
    log = [page(1, offer="x;M;9"), page(2, offer="x;M;9"), page(3, offer="x;M;9")]
    result = figures(log, {1, 3}, dropped={2})
    assert (result.duplicates, result.duplicates_delivered, result.caught) == (2, 1, 0.5)


def test_one_of_several_crawls_can_not_know_which_offers_are_lost():
    result = figures([page(1, offer="x;M;9")], set(), dropped={1}, alone=False)
    assert (result.offers, result.offers_lost) == (1, None)


def shown(serve, content, **kwargs):
    return page(serve)._replace(content=content, **kwargs)


def test_a_request_for_what_was_delivered_can_be_avoided():
    log = [shown(1, "x"), shown(2, "x"), shown(3, "y"), shown(4, "x"), shown(5, "")]
    result = figures(log, {1, 3, 5})
    assert (result.avoidable, result.fetches_avoided, result.probes) == (2, 0, 0)


def test_a_page_is_needed_until_its_content_is_delivered():
    assert figures([shown(1, "x"), shown(2, "x"), shown(3, "x")], {2}).avoidable == 1


def test_what_could_be_avoided_is_counted_after_the_warm_up():
    log = [shown(1, "x"), shown(2, "x"), shown(3, "x"), shown(4, "x")]
    counted = [figures(log, {1}, warmup=warmup).avoidable for warmup in (0, 2, 3, 9)]
    assert counted == [3, 2, 1, 0]


def test_an_avoided_request_counts_if_its_content_came_before_or_after():
    skips = Skips(avoided=4, probes=1, contents=["x", "y", "y", "lost"])
    result = figures([shown(1, "x"), shown(2, "y")], {1, 2}, skips=skips)
    assert (result.avoidable, result.fetches_avoided, result.probes) == (3, 4, 1)


def test_pages_of_a_trap_are_counted_until_the_site_ends_it():
    log = [shown(1, "a"), shown(2, "b", trap=True), shown(3, "c", trap=True)]
    result = figures(log, {1, 2})
    assert (result.trap_fetches, result.trap_full) == (2, False)
    ended = figures([*log, shown(4, "d", trap=True, status=410)], {1, 2})
    assert (ended.trap_fetches, ended.trap_full) == (2, True)


def test_a_crawl_that_fetched_nothing_has_figures():
    result = figures([], set(), seconds=0.0)
    assert (result.fetched, result.caught, result.pages_per_second) == (0, 1.0, 0.0)


def test_the_figures_have_the_names_that_scripts_read():
    assert list(figures([], set()).as_dict()) == [
        "articles",
        "lost",
        "products",
        "products_lost",
        "fetched",
        "duplicates",
        "duplicates_delivered",
        "caught",
        "updates",
        "updates_dropped",
        "offers",
        "offers_lost",
        "pages_per_second",
        "fetches_avoided",
        "avoidable",
        "warmup",
        "probes",
        "trap_fetches",
        "trap_full",
    ]


def test_a_chinese_character_is_a_word():
    assert words("在 New York, 你好 42") == ["在", "New", "York", "你", "好", "42"]


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ("", "", 0.0),
        ("a b c d", "a b c d", 0.0),
        ("a b c d", "", 1.0),
        ("", "a", 1.0),
        ("a b c d", "a x c d", 0.25),
        ("a b c d", "a b c d e f g h", 0.5),
        ("a b", "c d", 1.0),
        ("a b c d", "b c d a", 0.25),
    ],
)
def test_the_changed_fraction_is_one_minus_the_common_subsequence_over_the_longer(
    before, after, changed
):
    assert changed_fraction(before.split(), after.split()) == pytest.approx(changed)


def test_the_bits_count_the_same_subsequence_as_the_table():
    rng = random.Random(5)
    for _ in range(200):
        a = rng.choices("abcde", k=rng.randint(1, 80))
        b = rng.choices("abcde", k=rng.randint(1, 80))
        expected = 1 - plain_lcs(a, b) / max(len(a), len(b))
        assert changed_fraction(a, b) == pytest.approx(expected)

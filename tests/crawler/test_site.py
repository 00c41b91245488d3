from __future__ import annotations

import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from html import unescape

import pytest

from crawler.site.articles import Article
from crawler.site.shop.goods import DEPARTMENTS
from crawler.site.shop.plan import HOME
from crawler.site.site import Site
from crawler.truth import TRUE_UPDATE, changed_fraction


def walk(site):
    """Follow every link from both home pages, and what asks to come back; targets by reply."""
    found, queue = {}, ["/", HOME]
    while queue:
        target = queue.pop()
        if target in found:
            continue
        reply = site.reply(target)
        if reply.status == 503:
            reply = site.reply(target)
        found[target] = reply
        queue += [reply.headers[name] for name in ("Location",) if name in reply.headers]
        if reply.html:
            html = reply.body.decode("utf-8", "replace")
            links = [unescape(href) for href in re.findall(r'href="(/[^"#]*)"', html)]
            queue += [link for link in links if not link.startswith(("/search", "/account"))]
    return found


@pytest.fixture(scope="module")
def site():
    return Site(40, 3)


@pytest.fixture(scope="module")
def walked(site):
    return walk(site)


def test_the_same_seed_gives_the_same_site_also_to_many_at_once_and_another_seed_another():
    alone, shared = Site(20, 7), Site(20, 7)
    targets = [*alone.pages.views, *alone.pages.contents, "/story/gone", "/feed.xml"]
    targets += [*alone.shop.plan.shelves, *alone.shop.plan.lists]
    with ThreadPoolExecutor(8) as pool:
        together = pool.map(lambda target: shared.reply(target).body, targets)
    assert dict(zip(targets, together, strict=True)) == {
        target: alone.reply(target).body for target in reversed(targets)
    }
    assert sorted(entry.serve for entry in shared.log) == list(range(1, len(targets) + 1))
    headlines = [{Article(seed, n).opening[0] for n in range(50)} for seed in (1, 2)]
    assert not headlines[0] & headlines[1]


def test_every_article_version_product_and_offer_can_be_reached_by_links(site, walked):
    seen = {(reply.article, reply.version) for reply in walked.values() if reply.article}
    assert seen == {
        (article.id, version.number)
        for article in site.pages.articles
        for version in article.versions
    }
    offers = {reply.offer for reply in walked.values() if reply.offer}
    assert offers == set(site.offers.values()) | site.shop.plan.offers


def test_at_least_thirty_per_cent_is_duplicate_and_five_are_true_updates(site, walked):
    pages = [reply for reply in walked.values() if reply.html and reply.status == 200]
    shown = Counter(
        (reply.article, reply.version, reply.offer)
        for reply in pages
        if reply.article or reply.offer
    )
    assert shown.total() - len(shown) >= 0.3 * len(pages)
    updates = [
        version
        for article in site.pages.articles
        for version in article.versions[1:]
        if all(
            changed_fraction(old.words(), version.words()) >= TRUE_UPDATE
            for old in article.versions[: version.number - 1]
        )
    ]
    assert len(updates) >= 0.05 * len(pages)


def test_updates_change_a_tenth_of_the_words_and_corrections_less():
    for article in (Article(1, number) for number in range(50)):
        for what, version in zip(article.history, article.versions[1:], strict=True):
            earlier = article.versions[: version.number - 1]
            changes = [changed_fraction(old.words(), version.words()) for old in earlier]
            assert what != "update" or min(changes) >= TRUE_UPDATE
            assert what == "update" or 0 < changes[-1] < TRUE_UPDATE


def test_the_site_has_all_that_makes_crawls_hard(site, walked):
    kinds = Counter(view.kind for view in site.pages.views.values())
    assert set(kinds) == {"main", "tracking", "print", "amp", "redesign", "comments", "mobile"}
    assert {article.language for article in site.pages.articles} == {"en", "de", "ar", "zh"}
    assert {301, 302, 404} <= {reply.status for reply in walked.values()}
    assert any("sid=" in target and reply.article for target, reply in walked.items())
    assert any("/story/" in target and not reply.article for target, reply in walked.items())
    assert {"image/png", "application/rss+xml"} <= {
        reply.headers.get("Content-Type") for reply in walked.values()
    }
    unavailable = {entry.path for entry in site.log if entry.status == 503}
    assert unavailable
    assert all(walked[path].status == 200 for path in unavailable)


def offer_pages(site):
    """What the pages of offers show: the offer, the HTML and its text."""
    for href, shelf in site.shop.plan.shelves.items():
        html = unescape(site.shop.page(href, 0).html)
        yield shelf, html, re.sub(r"<script.*?</script>|<[^>]*>", " ", html, flags=re.S)


def test_a_page_of_the_shop_says_what_it_offers_and_tells_machines_in_the_way_of_its_theme(site):
    ways = {
        "workshop": r'"price": "([\d.]+)"',
        "wardrobe": r'property="og:price:amount" content="([\d.]+)"',
        "household": r'itemprop="price" content="([\d.]+)"',
    }
    seen = set()
    for shelf, html, text in offer_pages(site):
        offer = shelf.offer
        assert f"<h1>{offer.good.name}" in re.sub(r"<(h1|span)[^>]*>\s*", r"<h1>", html)
        assert re.search(rf"\b{re.escape(offer.variant.sku)}\b", text)
        assert offer.price in text or offer.price.replace(".", ",") in text
        assert offer.variant.name in text
        others = {v.sku for v in offer.good.variants} - {offer.variant.sku}
        assert not any(re.search(rf"{re.escape(sku)}(?![\w.-])", text) for sku in others)
        if shelf.kind != "print":
            assert re.findall(ways[offer.good.department], html) == [offer.price]
            seen.add(offer.good.department)
    assert seen == set(ways) == set(DEPARTMENTS)


def test_a_page_that_is_gone_echoes_its_path_escaped(site):
    gone = site.reply("/story/some-slug")
    assert gone.status == 200
    assert b"/story/some-slug" in gone.body
    assert b"<b>x</b>" not in site.reply("/story/<b>x</b>").body
    for nothing in ("/nowhere", "/go?to=https://example.com"):
        assert site.reply(nothing).status == 404

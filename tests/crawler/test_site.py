from __future__ import annotations

import gzip
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


def bodies(site, targets):
    return {target: site.reply(target).body for target in targets}


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
    return Site(60, 3)


@pytest.fixture(scope="module")
def walked(site):
    return walk(site)


def test_the_same_seed_gives_the_same_urls_and_bytes():
    first, second = Site(30, 7), Site(30, 7)
    targets = [*first.pages.views, *first.pages.contents, "/story/gone", "/feed.xml"]
    targets += [*first.shop.plan.shelves, *first.shop.plan.lists]
    assert list(first.pages.views) == list(second.pages.views)
    assert bodies(first, targets) == bodies(second, reversed(targets))


def test_another_seed_gives_another_site():
    headlines = [{Article(seed, n).opening[0] for n in range(50)} for seed in (1, 2)]
    assert not headlines[0] & headlines[1]


def test_threads_get_the_same_texts_as_one_client_alone():
    alone, shared = Site(30, 7), Site(30, 7)
    targets = list(alone.pages.views)
    with ThreadPoolExecutor(8) as pool:
        together = dict(
            zip(targets, pool.map(lambda t: shared.reply(t).body, targets), strict=True)
        )
    assert together == bodies(alone, targets)
    assert sorted(entry.serve for entry in shared.log) == list(range(1, len(targets) + 1))


def test_what_is_live_on_a_page_changes_and_its_text_does_not():
    site = Site(20, 1)
    target = next(href for href, view in site.pages.views.items() if view.design == "semantic")
    replies = [site.reply(target) for _ in range(4)]
    pages = [reply.body.decode() for reply in replies if reply.status == 200][:2]
    lede = site.pages.views[target].article.versions[0].blocks[0].items[0]
    assert pages[0] != pages[1]
    assert all(lede in unescape(page) for page in pages)


def test_every_article_version_and_product_can_be_reached_by_links(site, walked):
    seen = {(reply.article, reply.version) for reply in walked.values() if reply.article}
    assert seen == {
        (article.id, version.number)
        for article in site.pages.articles
        for version in article.versions
    }
    products = {reply.product for reply in walked.values() if reply.product}
    assert products == {product.sku for product in site.pages.products} | site.shop.numbers
    offers = {reply.offer for reply in walked.values() if reply.offer}
    assert offers == set(site.offers.values()) | site.shop.plan.offers


def test_every_article_is_linked_from_pages_that_are_no_article(site):
    listed = set()
    for target, content in site.pages.contents.items():
        assert not site.reply(target).article
        listed |= {link.href for link in content.entries}
    assert set(site.pages.views) <= listed


def test_at_least_thirty_per_cent_is_duplicate(walked):
    pages = [reply for reply in walked.values() if reply.html and reply.status == 200]
    shown = Counter(
        (reply.article, reply.version, reply.offer)
        for reply in pages
        if reply.article or reply.offer
    )
    assert shown.total() - len(shown) >= 0.3 * len(pages)


def test_at_least_five_per_cent_are_true_updates(site, walked):
    pages = [reply for reply in walked.values() if reply.html and reply.status == 200]
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
    for article in (Article(1, number) for number in range(80)):
        for what, version in zip(article.history, article.versions[1:], strict=True):
            earlier = article.versions[: version.number - 1]
            changes = [changed_fraction(old.words(), version.words()) for old in earlier]
            if what == "update":
                assert min(changes) >= TRUE_UPDATE
            else:
                assert 0 < changes[-1] < TRUE_UPDATE


def test_different_articles_share_only_common_phrases():
    shingles = []
    for number in range(80):
        said = Article(1, number).versions[0].words()
        shingles.append({tuple(said[i : i + 3]) for i in range(len(said) - 2)})
    for i, first in enumerate(shingles):
        for second in shingles[i + 1 :]:
            assert len(first & second) < 0.25 * len(first | second)


def test_pages_carry_tens_of_kilobytes_of_furniture(site):
    for target, view in site.pages.views.items():
        if view.design in ("table", "semantic", "hashed"):
            article = len(" ".join(view.article.versions[view.version - 1].words()))
            assert len(site.reply(target).body) > article + 20_000 or site.log[-1].status == 503


def test_the_site_has_all_that_makes_crawls_hard():
    site = Site(100, 1)
    walked = walk(site)
    kinds = Counter(view.kind for view in site.pages.views.values())
    assert set(kinds) == {"main", "tracking", "print", "amp", "redesign", "comments", "mobile"}
    assert {article.language for article in site.pages.articles} == {"en", "de", "ar", "zh"}
    assert {301, 302, 404} <= {reply.status for reply in walked.values()}
    assert any("sid=" in target and reply.article for target, reply in walked.items())
    assert any("/story/" in t and r.status == 200 for t, r in walked.items())
    assert {"image/png", "application/rss+xml"} <= {
        reply.headers.get("Content-Type") for reply in walked.values()
    }
    unavailable = {entry.path for entry in site.log if entry.status == 503}
    assert unavailable
    assert all(walked[path].status == 200 for path in unavailable)
    lengths = [len(article.versions[0].words()) for article in site.pages.articles]
    assert min(lengths) < 80
    assert max(lengths) > 500


def test_charsets_are_missing_or_wrong_on_some_pages():
    site = Site(200, 1)
    charsets = {view.charset for view in site.pages.views.values()}
    assert any(header == "" and meta == "" for _, header, meta in charsets)
    assert any(header and meta and header != meta for _, header, meta in charsets)
    assert any(real == "cp1252" and header == "utf-8" for real, header, _ in charsets)
    for target, view in site.pages.views.items():
        real, header, meta = view.charset
        reply = site.reply(target)
        if reply.status == 200:
            assert reply.headers["Content-Type"].partition("charset=")[2] == header
            assert (f'<meta charset="{meta}">'.encode() in reply.body) == bool(meta)
            reply.body.decode(real)


def test_gzip_comes_only_to_those_who_take_it(site):
    for target in list(site.pages.contents)[:40]:
        plain = site.reply(target)
        packed = site.reply(target, accepts_gzip=True)
        assert "Content-Encoding" not in plain.headers
        if packed.headers.get("Content-Encoding") == "gzip":
            assert b"</html>" in gzip.decompress(packed.body)
            return
    pytest.fail("no page was packed")


def test_families_of_products_share_a_description_under_other_names():
    products = Site(300, 1).pages.products
    families = Counter(product.description for product in products)
    assert max(families.values()) >= 3
    assert len({product.sku for product in products}) == len(products)
    family = [p for p in products if p.description == families.most_common(1)[0][0]]
    assert len({(p.name, p.price) for p in family}) == len(family)


def offer_pages(site):
    """The pages of offers by their address, and what they show."""
    for href, shelf in site.shop.plan.shelves.items():
        yield href, shelf, unescape(site.shop.page(href, 0).html)


def test_a_page_of_the_shop_says_name_number_variant_and_price_of_its_offer(site):
    for _, shelf, html in offer_pages(site):
        offer, text = shelf.offer, re.sub(r"<script.*?</script>|<[^>]*>", " ", html, flags=re.S)
        price = offer.price
        assert f"<h1>{offer.good.name}" in re.sub(r"<(h1|span)[^>]*>\s*", r"<h1>", html)
        assert re.search(rf"\b{re.escape(offer.variant.sku)}\b", text)
        assert price in text or price.replace(".", ",") in text
        assert offer.variant.name in text
        others = {v.sku for v in offer.good.variants} - {offer.variant.sku}
        assert not any(re.search(rf"{re.escape(sku)}(?![\w.-])", text) for sku in others)


def test_each_theme_tells_machines_of_the_offer_in_its_own_way(site):
    ways = {
        "workshop": r'"price": "([\d.]+)"',
        "wardrobe": r'property="og:price:amount" content="([\d.]+)"',
        "household": r'itemprop="price" content="([\d.]+)"',
    }
    seen = set()
    for _, shelf, html in offer_pages(site):
        if shelf.kind != "print":
            department = shelf.offer.good.department
            assert re.findall(ways[department], html) == [shelf.offer.price]
            seen.add(department)
    assert seen == set(ways) == set(DEPARTMENTS)


def test_every_page_of_the_shop_is_linked_from_a_list(site):
    plan = site.shop.plan
    listed = {link.href for content in plan.lists.values() for link in content.entries}
    assert set(plan.shelves) <= listed


def test_the_shop_has_variants_sales_and_copies():
    plan = Site(100, 1).shop.plan
    shelves = plan.shelves.values()
    kinds = {"product", "category", "variant", "tracking", "related", "print", "sale"}
    assert {shelf.kind for shelf in shelves} == kinds
    assert len(plan.shelves) >= 2 * len(plan.offers)
    numbers = Counter(offer.split(";")[0] for offer in plan.offers)
    assert set(numbers.values()) == {1, 2}  # on sale it has two prices
    prices = {}
    for shelf in shelves:
        if len(shelf.offer.good.variants) > 1:
            prices.setdefault(shelf.offer.good.name, set()).add(shelf.offer.variant.price)
    assert {1} < set(map(len, prices.values()))  # some cost the same in all variants


def test_families_of_the_shop_differ_in_a_word_or_a_number_of_their_names():
    families = {}
    for good in Site(300, 1).shop.plan.goods:
        families.setdefault(good.description, []).append(good.name.split())
    differing = set()
    for first, *others in families.values():
        for other in others:
            (pair,) = [pair for pair in zip(first, other, strict=True) if pair[0] != pair[1]]
            differing.add(pair[0].isdigit())
    assert differing == {True, False}


def test_most_of_what_a_page_of_the_shop_says_is_on_all_pages_of_its_department(site):
    said = {}
    for _, shelf, html in offer_pages(site):
        if shelf.kind == "product":
            text = re.sub(r"<script.*?</script>|<[^>]*>", " ", html, flags=re.S)
            said.setdefault(shelf.offer.good.department, []).append(set(text.split()))
    for pages in said.values():
        everywhere = set.intersection(*pages)
        assert all(len(everywhere) >= 0.8 * len(page) for page in pages)


def test_a_page_that_is_gone_echoes_its_path(site):
    assert b"/story/some-slug" in site.reply("/story/some-slug").body
    assert site.reply("/story/some-slug").status == 200
    assert site.reply("/nowhere").status == 404


def test_markup_in_a_path_is_escaped(site):
    assert b"<b>x</b>" not in site.reply("/story/<b>x</b>").body
    assert site.reply("/go?to=https://example.com").status == 404

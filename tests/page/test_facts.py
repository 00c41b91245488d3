"""What structured data say of a page: JSON-LD, microdata and `meta`, of its main entity alone."""

import json
import pickle

import pytest

from simhash_gate import Page, read_page
from tests.page.pages import json_ld

CURRENCY = {"priceCurrency": "EUR"}
OFFER = {"@type": "Offer", "price": "19.99", **CURRENCY}
HIVE = {"@type": "Product", "name": "A hive", "offers": OFFER}
LIST = {"@type": "ItemList", "itemListElement": [{"item": HIVE}]}
STORY = {
    "@type": "NewsArticle",
    "headline": "A storm",
    "author": {"@type": "Person", "name": "Ada Wind"},
    "datePublished": "2025-03-01T10:00:00+01:00",
}


def read(html: str, url: str = "https://x.example/page") -> Page:
    return read_page(f"<html><body>{html}<p>The wind came at night.</p>".encode(), url=url)


def facts(page: Page) -> tuple[str | None, ...]:
    return page.kind, page.author, page.date, page.price


AN_ARTICLE = ("article", "Ada Wind", "2025-03-01T10:00:00+01:00", None)
A_PRODUCT = ("product", None, None, "19.99 EUR")


@pytest.mark.parametrize(
    "data",
    [
        STORY,
        [STORY],
        {"@type": "WebPage", "mainEntity": STORY},
        {"@graph": [{"@type": "WebPage", "mainEntity": {"@id": "#a"}}, {"@id": "#a", **STORY}]},
        {**STORY, "@type": ["Thing", "https://schema.org/BlogPosting"]},
        {**STORY, "mentions": [HIVE], "isPartOf": {"@type": "Product", **HIVE}},
        json.dumps(STORY)[:-1] + ",}",
        json.dumps(STORY).replace("A storm", "A storm,]\n\t in the north"),
        f"//<![CDATA[\n{json.dumps(STORY)}\n//]]>",
        json.dumps(STORY) + ";",
    ],
    ids=range(10),
)
def test_an_article_is_told_however_its_json_is_written(data):
    assert facts(read(json_ld(data))) == AN_ARTICLE


@pytest.mark.parametrize(
    "product",
    [
        HIVE,
        {**HIVE, "offers": [OFFER, {**OFFER, "price": 30}]},
        {**HIVE, "offers": {"@type": "AggregateOffer", "lowPrice": 19.99, **CURRENCY}},
        {**HIVE, "offers": {"@type": "Offer", "priceSpecification": [OFFER]}},
        {**HIVE, "offers": [{**OFFER, "price": "on request"}, {**OFFER, "price": "19,99 €"}]},
        {"@type": "ProductGroup", "name": "A hive", "hasVariant": [HIVE, {**HIVE, "name": "B"}]},
        {**HIVE, "isRelatedTo": [{"@type": "Product", "name": "B", "offers": OFFER}]},
    ],
)
def test_a_product_has_a_price(product):
    assert facts(read(json_ld(product))) == A_PRODUCT


def test_microdata_say_the_same_and_meta_is_asked_last():
    article = (
        "<article itemscope itemtype='https://schema.org/NewsArticle'><h1 itemprop=headline>A</h1>"
        "<span itemprop=author itemscope itemtype='https://schema.org/Person'>by "
        "<b itemprop=name>Ada\n Wind</b></span>"
        "<time itemprop=datePublished datetime='2025-03-01T10:00:00+01:00'>today</time>"
        "<div itemprop=comment itemscope itemtype='https://schema.org/Comment'>"
        "<b itemprop=author>Bob</b></div></article>"
    )
    product = (
        "<div itemscope itemtype=http://schema.org/Product><p itemprop=offers itemscope>"
        "<b itemprop=price content=19.99>€ 19</b><meta itemprop=priceCurrency content=EUR></div>"
    )
    meta = (
        "<meta property=og:type content=product><meta property=product:price:amount content=19.99>"
        "<meta property=product:price:currency content=EUR><meta name=author content='Shop'>"
    )
    blog = (
        "<meta property=og:type content=article><meta name=author content='Ada Wind'>"
        "<meta property=article:published_time content='2025-03-01T10:00:00+01:00'>"
    )
    assert facts(read(product)) == facts(read(meta)) == A_PRODUCT
    assert facts(read(article)) == facts(read(blog)) == AN_ARTICLE
    assert facts(read(meta + json_ld(STORY))) == AN_ARTICLE


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        ({"@type": "QAPage", "mainEntity": {"@type": "Question", "name": "Why?"}}, "forum"),
        ([HIVE, {**HIVE, "name": "A smoker"}], "collection"),
        ({"@type": "CollectionPage", "mainEntity": LIST}, "collection"),
        ({"@type": "APIReference", "headline": "read()"}, "documentation"),
        ({"@type": "Service", "name": "Beekeeping"}, "service"),
        ({"@type": "FAQPage", "mainEntity": [{"@type": "Question", "name": "Why?"}]}, None),
        ({"@type": "Product", "name": "Beekeeping", "aggregateRating": {"ratingValue": 5}}, None),
        ([STORY, {**STORY, "headline": "A calm"}], None),
        ({**LIST, "@type": "BreadcrumbList"}, None),
    ],
)
def test_the_kind_is_that_of_what_the_page_is_about(data, kind):
    assert read(json_ld(data)).kind == kind


def test_the_kind_is_also_told_by_the_address_the_head_and_the_software():
    assert read(json_ld(STORY), "https://x.example/").kind is None, "a front page is no article"
    assert read(json_ld([HIVE, STORY])).kind == "product"
    story = "<meta property=og:type content=article>"
    assert read(story + json_ld([HIVE, STORY])).kind == "article"
    for software in ("Discourse 3.2", "phpBB"):
        assert read(f"<meta name=generator content='{software}'>").kind == "forum"
    whole = "<html itemscope itemtype=https://schema.org/QAPage><body><p>Why do bees dance?</body>"
    assert read_page(whole.encode()).kind == "forum"


@pytest.mark.parametrize(
    "data",
    [
        "null",
        '{"@type": null, "author": 1, "offers": "x"}',
        '{"@type": "Product", "offers": [null, 1, {"price": {}}], "author": [[], {}]}',
        '{"@type": "Article", "datePublished": "yesterday", "author": "https://x.example/ada"}',
        '{"@type": "WebPage", "mainEntity": {"@id": {}}, "@id": []}',
        "[" * 100_000,
        '{"@graph":' * 50_000,
        '"' + "\\" * 100_000,
        '"' + '\\"' * 200_000 + ",}",
        " " * 300_000 + "/*" + " " * 300_000 + "{" + " " * 300_000,
        ",\n" + " " * 1_000 + "{" * 200_000,
    ],
    ids=range(11),
)
def test_what_makes_no_sense_says_nothing(data):
    page = read(json_ld(data))
    assert not page.unreadable, page.reason
    assert facts(page)[1:] == (None, None, None)


def test_any_number_of_properties_and_nested_scopes_is_read():
    scope = "<div itemscope itemtype=http://schema.org/Product itemprop=x>"
    page = read(scope * 900 + "<b itemprop=name>x</b>" * 5_000)
    assert not page.unreadable, page.reason


def test_facts_go_with_a_page_and_move_no_fingerprint():
    page, plain = read(json_ld(STORY) + "<h1>A storm</h1>"), read("<h1>A storm</h1>")
    assert facts(pickle.loads(pickle.dumps(page))) == AN_ARTICLE
    assert facts(plain) == (None, None, None, None)
    assert page.fingerprint == plain.fingerprint
    assert facts(read_page(json_ld(HIVE).encode() + b"<p>x")) == A_PRODUCT
    assert facts(read_page(json_ld(HIVE).encode())) == A_PRODUCT, "without any text"

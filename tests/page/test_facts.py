"""What a page says of itself, in its data or around its headline; of its main entity alone."""

import json
import pickle
import subprocess
import sys

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
        json.dumps(STORY).replace("A storm", "A storm,]\n\t in the north"),
        f"//<![CDATA[\n{json.dumps(STORY)}\n//]]>",
        json.dumps(STORY) + ";",
    ],
    ids=range(9),
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


WIND = (
    "The wind came from the north all night, and nobody in the harbour slept until the sun was up. "
)


def signed(lines: str, language: str = "en", more: str = "", path: str = "storm") -> Page:
    head = f"<html lang={language}><title>A storm at sea - The Ledger</title>"
    html = (
        f"{head}<body><nav><a href=/>Home</a></nav><h1>A storm at sea</h1>{lines}<p>{WIND * 2}</p>"
    )
    return read_page(f"{html}<p>{WIND}</p>{more}".encode(), url=f"https://ledger.example/{path}")


@pytest.mark.parametrize(
    ("lines", "language", "author", "date"),
    [
        ("<p>By Greta Holm · 18 October 2025", "en", "Greta Holm", "2025-10-18"),
        ("<p>October 18th, 2025 By Greta Holm", "en-US", "Greta Holm", "2025-10-18"),
        ("<p>By<p>Greta Holm<p>Oct 18, 2025<p>4 min read", "en", "Greta Holm", "2025-10-18"),
        ("<p>Written by: Greta Holm, Editor<p>03/04/2025", "en-GB", "Greta Holm", "2025-04-03"),
        ("<p>03/04/2025", "en", None, "2025-03-04"),
        ("<p>Von Greta Holm<p>3. März 2024, 14:30 Uhr", "de-DE", "Greta Holm", "2024-03-03"),
        ("<p>Par Greta Holm<p>Publié le 4 août 2022", "fr", "Greta Holm", "2022-08-04"),
        ("<p>Por Greta Holm | 13 de mayo de 2022", "es", "Greta Holm", "2022-05-13"),
        ("<p>12. října 2023", "cs", None, "2023-10-12"),
        ("<p>27 Haziran 2013", "tr-TR", None, "2013-06-27"),
        ("<p>2018年6月17日", "ja", None, "2018-06-17"),
        ("<p>5 мая 2021 г.", "ru", None, "2021-05-05"),
        ("<p>Oct 18, 2025", "xx", None, "2025-10-18"),
        ("<p><a rel=author href=/g>greta</a> 2 min", "en", "greta", None),
        ("<p><time>18 Oct 2025</time>", "sv", None, "2025-10-18"),
        ("<p>Sort By Size Descending<p>Trier par: Nom", "fr", None, None),
        ("<p>May 1, 2025 | Updated: May 3, 2025", "en", None, "2025-05-01"),
        ("<p>Last updated on May 3, 2025", "en", None, None),
        ("<p>May 3, 2999", "en", None, None),
        ("<p>Share by email<p>Trusted by 4M+ people<p>Slide 1 of 81", "en", None, None),
    ],
)
def test_a_byline_says_what_data_do_not(lines, language, author, date):
    page = signed(lines, language)
    assert (page.author, page.date, page.site) == (author, date, "The Ledger")
    assert signed(lines, language, json_ld(STORY)).author == "Ada Wind"


def test_bylines_of_entries_are_not_the_pages_and_an_address_may_say_the_day():
    entry = f"<div><h2><a href=/{{0}}>Part {{0}}</a></h2><p>May {{0}}, 2025</p><p>{WIND}</div>"
    entries = "".join(map(entry.format, (4, 5, 6)))
    assert signed(entries, path="category/storms").date is None
    said = "<div class=by>May 1, 2025</div>"
    assert signed(said).date == "2025-05-01"
    assert signed(said, more=said.replace("1", "2") + f"<p>{WIND}").date is None
    assert signed("", path="2025/05/04/storm").date == "2025-05-04"


PERSON = {"@type": "Person", "@id": "#ada", "name": "Ada Wind"}


@pytest.mark.parametrize(
    ("head", "author", "date"),
    [
        (json_ld([{**STORY, "author": {"@id": "#ada"}}, PERSON]), *AN_ARTICLE[1:3]),
        (json_ld({"@type": "WebPage", "datePublished": "2025-03-01"}), None, "2025-03-01"),
        (json_ld({**STORY, "datePublished": "Mar 1, 2025"}), "Ada Wind", "2025-03-01"),
        (json_ld({**STORY, "datePublished": "2999-03-01"}), "Ada Wind", None),
        (
            "<meta property=article:author content='Ada Wind'><meta name=date content=2025/3/1>",
            *("Ada Wind", "2025-03-01"),
        ),
        ("<meta property=article:author content=https://x.example/ada>", None, None),
        ("<meta property=article:modified_time content=2025-03-01>", None, None),
    ],
    ids=range(7),
)
def test_data_say_who_and_when_in_other_ways(head, author, date):
    page = read(head)
    assert (page.author, page.date) == (author, date)


def test_what_reads_dates_is_loaded_when_a_date_is_asked_for_that_needs_it():
    code = (
        "import sys; from simhash_gate import read_page;"
        "body = b'<h1>A storm</h1><p>18 October 2025<p>' + b'The wind came from the north. ' * 20;"
        "page = read_page(body); assert 'dateparser' not in sys.modules;"
        "assert page.date == '2025-10-18'; assert 'dateparser' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

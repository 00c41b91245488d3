"""The name of a page: its headline, or its `<title>` without the site's part."""

import timeit

import pytest

from simhash_gate import read_page
from tests.page.pages import json_ld

STORY = "<p>The wind came from the north all night, and nobody in the harbour slept.</p>"


def title(html: str, url: str = "https://www.dailyledger.com/harbour/storm") -> str:
    return read_page(html.encode(), url=url).title


LEDGER = "https://ledger.example/x"
SITE = {"@type": "WebSite", "name": "TDL"}
PUBLISHED = {"@type": "Article", "publisher": {"@type": "Organization", "name": "TDL"}}


@pytest.mark.parametrize(
    ("said", "more", "url"),
    [
        ("Page not found - The Daily Ledger", "", "https://dailyledger.com/x"),
        ("Page not found - The Daily Ledger", "", ""),
        ("The Daily Ledger | Page not found", "", "https://www.thedailyledger.co.uk/x"),
        ("Page not found – News – Ledger", "", "https://news.ledger.com/x"),
        ("Day Ledger: Page not found", "<meta property=og:title content='Page not found'>", LEDGER),
        ("TDL - Page not found", "<meta property=og:site_name content=TDL>", LEDGER),
        ("TDL » Page not found", json_ld(SITE), LEDGER),
        ("TDL » Page not found", json_ld(PUBLISHED), LEDGER),
    ],
)
def test_the_part_of_the_site_is_taken_off(said, more, url):
    page = f"<title>{said}</title>{more}<p>Sorry, there is nothing here any more.</p>"
    assert title(page, url) == "Page not found"


def test_a_title_of_one_word_is_one():
    for site in ("HomeMart", "Home Mart", "homemart.com", "HomeMart US"):
        html = f"<title>Basket - {site}</title>{STORY}"
        assert title(html, "https://www.homemart.com/basket") == "Basket", site


def test_a_page_that_its_head_calls_by_the_name_of_its_site_has_its_headline():
    head = "<title>The Daily Ledger</title><meta property=og:title content='The Daily Ledger'>"
    page = f"{head}<header><h1>The Daily Ledger</h1></header><h1>A storm</h1>{STORY}"
    assert title(page) == "A storm"
    assert title(page, "https://www.dailyledger.com/") == "The Daily Ledger"


def test_the_name_of_the_site_is_what_its_first_link_home_says():
    logo = "<h1><a href=/?ref=logo>Tide & Wind</a></h1>"
    page = f"<title>A storm - Tide & Wind</title>{logo}<article>{STORY}</article>"
    assert title(page, "https://paper.example/storm") == "A storm"


@pytest.mark.parametrize(
    ("head", "h1", "expected"),
    [
        ("7 Major Storms of 2025 | The Daily Ledger", "The 7 biggest storms of 2025", None),
        ("Travel insurance | Daily Ledger", "Sleep well tonight", "Travel insurance"),
        ("What to see", "The harbour in a storm", None),
        ("A storm", "<style>b{color:red}</style><b>A storm</b>", "A storm"),
    ],
)
def test_a_heading_is_the_title_if_it_says_what_the_head_or_the_address_says(head, h1, expected):
    page = f"<title>{head}</title><h1>{h1}</h1>{STORY}"
    url = "https://www.dailyledger.com/the-harbour-in-a-storm"
    assert title(page, url) == (expected or h1)


def test_any_url_links_and_title_will_do():
    for url in ("http://[bad", "https://127.0.0.1/x", "x", "https://localhost/x"):
        assert title(f"<title>A storm</title>{STORY}", url) == "A storm", url
    links = "<a href=/>x</a>" * 5_000
    parts = "Ledger | " * 5_000
    assert title(f"<title>{parts}</title>{links}<h1>A storm</h1>{STORY}")


PARAGRAPHS = "<p>Some text of the page stands here." * 10_000
TEXT = "Some text of the page stands here. " * 10_000


@pytest.mark.parametrize(
    ("start", "open_headings"),
    [
        ("<div>" * 200 + PARAGRAPHS, "<div><h1>" * 100 + PARAGRAPHS),
        ("<p>" + TEXT, "<h1><span>" * 40 + TEXT),
    ],
)
def test_headings_around_a_whole_page_are_not_read_for_each(start, open_headings):
    """Such a page takes no more time than another of its size."""
    times = []
    for text in (start, open_headings):
        body = f"<title>Some text</title>{text}".encode()
        times.append(min(timeit.repeat(lambda b=body: read_page(b), number=1, repeat=5)))
    assert times[1] < 4 * times[0]

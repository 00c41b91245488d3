"""The name of a page: its headline, or its `<title>` without the site's part."""

from __future__ import annotations

import json

import pytest

from simhash_gate import read_page

STORY = "<p>The wind came from the north all night, and nobody in the harbour slept.</p>"


def title(html: str, url: str = "https://www.dailyledger.com/harbour/storm") -> str:
    return read_page(html.encode(), url=url).title


def ld(**data: object) -> str:
    return f'<script type="application/ld+json">{json.dumps(data)}</script>'


@pytest.mark.parametrize(
    ("head", "url"),
    [
        ("<title>Page not found - The Daily Ledger</title>", "https://dailyledger.com/x"),
        ("<title>Page not found - The Daily Ledger</title>", "https://ledger.example/x"),
        ("<title>Page not found - The Daily Ledger</title>", ""),
        ("<title>The Daily Ledger | Page not found</title>", "https://www.thedailyledger.co.uk/x"),
        (
            "<title>Ledger of the Day: Page not found</title><meta property=og:title "
            "content='Page not found'>",
            "https://ledger.example/x",
        ),
        (
            "<title>TDL - Page not found</title><meta property=og:site_name content=TDL>",
            "https://ledger.example/x",
        ),
        (
            "<title>TDL - Page not found</title><meta name=application-name content=TDL>",
            "https://ledger.example/x",
        ),
        (
            "<title>TDL » Page not found</title>" + ld(**{"@type": "WebSite", "name": "TDL"}),
            "https://ledger.example/x",
        ),
        (
            "<title>TDL » Page not found</title>"
            + ld(**{"@type": "Article", "publisher": {"@type": "Organization", "name": "TDL"}}),
            "https://ledger.example/x",
        ),
        ("<title>Page not found – News – Ledger</title>", "https://news.ledger.com/x"),
    ],
)
def test_the_part_of_the_site_is_taken_off(head, url):
    assert title(f"{head}<p>Sorry, there is nothing here any more.</p>", url) == "Page not found"


@pytest.mark.parametrize("site", ["HomeMart", "Home Mart", "homemart.com", "HomeMart US"])
def test_a_title_of_one_word_is_one(site):
    html = f"<title>Basket - {site}</title>{STORY}"
    assert title(html, "https://www.homemart.com/basket") == "Basket"


def test_a_page_that_its_head_calls_by_the_name_of_its_site_has_its_headline():
    head = "<title>The Daily Ledger</title><meta property=og:title content='The Daily Ledger'>"
    page = f"{head}<header><h1>The Daily Ledger</h1></header><h1>A storm</h1>{STORY}"
    assert title(page) == "A storm"
    assert title(page, "https://www.dailyledger.com/") == "The Daily Ledger"


def test_the_name_of_the_site_is_what_its_first_link_home_says():
    logo = "<h1><a href=/?ref=logo>Tide & Wind</a></h1>"
    page = f"<title>A storm - Tide & Wind</title>{logo}<article>{STORY}</article>"
    assert title(page, "https://paper.example/storm") == "A storm"


def test_a_headline_is_edited_for_those_who_search():
    head = "<title>7 Major Storms of 2025, by Harbour | The Daily Ledger</title>"
    page = f"{head}<h1>The 7 biggest storms of 2025, harbour by harbour</h1>{STORY}"
    assert title(page) == "The 7 biggest storms of 2025, harbour by harbour"


def test_a_heading_that_says_something_else_is_no_headline():
    page = f"<title>Travel insurance | Daily Ledger</title><h1>Sleep well tonight</h1>{STORY}"
    assert title(page) == "Travel insurance"


def test_the_address_speaks_for_a_headline():
    page = f"<title>What to see</title><h1>The harbour at dawn</h1>{STORY}"
    assert title(page, "https://x.example/the-harbour-at-dawn") == "The harbour at dawn"


def test_styles_and_scripts_are_no_part_of_a_headline():
    page = f"<title>A storm</title><h1><style>b{{color:red}}</style><b>A storm</b></h1>{STORY}"
    assert title(page) == "A storm"


@pytest.mark.parametrize("url", ["http://[bad", "https://127.0.0.1/x", "x", "https://localhost/x"])
def test_any_url_will_do(url):
    assert title(f"<title>A storm</title>{STORY}", url) == "A storm"


def test_many_links_and_long_titles_cost_what_they_are_long():
    links = "<a href=/>x</a>" * 50_000
    parts = "Ledger | " * 50_000
    assert title(f"<title>{parts}</title>{links}<h1>A storm</h1>{STORY}")

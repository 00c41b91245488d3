from __future__ import annotations

import pytest
from scrapy.http import HtmlResponse

from crawler.links import Links, site_of


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("https://www.example.co.uk/a", "example.co.uk"),
        ("https://news.example.com:8443/", "example.com"),
        ("http://localhost:8000/", "localhost"),
        ("http://127.0.0.1:8000/", "127.0.0.1"),
        ("http://[::1]:8000/", "::1"),
        ("https://someone.github.io/", "someone.github.io"),
        ("https://github.io/", "github.io"),
    ],
)
def test_a_site_is_the_registered_domain_or_the_host(url, site):
    assert site_of(url) == site


def found(html, url="https://example.com/dir/page", sites=("example.com",)):
    response = HtmlResponse(url, body=html.encode(), encoding="utf-8")
    return list(Links(set(sites)).of(response))


def test_links_stay_on_the_site_and_come_once():
    html = """<a href="/a">1</a> <a href="b#x">2</a> <a href="b#y">3</a>
    <a href="//www.example.com/c">4</a> <a href="https://example.org/">5</a>
    <a href="mailto:me@example.com">6</a> <a href="javascript:void(0)">7</a> <a>8</a>"""
    assert found(html) == [
        "https://example.com/a",
        "https://example.com/dir/b",
        "https://www.example.com/c",
    ]


@pytest.mark.parametrize(
    ("html", "link"),
    [
        ('<base href="/other/"><a href="a">1</a>', "https://example.com/other/a"),
        ('<base href="http://["><a href="/a">2</a>', "https://example.com/a"),
        ('<a href="http://[">1</a><a href="/a">2</a>', "https://example.com/a"),
    ],
)
def test_the_base_of_a_page_counts_and_what_is_broken_does_not_stop_the_others(html, link):
    assert found(html) == [link]

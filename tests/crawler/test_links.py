from __future__ import annotations

import pytest
from scrapy.http import HtmlResponse

from crawler.links import Links, site_of


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("https://www.example.co.uk/a", "example.co.uk"),
        ("https://news.example.com:8443/", "example.com"),
        ("http://127.0.0.1:8000/", "127.0.0.1"),
        ("http://[::1]:8000/", "::1"),
        ("https://someone.github.io/", "someone.github.io"),
    ],
)
def test_a_site_is_the_registered_domain_or_the_host(url, site):
    assert site_of(url) == site


@pytest.mark.parametrize(
    ("html", "links"),
    [
        # They stay on the site, and come once.
        (
            """<a href="/a">1</a> <a href="b#x">2</a> <a href="b#y">3</a>
            <a href="//www.example.com/c">4</a> <a href="https://example.org/">5</a>
            <a href="mailto:me@example.com">6</a> <a href="javascript:void(0)">7</a> <a>8</a>""",
            ["example.com/a", "example.com/dir/b", "www.example.com/c"],
        ),
        # The base of a page counts, and what is broken does not stop the others.
        ('<base href="/other/"><a href="a">1</a>', ["example.com/other/a"]),
        ('<base href="http://["><a href="/a">2</a>', ["example.com/a"]),
        ('<a href="http://[">1</a><a href="/a">2</a>', ["example.com/a"]),
    ],
)
def test_links_are_those_of_the_same_site(html, links):
    response = HtmlResponse("https://example.com/dir/page", body=html, encoding="utf-8")
    assert list(Links({"example.com"}).of(response)) == [f"https://{link}" for link in links]

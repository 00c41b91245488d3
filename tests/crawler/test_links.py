from __future__ import annotations

from scrapy.http import HtmlResponse

from crawler.links import Links


def test_links_are_those_of_the_same_site_once_and_a_broken_one_does_not_stop_the_others():
    html = """<base href="/dir/"><a href="/a">1</a> <a href="b#x">2</a> <a href="b#y">3</a>
    <a href="//www.example.com/c">4</a> <a href="https://example.org/">5</a> <a href="http://[">6</a>
    <a href="mailto:me@example.com">7</a> <a href="javascript:void(0)">8</a> <a>9</a>"""
    response = HtmlResponse("https://example.com/page", body=html, encoding="utf-8")
    assert list(Links({"example.com"}).of(response)) == [
        "https://example.com/a",
        "https://example.com/dir/b",
        "https://www.example.com/c",
    ]

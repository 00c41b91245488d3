"""A body that was read a moment ago: what stands for it is what would be read again."""

from __future__ import annotations

from dataclasses import fields

import pytest

from simhash_gate.page import Page
from simhash_gate.pipeline import Options, read_page
from simhash_gate.plugin.reading import RecentPages


def body(links: list[str], base: str = "") -> bytes:
    said = "".join(f'<p>Some words lead to <a href="{link}">a place</a>.</p>' for link in links)
    head = f'<base href="{base}">' if base else ""
    html = f"<html><head>{head}</head><body><article><h1>Title</h1>{said}</article></body></html>"
    return html.encode()


def seen(page: Page) -> list[object]:
    return [page.markdown, *(getattr(page, field.name) for field in fields(Page))]


def read(recent: RecentPages, content: bytes, url: str) -> None:
    recent.add(recent.key(content, url, None), read_page(content, url=url))


@pytest.mark.parametrize("link", ["deeper", "/root", "?page=2", "#x", ".", "//cdn.example.net/x"])
def test_a_repeat_is_what_would_be_read_at_its_own_url(link) -> None:
    recent, content = RecentPages(Options()), body([link])
    second = "http://user:secret@example.com/news/a?y=2"
    read(recent, content, "http://user:secret@example.com/news/a?x=1")
    for _ in range(2):
        page = recent.find(recent.key(content, second, None), second)
        assert page is not None
        assert "markdown" not in vars(page)
        assert seen(page) == seen(read_page(content, url=second))


def test_only_the_same_bytes_in_one_encoding_at_one_path_are_a_repeat() -> None:
    content, url = body(["/"]), "https://a.example/1?x"
    others = [(url, "latin-1"), ("https://a.example/2", None), ("https://b.example/1", None)]
    for options, repeats in ((Options(), True), (Options(anchors=True), False)):
        recent = RecentPages(options)
        read(recent, content, url)
        assert recent.find(recent.key(content, url, None), url) is not None
        query = recent.key(content, "https://a.example/1", None)
        assert (recent.find(query, "https://a.example/1") is not None) == repeats
        assert recent.find(recent.key(content + b" ", url, None), url) is None
        for where, encoding in others:
            assert recent.find(recent.key(content, where, encoding), where) is None


def test_the_bytes_are_bounded() -> None:
    recent, url = RecentPages(Options(), most_bytes=20_000), "http://example.com/"
    for number in range(20):
        read(recent, body([f"/{number}"] * 20), url)
    assert 2 <= len(recent) < 10
    read(recent, body(["/"] * 1_000), url)
    assert recent.find(recent.key(body(["/19"] * 20), url, None), url) is not None

"""A body that was read a moment ago: what stands for it is what would be read again."""

from __future__ import annotations

from dataclasses import fields, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from simhash_gate.common.urls import without_credentials
from simhash_gate.page import Page
from simhash_gate.pipeline import Options, read_page
from simhash_gate.plugin.reading import RecentPages

URLS = [
    *("http://example.com", "http://example.com/", "http://example.com/a"),
    *("http://example.com/news/", "http://example.com/news/a", "http://example.com/news/b"),
    *("http://example.com/news/a?session=1", "http://example.com/a/../news/a"),
    *("http://example.com/news/a b", "http://example.com/news/a_(b)"),
    *("http://example.org/news/a", "http://www.example.com/news/a"),
    *("http://example.com:8080/news/a", "https://example.com/news/a"),
    *("http://user:secret@example.com/news/a", "HTTP://EXAMPLE.com/news/a", ""),
]
LINKS = [
    *("/root", "deeper/page", "../up", "?page=2", "#part", " ", ".", "//cdn.example.net/x"),
    *("http://example.com/news/a", "https://other.example/", "mailto:a@example.com"),
    "http://[broken",
]
BASES = ["", "/base/", "base/", "#x", "?y", "http://example.org/elsewhere/"]
OPTIONS = Options(markdown=True)


def body(links: list[str], base: str = "") -> bytes:
    said = "".join(f'<p>Some words lead to <a href="{link}">a place</a>.</p>' for link in links)
    head = f'<base href="{base}">' if base else ""
    html = f"<html><head>{head}</head><body><article><h1>Title</h1>{said}</article></body></html>"
    return html.encode()


def seen(page: Page) -> list[object]:
    return [page.markdown, *(getattr(page, field.name) for field in fields(Page))]


def recall(recent: RecentPages, content: bytes, url: str, encoding: str | None = None):
    return recent.find(recent.key(content, url, encoding), url)


def read(recent: RecentPages, content: bytes, url: str, encoding: str | None = None) -> None:
    page = read_page(content, url=url, encoding=encoding, options=recent._options)
    recent.add(recent.key(content, url, encoding), page)


@settings(max_examples=50)
@given(
    st.lists(st.sampled_from(LINKS), min_size=1, max_size=4),
    st.sampled_from(BASES),
    st.sampled_from(URLS),
    st.sampled_from(URLS),
)
def test_a_repeat_is_what_would_be_read_at_its_own_url(links, base, first, second) -> None:
    recent = RecentPages(OPTIONS)
    content = body(links, base)
    read(recent, content, first)
    there = read_page(content, url=second)
    if without_credentials(first) != without_credentials(second):
        there = replace(there, links=0)
    assert seen(recall(recent, content, second)) == seen(there)


def test_markdown_that_was_not_made_is_made_for_the_url_that_asks_and_not_kept() -> None:
    recent = RecentPages(Options())
    content = body(["deeper"])
    read(recent, content, "http://example.com/news/a")
    for folder in ("http://example.com/news", "http://example.org/x", "http://example.com/news"):
        page = recall(recent, content, f"{folder}/y")
        assert "markdown" not in vars(page)
        assert f"({folder}/deeper)" in page.markdown


def test_only_what_reads_the_same_is_a_repeat() -> None:
    """The same bytes in one encoding; with sketches at one URL, with fields on one host."""
    content = body(["/"])
    urls = "https://a.example/1", "https://a.example/2", "https://b.example/1"
    for options, repeats in (
        (OPTIONS, [True, True, True]),
        (Options(sketch=True), [True, False, False]),
        (Options(compare=(("", ("h1",)),)), [True, True, False]),
    ):
        recent = RecentPages(options)
        read(recent, content, urls[0])
        assert [recall(recent, content, url) is not None for url in urls] == repeats
        assert recall(recent, content + b" ", urls[0]) is None
        assert recall(recent, content, urls[0], "latin-1") is None


def test_the_bytes_are_bounded() -> None:
    recent = RecentPages(OPTIONS, most_bytes=20_000)
    for number in range(20):
        read(recent, body([f"/{number}"] * 20), "http://example.com/")
    assert 2 <= len(recent) < 10
    read(recent, body(["/"] * 1_000), "http://example.com/")
    assert recall(recent, body(["/19"] * 20), "http://example.com/") is not None

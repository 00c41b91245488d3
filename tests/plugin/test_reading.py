"""A body that was read a moment ago: what stands for it is what would be read again."""

import asyncio
from concurrent.futures import Future
from dataclasses import fields
from threading import Thread

import pytest
from scrapy.http import HtmlResponse
from scrapy.utils.test import get_crawler

from simhash_gate.page import Page
from simhash_gate.pipeline import read_page
from simhash_gate.plugin import reading
from simhash_gate.plugin.reading import Bounded, PageReader
from simhash_gate.plugin.threads import _on_loop
from simhash_gate.settings import read_settings


def body(links: list[str], base: str = "") -> bytes:
    said = "".join(f'<p>Some words lead to <a href="{link}">a place</a>.</p>' for link in links)
    head = f'<base href="{base}">' if base else ""
    html = f"<html><head>{head}</head><body><article><h1>Title</h1>{said}</article></body></html>"
    return html.encode()


def seen(page: Page) -> list[object]:
    return [page.markdown, *(getattr(page, field.name) for field in fields(Page))]


class Reader:
    """Reads the pages of a crawl, and tells which of them were read before."""

    def __init__(self, **settings: object) -> None:
        self._stats = get_crawler().stats
        self.pages = PageReader(read_settings(settings), self._stats)

    def read(self, content: bytes, url: str, encoding: str | None = None) -> tuple[Page, bool]:
        """Return a page, and whether it was read before."""
        before = self._stats.get_value("simhash_gate/repeated", 0)
        page = asyncio.run(self.pages.page(HtmlResponse(url, body=content, encoding=encoding)))
        return page, self._stats.get_value("simhash_gate/repeated", 0) > before


@pytest.mark.parametrize("link", ["deeper", "/root", "?page=2", "#x", ".", "//cdn.example.net/x"])
def test_a_repeat_is_what_would_be_read_at_its_own_url(link) -> None:
    reader, content = Reader(), body([link])
    second = "http://user:secret@example.com/news/a?y=2"
    assert not reader.read(content, "http://user:secret@example.com/news/a?x=1")[1]
    for _ in range(2):
        page, repeated = reader.read(content, second)
        assert repeated
        assert "markdown" not in vars(page)
        assert seen(page) == seen(read_page(content, url=second))


@pytest.mark.parametrize("keeps_markdown", [False, True])
def test_only_the_same_bytes_in_one_encoding_at_one_path_are_a_repeat(keeps_markdown) -> None:
    content, url = body(["/"]), "https://a.example/1?x"
    reader = Reader(**{"SIMHASH_GATE_KEEP_MARKDOWN": 1 << 20 if keeps_markdown else 0})
    assert [reader.read(content, url)[1] for _ in range(2)] == [False, True]
    assert reader.read(content, "https://a.example/1")[1] != keeps_markdown
    assert not reader.read(content + b" ", url)[1]
    assert not reader.read(content, url, "latin-1")[1]
    assert not reader.read(content, "https://a.example/2")[1]
    assert not reader.read(content, "https://b.example/1")[1]


def test_one_crawl_reads_a_page_in_one_way() -> None:
    said = "".join(f"<p>Пчёлы живут шесть недель и летают к цветам лугу {n}.</p>" for n in range(9))
    content = f"<html><body><h1>Пчёлы</h1>{said}</body></html>".encode("cp1251")
    undeclared = HtmlResponse("http://example.com/", body=content)
    assert "Пчёлы" in undeclared.text
    for headers in ({}, {"Content-Type": "text/html; charset=x-cp1251"}):
        response = HtmlResponse("http://example.com/", body=content, headers=headers)
        assert asyncio.run(Reader().pages.page(response)).title == "Пчёлы", headers
    named = b"<meta charset=x-cp1251>" + content
    assert Reader().read(named, "http://example.com/")[0].title == "Пчёлы"


def test_the_bytes_are_bounded(monkeypatch) -> None:
    monkeypatch.setattr(reading, "MOST_BYTES", 20_000)
    reader, url = Reader(), "http://example.com/"
    pages = [body([f"/{number}"] * 20) for number in range(20)]
    for page in pages:
        reader.read(page, url)
    assert 2 <= len(reader.pages._recent._values) < 10
    reader.read(body(["/"] * 1_000), url)
    assert reader.read(pages[-1], url)[1]


def test_a_result_comes_from_any_thread_and_who_stops_waiting_cancels_it() -> None:
    futures: list[Future[int]] = [Future() for _ in range(3)]

    async def wait() -> list[int]:
        waits = [asyncio.ensure_future(_on_loop(future)) for future in futures]
        await asyncio.sleep(0)
        futures[0].set_result(0)
        Thread(target=futures[1].set_result, args=(1,)).start()
        waits[2].cancel()
        return await asyncio.gather(*waits[:2])

    assert asyncio.run(wait()) == [0, 1]
    assert futures[2].cancelled()


def test_what_was_used_longest_ago_goes_first_and_a_value_may_grow() -> None:
    kept: Bounded[str, str] = Bounded(10)
    for name in "ab":
        kept.put(name, name.upper(), 4)
    assert kept.get("a") == "A"
    kept.put("c", "C", 4)
    assert kept.get("b") is None
    kept.put("c", "CC", 6)
    assert (kept.get("a"), kept.get("c")) == ("A", "CC")
    kept.put("c", "CCC", 7)
    assert (kept.get("a"), kept.get("c")) == (None, "CCC")
    kept.put("d", "D", 11)
    assert len(kept) == 0


def test_their_number_is_bounded_too() -> None:
    kept: Bounded[int, int] = Bounded(100, 2)
    for number in range(4):
        kept.put(number, number, 1)
    assert [kept.get(number) for number in range(4)] == [None, None, 2, 3]

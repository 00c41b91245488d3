"""What is counted of a crawl's requests, and what the command says of each method."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from benchmarks.urls.__main__ import main
from benchmarks.urls.generated import generate
from benchmarks.urls.method import NOT_READ, Method, Nothing, Read
from benchmarks.urls.simulate import crawl
from benchmarks.urls.truth import Visit

if TYPE_CHECKING:
    from pathlib import Path

TREES = "alder birch cedar elm fir gorse hazel iris juniper kelp larch maple nettle oak pine"


class Oracle(Method):
    """Knows the content of every URL."""

    title, origin = "oracle", ""
    rules = 7

    def __init__(self, visits: list[Visit]) -> None:
        self.contents = {visit.url: visit.content for visit in visits}
        self.fetched: set[int] = set()

    def skips(self, scope: str, url: str) -> bool:
        return self.contents[url] in self.fetched

    def learn(
        self, scope: str, url: str, kept: str, same: bool | None, read: Read = NOT_READ
    ) -> None:
        self.fetched.add(self.contents[url])


def visits(*contents: int | str) -> list[Visit]:
    """Visits of one site; what is not sure is a text."""
    return [
        Visit(f"http://a.example/{place}", "a.example", int(content), isinstance(content, int))
        for place, content in enumerate(contents)
    ]


class All(Nothing):
    """Skips every request."""

    def skips(self, scope: str, url: str) -> bool:
        return True


def test_who_skips_all_loses_all_contents() -> None:
    figures = crawl(All, visits(1, 2, 1, "3"), seed=1)
    assert (figures.fetched, figures.avoided, figures.early, figures.unknown) == (0, 0, 3, 1)
    assert (figures.contents, figures.lost, figures.avoidable) == (2, 2, 1)


def test_an_oracle_avoids_all_and_loses_none() -> None:
    made = visits(1, 2, 1, 1, "3", 2)
    figures = crawl(lambda: Oracle(made), made, seed=1)
    assert (figures.avoided, figures.avoidable, figures.lost, figures.early) == (3, 3, 0, 0)
    assert (figures.fetched, figures.requests, figures.share, figures.rules) == (3, 6, 1.0, 7)


def page(title: str, *more: str) -> str:
    text = " ".join(f"{title} {word} {more}." for word in TREES.split())
    return f"<html><title>{title}</title><body><article><h1>{title}</h1><p>{text}</p></article>"


def test_the_table_has_a_row_for_each_method(tmp_path: Path, capsys) -> None:
    """Of two articles, one of them twice; one request twice; and a page of few words."""
    lines = [
        ("http://a.example/one", page("On trees")),
        ("http://a.example/two", page("Of bridges", "over rivers and roads")),
        ("http://a.example/one?print=1", page("On trees")),
        ("http://a.example/one#top", page("On trees")),
        ("http://a.example/short", "<html><body><p>Not found</p>"),
    ]
    crawled, out = tmp_path / "pages.jsonl", tmp_path / "out"
    crawled.write_text("".join(json.dumps({"url": u, "html": h}) + "\n" for u, h in lines))
    assert main([str(crawled), "--out", str(out), "--workers=0"]) == 0
    table = capsys.readouterr().out
    assert table.count("| no rules |") == 4
    assert table.count("| DUSTER (Rodrigues et al. 2015) | after its description |") == 4
    assert "4 requests, 2 contents, 1 avoidable" in table
    found = json.loads((out / "urls.json").read_text())
    assert found["machine"]["versions"]["duplicate-url-discarder"]
    ordered = found["orders"]["In the order of the crawl"]
    assert {name: each["requests"] for name, each in ordered.items()} == dict.fromkeys(ordered, 4)
    assert ordered["none"]["fetched"] == 4
    assert ordered["maybedont"]["lost"] == 0


def test_a_generated_site_takes_the_place_of_a_crawl_and_knows_what_its_urls_show(
    tmp_path: Path, capsys
) -> None:
    run = ["--generate=print", "--articles=4", f"--out={tmp_path}", "--methods=none,learned"]
    assert main(run) == 0
    assert capsys.readouterr().out.count("| **simhash_gate** |") == 4
    made = [*generate("tracking", 6, 1)]
    figures = crawl(lambda: Oracle(made), made, seed=1)
    assert figures.avoidable == figures.avoided > 5

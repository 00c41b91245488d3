"""What is counted of a crawl's requests, what is known of its pages, and what each peer finds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from benchmarks.urls.__main__ import main
from benchmarks.urls.discarder import Discarder
from benchmarks.urls.duster import Duster
from benchmarks.urls.generated import generate
from benchmarks.urls.maybedont_ import MaybeDont
from benchmarks.urls.method import NOT_READ, Method, Nothing, Read
from benchmarks.urls.pattern_tree import PatternTree
from benchmarks.urls.simulate import Simulation, crawl, halves
from benchmarks.urls.truth import Visit, load

if TYPE_CHECKING:
    from pathlib import Path

TREES = "alder birch cedar elm fir gorse hazel iris juniper kelp larch maple nettle oak pine"
SITE = "http://wiki.example"


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


def test_who_skips_all_loses_all_contents_and_who_skips_nothing_avoids_nothing() -> None:
    figures = crawl(All, visits(1, 2, 1, "3"), seed=1)
    assert (figures.fetched, figures.avoided, figures.early, figures.unknown) == (0, 0, 3, 1)
    assert (figures.contents, figures.lost, figures.avoidable) == (2, 2, 1)
    figures = crawl(Nothing, visits(1, 2, 1), seed=1)
    assert (figures.fetched, figures.avoided, figures.lost, figures.share) == (3, 0, 0, 0.0)


def test_an_oracle_avoids_all_and_loses_none_also_of_the_second_half() -> None:
    made = visits(1, 2, 1, 1, "3", 2)
    figures = crawl(lambda: Oracle(made), made, seed=1)
    assert (figures.avoided, figures.avoidable, figures.lost, figures.early) == (3, 3, 0, 0)
    assert (figures.fetched, figures.requests, figures.share, figures.rules) == (3, 6, 1.0, 7)
    assert figures.bytes > 0
    made = visits(1, 2, 1, 3)
    figures = halves(lambda: Oracle(made), made, seed=1)
    assert (figures.requests, figures.avoidable, figures.avoided, figures.lost) == (2, 1, 1, 0)


def page(title: str, *more: str) -> str:
    text = " ".join(f"{title} {word} {more}." for word in TREES.split())
    return f"<html><title>{title}</title><body><article><h1>{title}</h1><p>{text}</p></article>"


@pytest.fixture
def crawl_on_disk(tmp_path: Path) -> Path:
    """A manifest: two articles, one of them twice; one request twice; a page of few words."""
    lines = [
        ("http://a.example/one", page("On trees")),
        ("http://a.example/two", page("Of bridges", "over rivers and roads")),
        ("http://a.example/one?print=1", page("On trees")),
        ("http://a.example/one#top", page("On trees")),
        ("http://a.example/short", "<html><body><p>Not found</p>"),
    ]
    path = tmp_path / "pages.jsonl"
    path.write_text("".join(json.dumps({"url": u, "html": h}) + "\n" for u, h in lines))
    return path


def test_pages_are_judged_once(crawl_on_disk: Path, tmp_path: Path) -> None:
    cache, complaints = tmp_path / "cache" / "truth.jsonl", list[str]()
    found = load([str(crawl_on_disk)], cache, lambda place, why: complaints.append(why), workers=0)
    one, two, printed, short = found
    assert one.content == printed.content != two.content
    assert (one.sure, two.sure, printed.sure, short.sure) == (True, True, True, False)
    assert complaints == []
    head, *rest = cache.read_text().splitlines()
    cache.write_text("\n".join([head, *rest[:1]]))
    again = load([str(crawl_on_disk)], cache, lambda *_: None, workers=0)
    assert again == [one], "it comes from the file"
    cache.write_text(cache.read_text().replace('"pipeline": "', '"pipeline": "0'))
    assert load([str(crawl_on_disk)], cache, lambda *_: None, workers=0) == found


def test_the_table_has_a_row_for_each_method(crawl_on_disk: Path, tmp_path, capsys) -> None:
    out = tmp_path / "out"
    assert main([str(crawl_on_disk), "--out", str(out), "--workers=0"]) == 0
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


# What each peer finds in small crawls, where its paper or its documentation says what it finds.


def made_of(urls) -> list[Visit]:
    return [Visit(SITE + url, "wiki.example", content, True) for url, content in urls]


def printed(pages: int) -> list[Visit]:
    ways = ("", "&printable=yes")
    return made_of((f"/page?id={n}{way}", n) for n in range(pages) for way in ways)


@pytest.mark.parametrize("method", [Duster, PatternTree, MaybeDont])
def test_a_parameter_is_learned_that_changes_nothing_and_not_one_that_tells_contents_apart(
    method,
) -> None:
    figures = Simulation(method(), seed=1).run(printed(400))
    assert figures.lost == figures.early == 0
    assert figures.share > (0.5 if method is MaybeDont else 0.85)
    assert figures.rules > 0
    apart = made_of((f"/page?id={n // 2}&view={n % 2}", n) for n in range(400))
    figures = Simulation(method(), seed=1).run(apart)
    assert (figures.fetched, figures.lost, figures.rules) == (400, 0, 0)


def test_the_discarder_has_the_rules_that_it_ships_and_maybedont_those_of_what_it_saw() -> None:
    discarder = Discarder()
    assert discarder.rules > 300
    discarder.learn("a.example", "https://a.example/story?id=1", "", False)
    assert discarder.skips("a.example", "https://a.example/story?utm_source=mail&id=1")
    assert not discarder.skips("a.example", "https://a.example/story?id=2&utm_source=mail")
    method, unseen = MaybeDont(), f"{SITE}/page?id=5000&printable=yes"
    Simulation(method, seed=1).run(printed(400))
    assert not method.skips("wiki.example", unseen)
    method.learn("wiki.example", f"{SITE}/page?id=5000", "", False)
    assert method.skips("wiki.example", unseen)

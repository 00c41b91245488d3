"""The trap shield over generated sites: traps end soon, honest sites are left alone."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simhash_gate.fingerprints.gist import gist_of, read_gist
from simhash_gate.identity import traps
from simhash_gate.identity.trap_shapes import MOST_COUNTED, TrapShapes
from simhash_gate.identity.traps import TrapShield
from tests.identity import sites

if TYPE_CHECKING:
    import random

ORDERS = ("breadth", "depth", "shuffled")


def in_any_order(pages: sites.Pages, start: str, most: int) -> list[sites.Crawled]:
    """Crawl a site in each order; its pages are made once."""
    pages = cache(pages)
    return [sites.crawl(pages, start, most, order=order) for order in ORDERS]


@pytest.mark.parametrize("style", ["number", "root", "deeper"])
def test_a_maze_ends_though_no_two_pages_are_alike(style: str) -> None:
    for done in in_any_order(sites.maze(style), "/maze/start", 300):
        assert len(done.fetched) <= 200
        assert "endless" in {change.why for change in done.changes}


@pytest.mark.parametrize(
    ("pages", "start", "real"),
    [(sites.filters, "/shop", 180), (sites.session_path, "/", 40)],
)
def test_an_endless_space_ends(pages: sites.Pages, start: str, real: int) -> None:
    """`real` pages bring something new, or are linked from those that do."""
    for done in in_any_order(pages, start, 600):
        assert len(done.fetched) <= 200 + real
        assert any(change.limited for change in done.changes)


def test_articles_in_the_shape_of_a_trap_are_all_fetched() -> None:
    for done in in_any_order(sites.soft404, "/", 3_000):
        assert {f"/article/{number}" for number in range(300)} <= {*done.fetched}
        # Each article names one that is missing; behind these it goes no deeper.
        assert len(done.fetched) <= 601 + 200


@pytest.mark.parametrize(
    ("pages", "start"),
    [
        (sites.archive(300), "/"),
        (sites.chain(300, vocabulary=600), "/story/0"),
        (sites.web(330, vocabulary=600), "/wiki/0"),
        (sites.tree(5, 5), "/taxon?id="),
        (sites.catalogue(300), "/"),
    ],
)
def test_a_large_honest_site_is_never_limited(pages: sites.Pages, start: str) -> None:
    for done in in_any_order(pages, start, 300):
        assert len(done.fetched) >= 300
        assert done.held == []
        assert not any(change.limited for change in done.changes)


def test_thousands_of_articles_of_one_shape_are_never_limited() -> None:
    """So many that their words are no new ones, and new words count no more."""
    done = sites.crawl(sites.archive(2_400, vocabulary=600, words=40), "/", 3_000)
    assert len(done.fetched) == 2_521
    assert done.held == []


@settings(max_examples=20)
@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=300), st.randoms())
def test_every_request_is_fetched_or_said_to_be_held_back(
    stream: list[tuple[int, bool]], rng: random.Random
) -> None:
    shield = TrapShield()
    parents = [shield.visit("https://a.example/", "a.example", None)]
    for number, (branch, new) in enumerate(stream):
        url = f"https://a.example/{branch}/{number}"
        visit = shield.ask(url, "a.example", rng.choice(parents).as_origin)
        assert visit.held == (bool(visit.why) and not visit.probe)
        if visit.held:
            assert visit.budget.held > 0
            continue
        told(shield, visit, passed=new, said=url)
        parents.append(visit)


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traps, "MOST_SHAPES", 20)
    monkeypatch.setattr(traps, "MOST_SHAPES_IN_ALL", 50)
    monkeypatch.setattr(traps, "MOST_SCOPES", 8)
    shield = TrapShield()
    for number in range(800):
        scope = f"s{number % 11}.example"
        keys = "&".join(f"k{sites.word(number % (3 + each))}=1" for each in range(4))
        visit = shield.visit(f"https://{scope}/{sites.word(number % 60)}?{keys}", scope, None)
        told(shield, visit, passed=True, said=f"word{number}")
        assert len(shield) <= 50
    assert 0 < len(shield.contents) < 2_000


def test_shapes_keep_what_is_frequent_and_forget_what_is_not() -> None:
    shapes = TrapShapes()
    for number in range(MOST_COUNTED):
        name = sites.word(number + 5000)
        shape = shapes.of(f"https://a.example/news/{name}/{number}?page={number}&{name}=1")
    assert shape.name == "a.example/news/*/0?*&page"
    assert shape.group == "a.example/news/..?"
    assert shape.keys == "(any path)?*&page"
    assert len(shapes) <= MOST_COUNTED


def test_any_url_has_a_shape_and_a_repeated_part_ends_it() -> None:
    shapes = TrapShapes()
    for url in ("http://[", "", "mailto:x", "https://a.example", "//"):
        assert shapes.of(url).name is not None
    for _ in range(5):
        found = {shapes.of(f"https://a.example/a/b{'/a/b' * count}/c").name for count in (1, 4, 9)}
    assert found == {"a.example/a/b/(again)"}


def told(shield: TrapShield, visit: traps.Visit, *, passed: bool, said: str):
    gist = read_gist(gist_of([said.split()]))
    return shield.told(visit, passed=passed, title=said, gist=gist, links=set)

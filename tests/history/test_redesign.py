"""When a site is redesigned, and what is none: pages of real templates, visited day by day."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from simhash_gate.history.redesign import LEAST, WINDOW, Again, Redesign, Redesigns, Site
from simhash_gate.history.versions import Version
from simhash_gate.pipeline import read_page

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simhash_gate.page import Page

SITE = Site("a.example", "a.example")
DAY = 86_400.0

CLASSIC = """<html><head><title>{title}</title></head><body>{banner}
<div id=top><h2><a href=/>The Hive</a></h2><ul><li><a href=/a>A</a></li></ul></div>
<table><tr><td><ul><li><a href=/1>one</a></li></ul></td>
<td><h1>{title}</h1>{text}</td></tr></table><div id=foot><p>Imprint</p></div></body></html>"""
MODERN = """<html><head><title>{title}</title></head><body>{banner}
<header><div><div><a href=/>The Hive</a></div><nav><ul><li><a href=/a>A</a></li></ul></nav></div>
</header><main><article><header><h1>{title}</h1></header><section><div>{text}</div></section>
</article><aside><section><h3>New</h3><ol><li><a href=/1>one</a></li></ol></section></aside></main>
<footer><section><p>Imprint</p></section></footer></body></html>"""
CARDS = """<html><head><title>{title}</title></head><body>{banner}<div><div><div><div>
<form><fieldset><dl><dt>Find</dt><dd>a</dd></dl></fieldset></form></div></div>
<section><div><div><h1>{title}</h1><blockquote>{text}</blockquote></div></div></section>
<div><div><div><h4>one</h4></div><div><h4>two</h4></div></div></div></div></div></body></html>"""
BANNER = (
    "<div class=consent><div><p>We use cookies.</p><div><button>Agree</button></div></div></div>"
)
ERROR = """<html><head><title>Not found</title></head><body><div><section><h2>Nothing is here</h2>
<p>The page that you look for has moved, or it has never been.</p></section></div></body></html>"""
WORDS = ["bee", "hive", "moss", "clay", "wind", "dark", "honey", "wax", "swarm", "queen", "drone"]
TAGS = ["div", "section", "article", "main", "table", "ul", "dl", "form", "aside", "details"]


def page(number: int, template: str = CLASSIC, *, banner: str = "") -> Page:
    rng = random.Random(number)
    paragraphs = (" ".join(rng.choices(WORDS, k=30)) for _ in range(4))
    text = "".join(f"<p>{paragraph}.</p>" for paragraph in paragraphs)
    html = template.format(title=f"Story {number} of the hive", text=text, banner=banner)
    return read_page(html.encode(), url=f"https://a.example/{number}")


PAGES = {
    (number, template): page(number, template)
    for number in range(120)
    for template in (CLASSIC, MODERN)
}


class Remembered:
    """A site that is visited day by day: the last version of each page, and what is told."""

    def __init__(self) -> None:
        self.versions: dict[int, Version] = {}
        self.told: list[tuple[int, Redesign]] = []
        self._last: float | None = None

    def crawl(
        self, day: int, pages: Iterable[tuple[int, Page]], *, collapsed: bool = False
    ) -> list[tuple[int, Redesign]]:
        redesigns = Redesigns()
        if self._last is not None:
            redesigns.recall(SITE, self._last)
        for number, found in pages:
            at = day * DAY + number
            before = self.versions.get(number)
            if before is not None:
                url = f"https://a.example/{number}"
                redesign = redesigns.note(SITE, Again(before, found, at, url, collapsed))
                if redesign is not None:
                    self.told.append((day, redesign))
                    self._last = at
            if found.fingerprint is not None:
                self.versions[number] = version(found, at)
        return self.told


def version(found: Page, at: float) -> Version:
    assert found.fingerprint is not None
    known = (found.fingerprint, found.digest, found.words, found.title, "run")
    return Version(at, at, *known, structure=found.structure)


def visited(numbers: Iterable[int], template: str = CLASSIC) -> list[tuple[int, Page]]:
    return [(number, PAGES[number, template]) for number in numbers]


def test_a_redesign_is_told_with_what_is_read_before_and_now() -> None:
    site = Remembered()
    site.crawl(1, visited(range(40)))
    [(day, found)] = site.crawl(2, visited(range(40), MODERN))
    assert day == 2
    assert (found.domain, found.visited, found.changed) == ("a.example", LEAST, LEAST)
    assert found.words == (126, 125)
    assert (found.empty, found.collapsed) == (0, 0)
    assert not found.is_misread
    assert found.examples == ("https://a.example/15", "https://a.example/16")


def test_it_is_told_once_though_a_fifth_of_the_site_is_visited_a_day() -> None:
    site = Remembered()
    site.crawl(1, visited(range(120)))
    for day in range(2, 12):
        site.crawl(day, visited(range(day % 5, 120, 5), MODERN))
    assert [day for day, _ in site.told] == [2]


def test_the_next_redesign_is_told_too() -> None:
    site = Remembered()
    for day, template in enumerate([CLASSIC, MODERN, MODERN, CLASSIC, CLASSIC]):
        site.crawl(day, visited(range(40), template))
    assert [day for day, _ in site.told] == [1, 3]


def test_a_crawl_that_never_ends_sees_it_among_the_pages_of_the_day() -> None:
    pages = [(0, CLASSIC)] * 3 * WINDOW + [(1, MODERN)] * WINDOW
    redesigns = Redesigns()
    found = []
    for count, (day, template) in enumerate(pages):
        number = count % WINDOW
        before = version(PAGES[number, CLASSIC], 0.0)
        again = Again(before, PAGES[number, template], day * DAY + 1)
        found.append(redesigns.note(SITE, again))
    assert [bool(each) for each in found].count(True) == 1


def test_pages_that_nothing_is_read_of_any_more_are_counted() -> None:
    site = Remembered()
    site.crawl(1, visited(range(40)))
    shell = "<html><head><title>{title}</title></head><body><div><div></div></div></body></html>"
    [(_, found)] = site.crawl(2, [(number, page(number, shell)) for number in range(40)])
    assert (found.words, found.empty) == ((126, 0), LEAST)
    assert found.is_misread


def test_pages_that_read_alike_now_are_counted() -> None:
    site = Remembered()
    site.crawl(1, visited(range(40)))
    [(_, found)] = site.crawl(2, visited(range(40), MODERN), collapsed=True)
    assert found.collapsed == LEAST
    assert found.is_misread


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.8])
def test_two_templates_by_turns_are_none(share: float) -> None:
    site, rng = Remembered(), random.Random(7)
    for day in range(30):
        shown = ((n, MODERN if rng.random() < share else CLASSIC) for n in range(120))
        site.crawl(day, [(n, PAGES[n, template]) for n, template in shown])
    assert site.told == []


def test_nor_are_eight_by_turns_though_nearly_each_page_has_another() -> None:
    site, rng = Remembered(), random.Random(7)
    pages = {(n, kind): page(n, built(kind)) for n in range(60) for kind in range(8)}
    for day in range(6):
        site.crawl(day, [(n, pages[n, rng.randrange(8)]) for n in range(60)])
    assert site.told == []


def built(seed: int) -> str:
    """Return a template that nobody would write."""
    around = random.Random(seed).choices(TAGS, k=12)
    opened, closed = ("".join(f"<{mark}{tag}>" for tag in around) for mark in ("", "/"))
    return f"<title>{{title}}</title><body>{{banner}}{opened}<h1>{{title}}</h1>{{text}}{closed}"


@pytest.mark.parametrize("seed", range(20))
def test_nor_is_a_test_that_begins(seed: int) -> None:
    rng = random.Random(seed)
    site = Remembered()
    site.crawl(0, visited(range(120)))
    for day in range(1, 5):
        some = [(n, PAGES[n, rng.choice([CLASSIC, MODERN])]) for n in range(120)]
        site.crawl(day, some)
    assert site.told == []


@pytest.mark.parametrize("template", [CLASSIC, MODERN, CARDS])
def test_a_banner_that_comes_and_goes_is_none(template: str) -> None:
    site = Remembered()
    plain = [(number, page(number, template)) for number in range(30)]
    asking = [(number, page(number, template, banner=BANNER)) for number in range(30)]
    for day in range(6):
        site.crawl(day, asking if day % 2 else plain)
    assert site.told == []


def test_a_few_pages_with_another_template_are_none() -> None:
    site = Remembered()
    moved: set[int] = set()
    for day in range(12):
        site.crawl(day, ((n, PAGES[n, MODERN if n in moved else CLASSIC]) for n in range(120)))
        moved |= set(range(day * 6, day * 6 + 6))
    assert site.told == []


def test_a_site_with_two_templates_is_none_until_most_pages_have_another() -> None:
    site = Remembered()
    cards = {number: page(number, CARDS) for number in range(120)}
    both = [(n, cards[n] if n % 3 == 0 else PAGES[n, CLASSIC]) for n in range(120)]
    for day in range(3):
        site.crawl(day, both)
    assert site.told == []
    site.crawl(3, visited(range(120), MODERN))
    assert [day for day, _ in site.told] == [3]


def test_error_pages_in_the_place_of_pages_are_none() -> None:
    site = Remembered()
    error = read_page(ERROR.encode(), url="https://a.example/x")
    site.crawl(0, visited(range(120)))
    site.crawl(1, [(number, error) for number in range(120)])
    site.crawl(2, visited(range(120)))
    assert site.told == []


def test_pages_that_are_built_in_another_way_at_each_visit_are_none() -> None:
    site = Remembered()
    for day in range(3):
        site.crawl(day, [(n, page(n, built(day * 1_000 + n))) for n in range(40)])
    assert site.told == []


def test_a_site_of_few_pages_is_never_told() -> None:
    site = Remembered()
    site.crawl(0, visited(range(LEAST - 1)))
    site.crawl(1, visited(range(LEAST - 1), MODERN))
    assert site.told == []


def test_versions_without_a_structure_say_nothing() -> None:
    redesigns = Redesigns()
    for number in range(40):
        known = PAGES[number, CLASSIC]
        before = Version(0, 0, 1, 1, 90, known.title, "run")
        assert redesigns.note(SITE, Again(before, PAGES[number, MODERN], DAY)) is None

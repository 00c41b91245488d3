"""When a site is redesigned, and what is none: pages of real templates, visited day by day."""

import random
from collections.abc import Callable, Iterable
from functools import cache, partial

import pytest

from simhash_gate.history.versions import Version
from simhash_gate.page import Page
from simhash_gate.pipeline import read_page
from simhash_gate.plugin.features.site_warnings import LEAST, WINDOW, SitePages

Visits = list[tuple[int, Page]]

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
BANNER = "<div class=consent><div><p>Our cookies.</p><div><button>Agree</button></div></div></div>"
SHELL = "<html><head><title>{title}</title></head><body><div><div></div></div></body></html>"
ERROR = """<html><head><title>Not found</title></head><body><div><section><h2>Nothing is here</h2>
<p>The page that you look for has moved, or it has never been.</p></section></div></body></html>"""
WORDS = ["bee", "hive", "moss", "clay", "wind", "dark", "honey", "wax", "swarm", "queen", "drone"]
TAGS = ["div", "section", "article", "main", "table", "ul", "dl", "form", "aside", "details"]


@cache
def page(number: int, template: str = CLASSIC, banner: str = "") -> Page:
    rng = random.Random(number)
    paragraphs = (" ".join(rng.choices(WORDS, k=30)) for _ in range(4))
    text = "".join(f"<p>{paragraph}.</p>" for paragraph in paragraphs)
    html = template.format(title=f"Story {number} of the hive", text=text, banner=banner)
    return read_page(html.encode(), url=f"https://a.example/{number}")


def visited(numbers: Iterable[int], template: str = CLASSIC, banner: str = "") -> Visits:
    return [(number, page(number, template, banner)) for number in numbers]


def told_in(days: Iterable[Visits]) -> list[tuple[int, str]]:
    """Visit pages day by day; return the redesigns that are told, with their days."""
    versions: dict[int, Version] = {}
    told: list[tuple[int, str]] = []
    last = None
    for day, pages in enumerate(days):
        site = SitePages()  # each day is a crawl of its own
        if last is not None:
            site.recall(last)
        for number, found in pages:
            at = day * DAY + number
            before = versions.get(number)
            if before is not None:
                redesign = site.redesign(before, found, f"https://a.example/{number}", at)
                if redesign:
                    told.append((day, redesign))
                    last = at
            if found.fingerprint is not None:
                known = (found.fingerprint, found.digest, found.words, found.title, "run")
                versions[number] = Version(at, at, *known, structure=found.structure)
    return told


@pytest.mark.parametrize(("template", "words"), [(MODERN, 125), (SHELL, 0)])
def test_a_redesign_is_told_with_what_is_read_before_and_now(template: str, words: int) -> None:
    [(_, found)] = told_in([visited(range(30)), visited(range(30), template)])
    assert found == (
        f"{LEAST} of the last {LEAST} pages that were visited again are built in another way than "
        "at their last visit, such as https://a.example/15, https://a.example/16. What is read of "
        f"them: 126 words a page before, {words} now (median)."
    )


def test_each_redesign_is_told_once_though_a_fifth_of_the_site_is_visited_a_day() -> None:
    days = [visited(range(100)), *(visited(range(day % 5, 100, 5), MODERN) for day in range(10))]
    assert [day for day, _ in told_in(days)] == [1]
    days = [visited(range(30), each) for each in (CLASSIC, MODERN, MODERN, CLASSIC, CLASSIC)]
    assert [day for day, _ in told_in(days)] == [1, 3]


def by_turns(*templates: str, days: int, seed: int = 7) -> list[Visits]:
    """Return visits at which each page has any of some templates."""
    rng = random.Random(seed)
    return [[(n, page(n, rng.choice(templates))) for n in range(WINDOW)] for _ in range(days)]


def built(seed: int) -> str:
    """Return a template that nobody would write."""
    around = random.Random(seed).choices(TAGS, k=12)
    opened, closed = ("".join(f"<{mark}{tag}>" for tag in around) for mark in ("", "/"))
    return f"<title>{{title}}</title><body>{{banner}}{opened}<h1>{{title}}</h1>{{text}}{closed}"


def begins_a_test(seed: int) -> list[Visits]:
    return [visited(range(WINDOW)), *by_turns(CLASSIC, MODERN, days=3, seed=seed)]


def a_banner_comes_and_goes(template: str) -> list[Visits]:
    return [visited(range(30), template, BANNER if day % 2 else "") for day in range(4)]


def a_few_pages_move_each_day() -> list[Visits]:
    return [[(n, page(n, MODERN if n < 6 * d else CLASSIC)) for n in range(120)] for d in range(12)]


def errors_stand_for_a_day() -> list[Visits]:
    error = read_page(ERROR.encode(), url="https://a.example/x")
    return [visited(range(30)), [(number, error) for number in range(30)], visited(range(30))]


def the_site_has_few_pages() -> list[Visits]:
    return [visited(range(LEAST - 1)), visited(range(LEAST - 1), MODERN)]


@pytest.mark.parametrize(
    "days",
    [
        *(partial(by_turns, *[CLASSIC] * (10 - n), *[MODERN] * n, days=15) for n in (1, 3, 5, 8)),
        partial(by_turns, *map(built, range(8)), days=4),
        *(partial(begins_a_test, seed) for seed in range(10)),
        *(partial(a_banner_comes_and_goes, template) for template in (CLASSIC, MODERN, built(1))),
        a_few_pages_move_each_day,
        errors_stand_for_a_day,
        the_site_has_few_pages,
    ],
    ids=lambda days: getattr(days, "func", days).__name__,
)
def test_what_is_no_redesign_is_not_told(days: Callable[[], list[Visits]]) -> None:
    assert told_in(days()) == []


def test_a_site_with_two_templates_is_redesigned_when_most_pages_have_another() -> None:
    both = [(n, page(n, CLASSIC if n % 3 else built(1))) for n in range(WINDOW)]
    assert [day for day, _ in told_in([both, both, visited(range(WINDOW), MODERN)])] == [2]


def test_versions_without_a_structure_say_nothing() -> None:
    site = SitePages()
    for number in range(30):
        before = Version(0, 0, 1, 1, 90, page(number).title, "run")
        assert not site.redesign(before, page(number, MODERN), "", DAY)

"""A page of four times the size takes four times the time, whatever its one attribute or line says.

`tests/test_patterns.py` sees to the regular expressions; here are the loops around them.
"""

import gc
import json
import time
from collections.abc import Callable

import pytest

from simhash_gate.identity.address import address_of
from simhash_gate.identity.keys import Keys, canonical_urls
from simhash_gate.pipeline import read_page

SIZES = (62_500, 250_000, 1_000_000)
"""Characters of a page."""
LENGTHS = (31_250, 125_000)
"""Characters of an address."""
TIMES = 4
"""A text is so many times as long as the one before it."""
MORE = 7.8
"""So many times as long may it take: quadratic time is sixteen times."""
LEAST = 0.05
"""Seconds that are no matter."""
HEAD = "<title>A page of one kind</title><h1>A page of one kind</h1>"

Maker = Callable[[int], str]


def repeated(before: str, unit: str, after: str = "") -> Maker:
    return lambda size: f"{HEAD}{before}{unit * (size // len(unit))}{after}"


def around(before: str, long: str, between: str, unit: str, *, more: str = HEAD) -> Maker:
    """Make pages of a long value and of many units: each of these may look at the whole value."""
    return lambda size: (
        more + before + long * (size // 2 // len(long)) + between + unit * (size // 2 // len(unit))
    )


def linked_data(node: Callable[[int], object], unit: Callable[[int], object]) -> Maker:
    """Make pages with a node of some size, and with as many mentions of it."""

    def make(size: int) -> str:
        mentions = {"@type": "WebPage", "mainEntity": unit(size // 30)}
        data = json.dumps([node(size // 20), mentions])
        return f'{HEAD}<script type="application/ld+json">{data}</script><p>words'

    return make


MENTION = {"@id": "a"}
PAGES = {
    "a class in camel case": repeated('<div class="', "aB", '">words'),
    "a class in capitals": repeated('<div class="', "AB-", '">words'),
    "an element with a name in camel case": repeated("<x-", "aB", ">words"),
    "classes in camel case": repeated("", f'<div class="{"aB" * 5_000}">words</div>'),
    "marks in two classes, in turn": repeated("<p>e", "\u0301\u0323"),
    "letters with many marks": repeated("<p>", "e" + "\u0301\u0323" * 500 + " "),
    "marks in a headline": repeated("<h1>e", "\u0301\u0323", "</h1>"),
    "signs": repeated("<p>", "+ ", "1"),
    "signs and numbers": repeated("<p>", "+ 1 "),
    "a long base": around('<base href="http://a.example/', "a", '/">', "<a href=x>y</a>", more=""),
    "code in a long class": around('<div class="', "a ", '">', "<pre>x</pre>"),
    "links in a long id": around('<div id="', "x", '">', "<a href=#x>#</a>"),
    "folds in a long role": around('<div role="', "x", '">', "<p role=region hidden>x</p>"),
    "code in code": repeated("<pre>" * 400, "<code>x</code>"),
    "a title of parts of the site": around(
        "<meta property=og:site_name content='", "abcde", "'><title>", "abcde | ", more=""
    ),
    "an author named again and again": lambda size: (
        f"{HEAD}<div itemscope itemtype=http://schema.org/Article><p itemprop='"
        f"{'author ' * (size // 14)}'>{'x' * (size // 2)}"
    ),
    "a node of many types": linked_data(
        lambda n: {**MENTION, "@type": ["x"] * n}, lambda n: [MENTION] * n
    ),
    "a node of a long type": linked_data(
        lambda n: {**MENTION, "@type": "x" * 5 * n}, lambda n: [MENTION] * n
    ),
    "a long list": linked_data(
        lambda n: {**MENTION, "@type": "ItemList", "itemListElement": [{}] * n},
        lambda n: [MENTION] * n,
    ),
    "nested data": repeated('<script type="application/ld+json">', '{"a":['),
    "links": repeated("", "<a href=/a>b</a> "),
    "links in a list": repeated("<ul>", "<li><a href=/a>b</a>"),
    "rows": repeated("<table>", "<tr><td>1<td>word"),
}


def read(text: str) -> object:
    page = read_page(text.encode(), url="http://a.example/b")
    assert not page.unreadable, page.reason
    return page.markdown


@pytest.mark.parametrize("make", [pytest.param(make, id=name) for name, make in PAGES.items()])
def test_a_page_of_four_times_the_size_takes_four_times_the_time(make: Maker) -> None:
    check_that_time_is_linear(make, read)


def test_a_canonical_link_in_a_comment_takes_no_time() -> None:
    check_that_time_is_linear(
        lambda size: "<!--<link canonical>" * (size // 20),
        lambda text: [*canonical_urls(text.encode(), "http://a.example/")],
    )


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda size: "?" + "&".join(f"{n}=b" for n in range(size // 8)), id="query"),
        pytest.param(lambda size: "a/" * (size // 2), id="path"),
        pytest.param(lambda size: ";".join(f"{n}=b" for n in range(size // 8)), id="extra"),
    ],
)
def test_an_address_of_four_times_the_length_takes_four_times_the_time(make: Maker) -> None:
    def take(rest: str) -> None:
        _ = Keys().of(address_of.__wrapped__(f"http://a.example/a/{rest}").url)

    address = address_of(f"http://a.example/{make(10_000)}")
    assert address == address_of(address.url)
    check_that_time_is_linear(make, take, LENGTHS)


def check_that_time_is_linear(
    make: Maker, take: Callable[[str], object], sizes: tuple[int, ...] = SIZES
) -> None:
    def least(size: int, times: int) -> float:
        text, found = make(size), []
        for _ in range(times):
            gc.collect()
            gc.disable()  # it looks at all that there is, at any time
            began = time.thread_time()
            take(text)
            found.append(time.thread_time() - began)
            gc.enable()
        return min(found)

    take(make(1_000))
    before = least(sizes[0], 3)
    for size in sizes[1:]:
        seconds = least(size, 1)
        if seconds > max(LEAST, MORE * before):  # the machine may have been busy with other things
            before, seconds = least(size // TIMES, 3), least(size, 3)
        assert seconds <= max(LEAST, MORE * before), (size, before, seconds)
        before = seconds

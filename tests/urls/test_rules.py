"""Rules: which of them two URLs differ by, and what they leave of a URL."""

from __future__ import annotations

import pytest

from simhash_gate.urls.parts import parts_of
from simhash_gate.urls.rules import Reduction, Rule, differences

SITE = "http://example.com"


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("/a/1?x=1&y=2", "/a/1?y=2", [Rule("parameter", "x", "1")]),
        ("/a/1?x=1", "/a/1?x=2", [Rule("parameter", "x", "*")]),
        ("/3fa85f64/a", "/a", [Rule("segment", "{code}", "0")]),
        ("/a?x=1&x=2", "/a?x=1", [Rule("parameter", "x", "*")]),
        ("/(S(abc123def))/a", "/a", [Rule("segment", "{code}", "0")]),
        ("/a;sid=1", "/a;sid=2", [Rule("path parameter", "sid")]),
        (
            *("/wiki/Bees?x=1", "/index.php?title=Bees"),
            [Rule("path", "title", "/wiki/*"), Rule("parameter", "x", "1")],
        ),
        ("/?q=talk%3aa%2Fb+c", "/talk:a/b%20c", [Rule("path", "q", "/*")]),
        ("/tags?name=red+bees", "/tags/red_bees", [Rule("path", "name", "./*_*")]),
        ("/a/2?p=2", "/a/2/2", [Rule("segment", "2", "-1"), Rule("parameter", "p", "2")]),
        ("/a", "/a", []),
        ("/a/b/c", "/d", None),
        ("/a/b", "/c/d", None),
    ],
)
def test_the_differences_of_two_urls_are_named(one: str, other: str, expected):
    parts = parts_of(SITE + one), parts_of(SITE + other)
    found = differences(*parts)
    assert (None if found is None else list(found)) == expected
    back = differences(parts_of(SITE + other), parts_of(SITE + one))
    assert (None if back is None else set(back)) == (None if found is None else set(found))


@pytest.mark.parametrize(
    ("one", "other", "rules"),
    [
        (
            *("www.example.com", "m.example.com"),
            [("m.example.com", "example.com"), ("www.example.com", "example.com")],
        ),
        ("shop.example.com", "www.example.com", [("shop.example.com", "www.example.com")]),
    ],
)
def test_two_aliases_of_a_name_have_the_pages_of_that_name(one: str, other: str, rules) -> None:
    for pair in ((one, other), (other, one)):
        found = differences(*(parts_of(f"http://{host}/a") for host in pair))
        assert sorted(found or ()) == [Rule("host", *names) for names in sorted(rules)]


def test_a_rule_of_one_value_takes_that_value_out_alone() -> None:
    reduction = Reduction.of([Rule("parameter", "printable", "yes")])
    for url in (f"{SITE}/a?printable=no", f"{SITE}/a"):
        assert reduction.apply(parts_of(url)).url == url
    assert reduction.apply(parts_of(f"{SITE}/a?printable=yes")).url == f"{SITE}/a"

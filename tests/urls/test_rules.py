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
        ("/a?x=1&x=2", "/a?x=1", [Rule("parameter", "x", "*")]),
        ("/a?x=1&y=2", "/a?y=2&x=1", [Rule("order")]),
        ("/a/1/print", "/a/1", [Rule("segment", "print", "-1")]),
        ("/print/a/1", "/a/1", [Rule("segment", "print", "0")]),
        ("/(S(abc123def))/a", "/a", [Rule("segment", "{code}", "0")]),
        ("/a;sid=1", "/a", [Rule("path parameter", "sid")]),
        ("/a;sid=1", "/a;sid=2", [Rule("path parameter", "sid")]),
        ("/a/index.html", "/a", [Rule("index")]),
        ("/a/", "/a", [Rule("slash")]),
        ("/A/b", "/a/b", [Rule("case")]),
        ("/5/first-name", "/5/other-name", [Rule("place", "1")]),
        ("/index.php?title=Bees", "/wiki/Bees", [Rule("path", "title", "/wiki/*")]),
        (
            *("/wiki/Bees?x=1", "/index.php?title=Bees"),
            [Rule("path", "title", "/wiki/*"), Rule("parameter", "x", "1")],
        ),
        ("/?q=talk%3aa%2Fb+c", "/talk:a/b%20c", [Rule("path", "q", "/*")]),
        ("/a?p=about", "/en/about.html", [Rule("path", "p", "/en/*.html")]),
        ("/tags?name=bees", "/tags/bees.html", [Rule("path", "name", "./*.html")]),
        ("/tags?name=red+bees", "/tags/red_bees", [Rule("path", "name", "./*_*")]),
        ("/a/2?p=2", "/a/2/2", [Rule("segment", "2", "-1"), Rule("parameter", "p", "2")]),
        ("/a?p=2", "/a/2?p=2", [Rule("segment", "2", "-1")]),
        ("/a/b?p=d", "/a/bd", [Rule("place", "1"), Rule("parameter", "p", "d")]),
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


def test_hosts_and_schemes_differ_too() -> None:
    found = differences(parts_of("http://m.example.com/a"), parts_of("https://example.com/a"))
    assert found == (Rule("scheme"), Rule("host", "m.example.com", "example.com"))


@pytest.mark.parametrize(
    ("one", "other", "rules"),
    [
        ("m.example.com", "example.com", [("m.example.com", "example.com")]),
        (
            *("www.example.com", "m.example.com"),
            [("m.example.com", "example.com"), ("www.example.com", "example.com")],
        ),
        ("shop.example.com", "www.example.com", [("shop.example.com", "www.example.com")]),
        ("m.example.com:81", "m.example.com:80", [("m.example.com:80", "m.example.com:81")]),
        ("www.com", "m.com", [("www.com", "m.com")]),
    ],
)
def test_two_aliases_of_a_name_have_the_pages_of_that_name(one: str, other: str, rules) -> None:
    for pair in ((one, other), (other, one)):
        found = differences(*(parts_of(f"http://{host}/a") for host in pair))
        assert sorted(found or ()) == [Rule("host", *names) for names in sorted(rules)]


def test_of_two_paths_for_a_parameter_that_counts_which_joins_words() -> None:
    for joined in ("./*-*", "./*_*", "/tags/*-*"):
        rules = Rule("path", "name", "./*"), Rule("path", "name", joined)
        reduction = Reduction.of(rules)
        for name, path in (("bees", "bees"), ("red+bees", f"red{joined[-2]}bees")):
            parts = parts_of(f"{SITE}/tags?name={name}")
            assert reduction.apply(parts) == parts_of(f"{SITE}/tags/{path}")


def test_a_rule_of_one_value_takes_that_value_out_alone() -> None:
    reduction = Reduction.of([Rule("parameter", "printable", "yes")])
    for url in (f"{SITE}/a?printable=no", f"{SITE}/a"):
        assert reduction.apply(parts_of(url)).url == url
    assert reduction.apply(parts_of(f"{SITE}/a?printable=yes")).url == f"{SITE}/a"

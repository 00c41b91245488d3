"""How a page is built, and where its links lead: what tells a new template from a new text."""

import pytest

from simhash_gate.page.parse import parse
from simhash_gate.page.skeleton import link_targets, tag_paths
from simhash_gate.page.survey import survey


def paths(markup: str) -> set[str]:
    root = parse(markup.encode())
    assert root is not None
    return set(tag_paths(survey(root).tags))


def test_each_box_is_told_by_the_boxes_around_it() -> None:
    found = paths("<title>a</title><body><main><h1>a</h1><ul><li>b</ul></main>")
    inner = {"/html/body/main", "/html/body/main/h1", "/html/body/main/ul"}
    whole = {path for path in found if path.startswith("/")}
    assert whole == {"/html", "/html/body", *inner, "/html/body/main/ul/li"}


def test_how_often_a_box_comes_and_what_is_none_is_not_told() -> None:
    marked = '<p>a <b>bold <i>word</i></b>, <a href="/x">a link</a><br><img src="b.png"></p>'
    for markup, same in (
        (marked, "<p>a bold word, a link</p>"),
        ("<a href='/x'><span><div><h2>a</h2></div></span></a>", "<div><h2>a</h2></div>"),
        ("<div>a</div><script>1</script><svg><g/></svg>", "<div>a</div>"),
        *((f"<ul>{'<li><p>a</p></li>' * n}</ul>", "<ul><li><p>a</ul>") for n in (5, 50)),
    ):
        assert paths(f"<main>{markup}</main>") == paths(f"<main>{same}</main>"), markup


def test_a_box_around_all_leaves_most_ends_of_paths_as_they_were() -> None:
    inner = "<div><ul><li><div><h2>a</h2><p>b</p></div></li></ul></div>"
    one, other = (paths(markup) for markup in (inner, f"<section>{inner}</section>"))
    assert {path for path in one & other if path.startswith("/")} == {"/html", "/html/body"}
    assert one & other >= {"ul li div h2", "ul li div p"}


def test_links_are_those_of_the_whole_page_each_once() -> None:
    root = parse(
        b'<nav><a href="/a">a</a> <a href="/a">A</a></nav><p><a>no</a> <a href="#x">x</a></p>'
        b'<map><area href="b"></map><footer><a href="/c">c</a></footer>'
    )
    assert root is not None
    assert survey(root).hrefs == {"/a", "#x", "b", "/c"}


@pytest.mark.parametrize(
    ("href", "target"),
    [
        ("b", {"https://a.example/x/b"}),
        ("/b/", {"https://a.example/b/"}),
        ("//b.example/c", {"https://b.example/c"}),
        ("https://b.example/c#part", {"https://b.example/c"}),
        ("#part", set()),
        ("mailto:a@b.example", set()),
        ("javascript:void(0)", set()),
        ("/cdn-cgi/l/email-protection#1f2e", set()),
        ("https://[broken", {"https://[broken"}),
    ],
)
def test_a_link_leads_where_a_browser_would_go(href: str, target: set[str]) -> None:
    assert link_targets([href], "https://a.example/x/y") == target

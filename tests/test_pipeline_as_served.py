"""What is read of all that a page shows, its boilerplate included: its structure, and its links."""

import pickle

import pytest

from simhash_gate.fingerprints.hamming import hamming_distance
from simhash_gate.page import Page
from simhash_gate.pipeline import read_page

FAR = 12
OLD = """<html><head><title>{0}</title></head><body>{2}
<header><div class=logo><a href=/>The Hive</a></div><nav><ul><li><a href=/bees>Bees</a></li>
<li><a href=/moss>Moss</a></li></ul></nav></header>
<div id=page><div class=main><article><h1>{0}</h1><p>{1}</p></article></div>
<div class=side><section><h3>Newest</h3><ul><li><a href=/new/1>One</a></li></ul></section></div>
</div>
<footer><div><p><a href=/imprint>Imprint</a></p></div></footer></body></html>"""
NEW = """<html><head><title>{0}</title></head><body>{2}
<div class=app><div><div><div><a href=/>The Hive</a><div><div><a href=/bees>Bees</a></div>
<div><a href=/moss>Moss</a></div></div></div></div></div>
<main><section><div><h1>{0}</h1></div><div><div>{1}</div></div></section>
<section><div><div><h4><a href=/new/1>One</a></h4></div></div></section></main>
<div><aside><div><a href=/imprint>Imprint</a></div></aside></div></div></body></html>"""
TEXT = "In the far north a bee lives for six weeks, and it never sees the dark. Its hive is moss."
CONSENT = "<div class=cookie-banner><div><p>We use cookies.</p><button>Agree</button></div></div>"


def read(template: str, text: str = TEXT, *, banner: str = "") -> Page:
    html = template.format("Bees of the north", text, banner)
    return read_page(html.encode(), url="https://a.example/bees/north")


def structures(one: Page, other: Page) -> int:
    return hamming_distance(one.structure, other.structure)


def links(*hrefs: str) -> int:
    entries = "".join(f'<li><a href="{href}">a</a></li>' for href in hrefs)
    return read_page(f"<ul>{entries}</ul>".encode(), url="https://a.example/x/y").links


def test_golden_values() -> None:
    # A change here makes each page of a remembered site look like one of a new template: it needs
    # a new ALGORITHM number, as one of fingerprints does.
    old = read(OLD)
    assert f"{old.structure:016x} {old.links:016x}" == "eb86524bc13228c0 4aee3b7cf8e774c2"


def test_another_text_is_no_other_structure() -> None:
    long = "</p><p>".join(f"{TEXT} <b>Day {day}</b> <a href=/{day}>more</a>" for day in range(50))
    assert read(OLD).structure == read(OLD, long).structure != 0
    assert read(OLD).links != read(OLD, long).links


def test_the_same_text_in_another_template_is_another_structure() -> None:
    old, new = read(OLD), read(NEW)
    assert old.digest == new.digest
    assert structures(old, new) > FAR


@pytest.mark.parametrize("template", [OLD, NEW])
def test_a_banner_moves_the_structure_little(template: str) -> None:
    assert structures(read(template), read(template, banner=CONSENT)) < FAR


def test_an_empty_page_has_a_structure_too() -> None:
    page = read_page(b"<body><div><ul></ul><a href=/x></a></div>", url="https://a.example/")
    assert page.words == 0
    assert page.structure
    assert page.links
    assert read_page(b" ").structure == read_page(b" ").links == 0
    assert read_page(b"<p>without a link").links == 0


def test_the_order_of_links_and_how_they_are_written_does_not_matter() -> None:
    assert links("/a", "b") == links("https://a.example/x/b", "/a#part", "/a", "mailto:a@b.example")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/a?PHPSESSID=1f2e&page=2", "/a?PHPSESSID=77aa&page=2"),
        ("/a;jsessionid=1f2e?page=2", "/a;jsessionid=77aa?page=2"),
        ("/a?page=2&utm_source=mail", "/a?page=2&utm_source=feed"),
        ("/cdn-cgi/l/email-protection#1f", "/cdn-cgi/l/email-protection#2e"),
    ],
)
def test_the_number_of_a_visitor_makes_no_other_link(one: str, other: str) -> None:
    assert links("/b", one) == links("/b", other) != 0


@pytest.mark.parametrize("more", ["/c", "/a?page=3", "/a?id=9f31c2", "//b.example/a", "/a/"])
def test_a_link_more_is_told(more: str) -> None:
    assert links("/a", "/a?page=2") != links("/a", "/a?page=2", more)


def test_relative_links_follow_the_base_of_the_page() -> None:
    based = read_page(b'<base href="/z/"><a href=b>b</a>', url="https://a.example/x/y").links
    assert based == links("/z/b") != links("/x/b")


def test_both_travel_with_a_page() -> None:
    page = read(OLD)
    sent = pickle.loads(pickle.dumps(page))
    assert (sent.structure, sent.links) == (page.structure, page.links)

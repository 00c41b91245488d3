"""URLs taken apart, and the shapes of their paths."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simhash_gate.urls.parts import DEEPEST, MOST_WORDS, Shapes, parts_of


@pytest.mark.parametrize(
    ("url", "same"),
    [
        ("https://example.com:8080/a/b/?x=1&y=2&x=3", ""),
        ("http://example.com/a;jsessionid=1A/b.html?flag", ""),
        ("HTTP://Example.COM", "http://example.com/"),
        ("http://example.com/a#part", "http://example.com/a"),
        ("http://user:secret@example.com/a", "http://example.com/a"),
    ],
)
def test_parts_make_the_url_again_without_what_never_matters(url: str, same: str) -> None:
    assert parts_of(url).url == (same or url)


@settings(max_examples=50)
@given(st.text())
def test_anything_can_be_taken_apart(text: str) -> None:
    parts = parts_of(text)
    assert parts_of(parts.url) == parts_of(parts_of(parts.url).url)
    Shapes().of(parts)


def test_a_path_without_an_end_has_a_shape_like_any_other() -> None:
    shapes = Shapes()
    deep = parts_of(f"http://example.com{'/a' * 100_000}/page")
    for _ in range(3):
        shapes.note(deep)
    assert shapes.of(deep) == f"example.com{'/a' * DEEPEST}"
    assert sum(map(len, shapes._places)) < 100_000


def test_sections_are_told_apart_and_words_that_are_too_many_are_names() -> None:
    shapes = Shapes()
    sections = [parts_of(f"http://www.example.com/{url}") for url in ("news/1", "sport/2")]
    for section in sections * 50:
        shapes.note(section)
    expected = ["example.com/news/{number}", "example.com/sport/{number}"]
    assert [shapes.of(section) for section in sections] == expected
    shapes = Shapes()
    users = ["".join(chr(97 + int(digit)) for digit in str(number)) for number in range(60)]
    urls = [f"http://example.com/{user}/posts/9" for user in users]
    for url in urls[:MOST_WORDS]:
        shapes.note(parts_of(url))
    assert shapes.of(parts_of(urls[0])) == "example.com/a/posts/{number}"
    for url in urls:
        shapes.note(parts_of(url))
    assert shapes.of(parts_of(urls[0])) == "example.com/*/posts/{number}"
    later = Shapes()
    later.take_over("example.com/*/posts/{number}")  # as an earlier crawl knew it
    for _ in range(2):
        assert later.of(parts_of(urls[0])) == "example.com/*/posts/{number}"
        later.note(parts_of(urls[0]))

"""The lines of a page, with and without its flow."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html

from simhash_gate.page.blocks import blocks
from simhash_gate.page.flow import flow
from simhash_gate.page.survey import lines_of, survey

TAGS = [
    "div",
    "p",
    "h2",
    "h2",
    "li",
    "pre",
    "code",
    "a",
    "b",
    "br",
    "hr",
    "img",
    "input",
    "table",
    "tr",
    "td",
    "th",
    "dl",
    "dt",
    "fieldset",
    "span",
    "sup",
]
WORDS = st.sampled_from(["", "  ", "one", " two words ", "three\n  words\tmore", "\xa0", "4"])


@st.composite
def trees(draw: st.DrawFn, depth: int = 5) -> html.HtmlElement:
    element = html.Element(draw(st.sampled_from(TAGS)))
    element.text, element.tail = draw(WORDS), draw(WORDS)
    element.extend(draw(st.lists(trees(depth - 1), max_size=3)) if depth else ())
    return element


@settings(max_examples=300, deadline=None)
@given(trees())
def test_lines_are_the_texts_of_the_blocks_of_the_flow(root: html.HtmlElement) -> None:
    for void in root.iter("br", "hr", "img", "input"):
        void.text = None
        del void[:]
    assert lines_of(root) == [block.text for block in blocks(flow(root))]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("10<sup>6</sup> feet", "10^6 feet"),
        ("10<sup>-6</sup> or 10<sup><a href=#n>2</a></sup>", "10^-6 or 10^2"),
        ("word<sup>1</sup>, CO<sub>2</sub>, 1<sup>st</sup>", "word1, CO2, 1st"),
    ],
)
def test_a_raised_number_is_no_part_of_the_one_before(source: str, text: str) -> None:
    root = html.fromstring(f"<p>{source}</p>")
    assert lines_of(root) == [text] == [block.text for block in blocks(flow(root))]


def test_lines_that_lead_on_are_told_from_those_that_say_something():
    page = html.document_fromstring(
        "<body><nav>Menu<p>of it</p></nav><p>Bees <a href=/b>and moss</a> and ice in the north</p>"
        "<a href=/c><h3>A card</h3><p>of moss</p></a><p><a href=/d>Bees</a>, <a href=/e>ice</a></p>"
        "<small>Ad</small><a href=/f>Fly south for nine coins</a><p>end</p><footer>Us<p>9</footer>"
    )
    found = survey(page)
    said = [line for line, said in zip(found.lines, found.said, strict=True) if said]
    assert said == ["Bees and moss and ice in the north", "end"]
    assert len(found.lines) == 10

"""Pages whose text libxml2 loses, shows or orders otherwise than HTML5 says."""

import pytest

from simhash_gate.page.hidden import drop_invisible
from simhash_gate.page.parse import parse
from simhash_gate.page.repair import as_a_browser

AFTER = b"</body></html><p>after all</p>"  # without more, this alone is why a page is read again


def seen(body: bytes) -> str:
    """What a reader sees of a page, with blanks between its elements."""
    root = parse(body)
    drop_invisible(root)
    return " ".join(" ".join(root.find("body").itertext()).split())


@pytest.mark.parametrize(
    ("page", "expected"),
    {
        # Outside of the body.
        "<html><head></head></html><body><p>one</p><p>two</body></html>": "one two",
        "</html>one <b>two</b></body>three": "one two three",
        "<head><x-y>one</x-y></head><body>two": "one two",
        "<body><p>one</p><body><p>two</p>": "one two",
        # In pictures and formulas.
        "<svg><symbol><div>one</div></symbol></svg>two": "one two",
        "<svg><font color=red>one</font></svg>two": "one two",
        "<svg><foreignObject><div>no</div></foreignObject></svg>one": "one",
        # In controls.
        "<div><button><div>no</button>one</div>two": "one two",
        "<select><option>no<input>one</select><p>two": "one two",
        "<select /><option>one</select>two": "two",
        # In what is raw text, or a tree of its own.
        "<noscript><img><noscript><img></noscript></noscript><p>one": "one",
        "<div><template>no</div>no</template>one": "one",
        "<div><object>no</div>no</object>one": "one",
        # A line break.
        "one</br>two": "one two",
    }.items(),
)
def test_what_is_seen_of_a_page_is_what_html5_says(page, expected):
    assert seen(page.encode()) == expected


@pytest.mark.parametrize(
    ("page", "expected"),
    {
        "one<plaintext><b>two</plaintext>": f"one <b>two</plaintext>{AFTER.decode()}",
        "<div><template shadowrootmode=open><p>one</p></template>two</div>": "one two",
        "one&ampone &#65&nbsp;&copy two": "one&one A © two",
        "<pre>\n\n one\n</pre>": "one",
        "<svg><![CDATA[no]]></svg>one": "one",
        "<p title='a>b'>one<p title=\"'\">two": "one two",
        "<b>one<p>two</b> three<table><td>four<td>five</table>": "one two three four five",
    }.items(),
)
def test_libxml2_reads_what_the_html5_parser_wrote(page, expected):
    after = "" if "plaintext" in page else " after all"
    assert seen(page.encode() + AFTER) == expected + after


def test_attributes_and_the_head_are_kept():
    root = parse(
        b"<!DOCTYPE html><html lang=de><head><title>a &amp; b</title><meta property='og:title' "
        b'content=\'x "y" &lt;z>\'><script type=\'application/ld+json\'>{"a": "<b>&amp;"}</script>'
        b"<body class=c><p>one</p>" + AFTER
    )
    assert root.get("lang") == "de"
    assert root.findtext("head/title") == "a & b"
    assert root.find("head/meta").get("content") == 'x "y" <z>'
    assert root.findtext("head/script") == '{"a": "<b>&amp;"}'
    assert root.find("body").get("class") == "c"


HOSTILE = {
    "fonts that are opened again in every paragraph": b"".join(
        b"<p><font color=%d></p>" % n for n in range(20_000)
    ),
    "addresses that nothing closes": b"<x-y><address></x-y>" * 10_000,
    "many attributes": b"<p " + b" ".join(b"a%d" % n for n in range(4000)) + b">",
    "a large page": (b"<p>" + b"word " * 100 + b"</p>\n") * 11_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_an_html5_parser_takes_too_long_for_loses_no_text(name):
    root = parse(HOSTILE[name] + AFTER)
    assert "after all" in root.find("body").text_content()
    known_before = name != "many attributes"
    assert (as_a_browser(HOSTILE[name]) is None) == known_before
    assert as_a_browser(b"<p><b>one</b></p>" * 900 + AFTER) is not None


def test_a_value_of_many_words_is_no_tag_of_many_attributes():
    page = b"<div data-state='" + b'{"a": 1, "b": 2} ' * 10_000 + b"'><h1>one</h1>two</div>"
    root = parse(page)
    assert [element.tag for element in root.iter()] == ["html", "body", "div", "h1"]

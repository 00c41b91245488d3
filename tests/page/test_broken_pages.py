import random

import pytest

from simhash_gate.pipeline import read_page

ARTICLE = (
    "<!DOCTYPE html><html><head><meta charset=utf-8><title>Floods in the valley</title></head>"
    "<body>"
    "<nav><ul><li><a href=/>Home</a><li><a href=/n>News</a></ul></nav>"
    "<article><h1>Floods in the valley</h1>"
    + "".join(
        f"<p>On day {n} the water rose by {n * 7} centimetres, said the mayor – “über Nacht”.</p>"
        for n in range(1, 12)
    )
    + "<table><tr><th>Day<th>Level<tr><td>1<td>7</table></article>"
    "<footer>© Valley News</footer></body></html>"
)


def truncated():
    body = ARTICLE.encode()
    return {f"cut after {n} bytes": body[:n] for n in range(1, len(body), len(body) // 49)}


def damaged():
    rng = random.Random(7)
    pages = {}
    for n in range(50):
        body = bytearray(ARTICLE.encode())
        for _ in range(rng.randrange(1, 60)):
            body[rng.randrange(len(body))] = rng.randrange(256)
        pages[f"damaged {n}"] = bytes(body)
    return pages


def shuffled():
    rng = random.Random(11)
    pages = {}
    for n in range(40):
        pieces = ARTICLE.replace("<", "\0<").split("\0")
        rng.shuffle(pieces)
        pages[f"shuffled {n}"] = "".join(pieces).encode()
    return pages


CHARSETS = """
    ascii latin-1 utf-8 utf-16 utf-32 shift_jis euc-kr gb18030 koi8-r cp037 no-such x
"""


def mislabelled():
    bodies = {
        "utf-8": ARTICLE.encode(),
        "utf-16": ARTICLE.encode("utf-16"),
        "cp1252": ARTICLE.encode("cp1252", "replace"),
    }
    return {
        f"{real} said to be {said}": body.replace(b"charset=utf-8", b"charset=" + said.encode())
        for real, body in bodies.items()
        for said in CHARSETS.split()
    }


HOSTILE = {
    "empty": b"",
    "white space": b" \n\t\r\f ",
    "a comment only": b"<!-- nothing -->",
    "an open comment": b"<p>text</p><!-- " + b"x" * 10_000,
    "a doctype only": b"<!DOCTYPE html>",
    "NULs": b"\0" * 1000,
    "NULs in words": ARTICLE.replace(" ", " \0").encode(),
    "a BOM only": b"\xef\xbb\xbf",
    "half a BOM": b"\xff",
    "bytes that are no text": bytes(range(256)) * 40,
    "a PNG": b"\x89PNG\r\n\x1a\n" + bytes(500),
    "no tags": b"just words and nothing else " * 10,
    "10,000 nested divs": b"<div>" * 10_000 + b"deep" + b"</div>" * 10_000,
    "10,000 open spans": b"<span>" * 10_000 + b"deep words here",
    "10,000 nested lists": b"<ul><li>" * 10_000 + b"deep words here",
    "1,500 nested tables": b"<table><tr><td>" * 1500 + b"deep words here",
    "900 nested quotes": b"<blockquote>" * 900 + b"deep words here",
    "5,000 attributes": b"<p " + b" ".join(b"a%d=1" % n for n in range(5000)) + b">words in here",
    "an endless attribute": b"<p class='" + b"x " * 200_000,
    "an endless tag": b"<" + b"a" * 500_000,
    "50,000 links": b"<a href=x>word</a> " * 50_000,
    "200,000 links": b"<ul>" + b"<li><a href=x>word</a>" * 200_000,
    "100,000 rows": b"<table>" + b"<tr><td>1<td>word" * 100_000,
    "20,000 headlines": b"<title>same</title>" + b"<h1>same</h1>" * 20_000,
    "20,000 list items": b"<ol>" + b"<li>item" * 20_000,
    "spaces": b"<p>a" + b" " * 1_000_000 + b"b</p>",
    "entities": b"&" * 10_000 + b"&#0;&#1;&#xD800;&#x110000;&#99999999999;&nosuch;&amp",
    "control characters by entity": b"<p>a<b>x</b>&#1;b<script>s</script>&#2;c</p>",
    "a control character before text": b"<title>a title&#1;</title>&#2;bee<section>c</section>",
    "xhtml": b'<?xml version="1.0" encoding="UTF-8"?><html xmlns="http://www.w3.org/1999/xhtml"><body><p>words</p></body></html>',
    "xhtml with a prefix": b'<h:html xmlns:h="http://www.w3.org/1999/xhtml"><h:body><h:p>words</h:p></h:body></h:html>',
    "cdata": b"<p><![CDATA[ words ]]></p>",
    "rss": b"<rss><channel><title>t</title><item><title>words</title></item></channel></rss>",
    "frames": b"<frameset><frame src=a><frame src=b><noframes>No frames here</noframes></frameset>",
    "frames alone": b"<frameset><frame src=a></frameset>",
    "a base trap": b"<base href='http://[::1'><p><a href='//['>words to read</a> and more",
    "a base without address": b"<base><base href><base href='javascript:x'><a href=y>words</a>",
    "a script that is never closed": b"<p>words</p><script>var x = '<p>",
    "a title that is never closed": b"<title>words and <p>more words",
    "a textarea that is never closed": b"<p>words</p><textarea><p>more",
    "plaintext": b"<p>words</p><plaintext><p>more",
    "two bodies": b"<body><p>one</p></body><body><p>two</p></body>",
    "no body": b"<head><title>only a title</title></head>",
    "all boilerplate": b"<nav><a href=/>Home</a> <a href=/a>About</a></nav>",
    "all hidden": b"<body style='display:none'><p hidden>words that nobody sees</p></body>",
    "an image only": b"<img src=x alt=words>",
    "punctuation": b"<p>... --- !!! ???</p>",
    "emoji": "<p>🎉🎉🎉 👩‍👩‍👧‍👦</p>".encode(),
    "combining marks": ("<p>" + "e" + "\u0301" * 5000 + "</p>").encode(),
    "right to left": "<p>\u202eabc\u202c \u2067def\u2069</p>".encode(),
    "lone surrogates in UTF-8": b"<p>\xed\xa0\x80 words</p>",
    "select": b"<select><option>one<option>two</select>",
    "svg and math": b"<svg><p>a</p></svg><math><mi>x</mi></math>",
    "malformed styles": b"<p style='display:;;:none'>words</p><p style=';'>more</p>",
    "30 MB": ARTICLE.encode() + (b"<div class=pad></div>" + b" " * 200) * 140_000,
}

PAGES = truncated() | damaged() | shuffled() | mislabelled() | HOSTILE

WITH_TEXT = {
    "no tags",
    "10,000 nested divs",
    "900 nested quotes",
    "xhtml",
    "frames",
    "a base trap",
    "all boilerplate",
    "NULs in words",
    "utf-8 said to be ascii",
    "30 MB",
    "200,000 links",
    "100,000 rows",
}


def test_there_are_two_hundred_of_them():
    assert len(PAGES) >= 200
    assert PAGES.keys() > WITH_TEXT
    assert len(HOSTILE["30 MB"]) > 30_000_000


@pytest.mark.parametrize("name", PAGES)
def test_a_broken_page_has_a_fingerprint_or_a_reason(name):
    page = read_page(PAGES[name], url="http://example.org/page")
    assert (page.fingerprint is None) == (page.reason is not None)
    assert not page.unreadable, page.reason
    assert name not in WITH_TEXT or page.fingerprint is not None


@pytest.mark.parametrize("head", ["", "<title>Shoes, boots and sandals, delivered free</title>"])
@pytest.mark.parametrize("boilerplate", ["", "<nav><a href=/>Home</a></nav>", "<img src=shoe.png>"])
def test_a_shell_that_scripts_would_fill_has_no_text(head, boilerplate):
    page = read_page(
        f"{head}<body>{boilerplate if head else ''}<div id=app></div><noscript>Enable JavaScript."
        "</noscript><script>window.data = {id: 1}; start(window.data)</script>".encode()
    )
    assert (page.reason, page.fingerprint, page.words) == ("no text", None, 0)
    assert ("![](shoe.png)" in page.markdown) == bool(head and "img" in boilerplate)


def test_a_page_of_one_line_has_that_text():
    for body in ("<p>Closed until Monday.", "<h1>Closed until Monday.", "Closed until Monday."):
        assert read_page(f"<title>Shop</title>{body}".encode()).fingerprint is not None, body


def test_a_wrong_charset_or_nuls_do_not_move_the_fingerprint():
    expected = read_page(ARTICLE.encode()).fingerprint
    for name in ("utf-8 said to be ascii", "utf-8 said to be shift_jis", "utf-16 said to be x"):
        assert read_page(PAGES[name]).fingerprint == expected
    assert read_page(HOSTILE["NULs in words"]).fingerprint == expected

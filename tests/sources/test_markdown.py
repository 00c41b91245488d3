"""The Markdown of a page, read again: it says what the page says."""

import pytest
from lxml.html import document_fromstring

from simhash_gate import read_page
from simhash_gate.sources.markdown import markdown_as_html
from tests.crawls.harness import page, text

URL = "https://example.com/a"


PAGES = {
    "story": page(1).body.decode(),
    "signs": f"<title>C++</title><main><article><h1>C++ &amp; C#</h1><p>{text(3, 60)} 1 &lt; 2 * 3 "
    r"[x](y) `code` a\b #1 | ~~no~~ __init__ -5 +5 €9</p><p>1. one</p><p>- two</p><p># three</p>"
    f"<pre>if a &lt; b:\n    # c\n\n    print('```')</pre><p>{text(4, 60)}</p></article></main>",
    "marks": f"<title>M</title><main><article><h1>M</h1><p>{text(5, 40)} <b>bold</b> <i>and <code>"
    "x = y[1]</code></i> <a href='/b_(c)'>a <b>link</b> [1]</a> <del>old</del><br>next line"
    f"</p><blockquote><p>{text(6, 40)}</p></blockquote></article></main>",
    "lists": f"<title>L</title><main><article><h1>L</h1><p>{text(7, 60)}</p><ul>"
    f"<li>one {text(8, 9)}<ol><li>two {text(9, 9)}</li><li><p>three</p>"
    f"<p>{text(10, 9)}</p></li></ol></li></ul>"
    f"<dl><dt>term {text(11, 3)}</dt><dd>{text(12, 9)}</dd></dl></article></main>",
    "table": f"<title>T</title><main><article><h1>T</h1><p>{text(13, 60)}</p><table><tr>"
    f"<th>a|b</th><th>c</th></tr><tr><td>{text(14, 4)}</td><td></td></tr>"
    "<tr><td>1</td><td>2</td></tr></table>"
    f"<p>{text(15, 40)}</p></article></main>",
    "japanese": "<title>蜂</title><main><article><h1>蜂の一生</h1>"
    + "".join(f"<p>働き蜂は夏に{n}週間生きる。そのほとんどを巣の中で過ごす。</p>" for n in range(9))
    + "</article></main>",
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_that_was_markdown_is_the_same_page(name: str) -> None:
    first = read_page(PAGES[name].encode(), url=URL)
    second = read_page(markdown_as_html(first.markdown, first.title, URL), url=URL)
    assert first.fingerprint is not None
    assert second.fingerprint == first.fingerprint
    assert (second.digest, second.words) == (first.digest, first.words)
    assert (second.title, second.said) == (first.title, first.said)


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        (r"1 \< 2 \* 3", "1 < 2 * 3"),
        ("`` a ` b ``", " a ` b "),
        ("a **b *c* d** ~~e~~", "a b c d e"),
        (r"[a \[1\]](https://x.example/b_(c))", "a [1]"),
        ("an [open bracket", "an [open bracket"),
        ("a [note] b", "a [note] b"),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
        ("# Bees #1", "Bees #1"),
        ("10. ten", "ten"),
        ("```\nnever closed", "\nnever closed"),
        ("---", ""),
    ],
)
def test_a_mark_is_no_text(markdown: str, expected: str) -> None:
    article = document_fromstring(markdown_as_html(markdown, "", "")).find(".//article")
    assert article is not None
    assert "".join(map(str, article.itertext())).strip("\n") == expected.strip("\n")


def test_links_and_images_lead_where_they_did() -> None:
    markdown = '[a ![b](https://x.example/1.png) c](https://x.example/?q="1"&r=2) ![](d.jpg)'
    body = document_fromstring(markdown_as_html(markdown, "<T>", 'https://x.example/"'))
    assert body.xpath("//a/@href") == ['https://x.example/?q="1"&r=2']
    assert body.xpath("//img/@src") == ["https://x.example/1.png", "d.jpg"]
    assert body.xpath("//img/@alt") == ["b", ""]
    assert body.xpath("string(//title)") == "<T>"
    assert body.xpath("//link/@href") == ['https://x.example/"']


@pytest.mark.timeout(20)
@pytest.mark.parametrize("unit", ["[", "![", "`", "\\", "](", "a[b](", "> ", "1. "])
def test_hostile_markdown_takes_linear_time(unit: str) -> None:
    assert markdown_as_html(unit * 100_000, "", "")
    assert markdown_as_html(f"{unit}\n" * 50_000, "", "")

import pytest

from simhash_gate import Options
from simhash_gate.page.flow import Flow, flow
from simhash_gate.page.markdown import write
from simhash_gate.page.parse import parse
from simhash_gate.pipeline import read_page
from simhash_gate.values import SettingsError

WHITE_SPACE = "".join(char for char in map(chr, range(0x10000)) if char.isspace())


def markdown(html: str, base: str = "https://example.org/a/") -> str:
    root = parse(f"<html><body>{html}</body></html>".encode())
    assert root is not None
    return write(flow(root[0]), base)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p><b>a</b> <i>b</i> <s>c</s> <code>d</code></p>", "**a** *b* ~~c~~ `d`"),
        ("<ul><li>a<ul><li>b</ul><li>c</ul>", "- a\n  - b\n- c"),
        ("<p>a<b> b </b>c<a href=/x> d </a>", "a **b** c [d](https://example.org/x)"),
        ("<div><b>a<div>b</div></b> c</div>", "**a**\n\nb\n\nc"),
        ("<p><code>*a*</code> <code>`b``</code>", "`*a*` ``` `b`` ```"),
        ("<h2>a<br>b <img src=/i alt=c></h2>", "## a b ![c](https://example.org/i)"),
        ("<ol start=10><li>a<p>b<p>c</ol>", "10. a\n\n    b\n\n    c"),
        ("<ul><li><p>a<ul><li>b</ul><li>c<br>d</ul>", "- a\n  - b\n- c  \n  d"),
        ("<dl><dt>a<dd>b<br>c<p>d<dt>e<dd>f</dl>", "- a\n\n  b  \n  c\n\n  d\n- e\n\n  f"),
        (
            "<ul><li><input type=checkbox checked> a<li><input type=checkbox>b</ul>",
            "- [x] a\n- [ ] b",
        ),
        ("<blockquote><p>a<p>b</blockquote>", "> a\n>\n> b"),
        (
            "<table><tr><th>a<th>b<tr><td>1<td>x|y</table>",
            "| a | b |\n| --- | --- |\n| 1 | x\\|y |",
        ),
        (
            "<table><tr><th>a<td>b<tr><td><img src=/i alt=c><td></table>",
            "|  |  |\n| --- | --- |\n| a | b |\n| ![c](https://example.org/i) |  |",
        ),
        ("<table><tr><td>1<td>2</table>", "|  |  |\n| --- | --- |\n| 1 | 2 |"),
        ("<table><tr><td><h2>a</h2><td><p>b</table>", "## a\n\nb"),
        ("<li>a<ul>b</ul>", "- a\n\n  b"),
        ("<p>x</p><hr><p>y", "x\n\n---\n\ny"),
        ("<p>2 * 3 _x_ [y] &lt;z> `q`", r"2 \* 3 \_x\_ \[y\] \<z> \`q\`"),
        (r"<p>\_ ~~a~~ ~b~", r"\\\_ ~\~a\~\~ ~b\~"),
        ("<p># a<p>1. b<p>- c", "\\# a\n\n1\\. b\n\n\\- c"),
        ("<pre>```\nx\n```</pre>", "````\n```\nx\n```\n````"),
        ("<p>a</p><pre>x\n\n\n\ny</pre>", "a\n\n```\nx\n\n\n\ny\n```"),
        ("<p><a href='javascript:x()'>a</a> <a href='http://[x'>b</a>", "a b"),
        # Marks that would be none beside a letter are HTML.
        ("<p>a<b>:</b>b <i>a</i><b>b</b>", "a<strong>:</strong>b <em>a</em>**b**"),
        ("<p>10<sup>6</sup> H<sub>2</sub>O", "10<sup>6</sup> H<sub>2</sub>O"),
        ("<p>$5 or 6$ &amp;amp; &amp;<br>---<br>=", "$5 or 6\\$ \\&amp; &  \n\\---  \n\\="),
        ("<p>see! <a href=/a)b>x</a>", "see! [x](https://example.org/a\\)b)"),
        ("<p><a href=/a_(b)>x</a>", "[x](https://example.org/a_(b))"),
        ("<p><code>a <a href=/x>b</a></code>", "`a` [`b`](https://example.org/x)"),
        ("<a href=/x><h3>a</h3><p>b</p></a>", "### [a](https://example.org/x)\n\nb"),
        ("<a href=/x><i class=icon></i><h3>a</h3></a>", "### [a](https://example.org/x)"),
        # Lists: outside of items, with numbers of their own, one after the other, in cells.
        ("<ul><li>a</li><ul><li>b</li></ul><li>c</ul>", "- a\n  - b\n- c"),
        ("<ol><li>a<li value=9>b<li>c</ol>", "1. a\n\n<!-- -->\n\n9. b\n10. c"),
        ("<ol><li>a</ol><ol><li>b</ol>", "1. a\n\n<!-- -->\n\n1. b"),
        ("<ul><li>a<ol start=5><li>b</ol></ul>", "- a\n\n  5. b"),
        ("<ul><li><hr><p>a</ul>", "- a"),
        # Tables: captions, spans, bars in code, lists in cells.
        (
            "<table><caption>t</caption><tr><th>a<th>b<tr><td>1<td>2</table>",
            "t\n\n| a | b |\n| --- | --- |\n| 1 | 2 |",
        ),
        (
            "<table><tr><th rowspan=2>a<th colspan=2>b<tr><th>c<th>d<tr><td>1<td>2<td>3</table>",
            "| a | b | b |\n| --- | --- | --- |\n| a | c | d |\n| 1 | 2 | 3 |",
        ),
        (
            "<table><tr><td rowspan=0>a<td colspan=9>b<tr><td>c<td>d</table>",
            "|  |  |  |\n| --- | --- | --- |\n| a | b | b |\n| a | c | d |",
        ),
        (
            "<table><tr><th>a<th>b<tr><td><code>x|y</code><td><p>c<p>d<ul><li>e<li>f</ul></table>",
            "| a | b |\n| --- | --- |\n| `x\\|y` | c<br>d<ul><li>e</li><li>f</li></ul> |",
        ),
        ("<table><tr><td><ul><li>a</ul><td><ul><li>b</ul></table>", "- a\n\n- b"),
        (
            "<table><tr><td>a<td>b<tr><td>c<td><ol><li>d</ol></table>",
            "|  |  |\n| --- | --- |\n| a | b |\n| c | <ol><li>d</li></ol> |",
        ),
        ("<pre><span style='display: block'>a</span><span>b</span></pre>", "```\na\nb\n```"),
    ],
)
def test_html_becomes_github_flavoured_markdown(html, expected):
    assert markdown(html) == expected


def test_white_space_is_one_blank_between_words_and_none_around_them():
    for space in WHITE_SPACE:
        text = f"{space}a{space * 2}b{space}"
        assert write(Flow([text, space, text, space], 1)) == "a b a b", ascii(space)


@pytest.mark.parametrize(
    "html",
    [
        '<pre class="language-python">x = 1\n  y</pre>',
        '<pre class="hljs-python"><span>x</span> = 1\n  y\n</pre>',
        '<pre><code class="lang-python">x = 1\n  y</code></pre>',
        '<div class="highlight-python"><div><pre>\nx = 1<br>  y</pre></div></div>',
        '<div class="highlight highlight-source-python"><pre>x = 1\n  y</pre></div>',
        '<pre class="sourceCode python"><code>x = 1\n  y</code></pre>',
        '<pre><code class="hljs language-python">x = 1\n  y</code></pre>',
        '<pre><code class="hljs python">x = 1\n  y</code></pre>',
        '<pre class="src src-python">x = 1\n  y</pre>',
        '<pre class="brush: python; toolbar: false">x = 1\n  y</pre>',
        "<pre data-lang=python>x = 1\n  y</pre>",
    ],
)
def test_code_is_fenced_with_its_language(html):
    assert markdown(html) == "```python\nx = 1\n  y\n```"


def test_links_and_lazy_images_are_absolute():
    html = "<p><a href='../b c'>t</a> <img src='data:x' data-src=/i.png alt='An  image'></p>"
    assert markdown(html) == "[t](https://example.org/b%20c) ![An image](https://example.org/i.png)"


def test_nesting_ends_where_nobody_can_read_it():
    html = "<blockquote>" * 900 + "<p>deep</p>" + "</blockquote>" * 900 + "<p>after"
    assert markdown(html) == "> " * 30 + "deep\n\nafter"


def test_what_is_too_large_for_markdownify_comes_out_as_paragraphs():
    assert markdown("<p><b>word</b>" * 12_000) == "\n\n".join(["word"] * 12_000)


def test_links_and_images_can_be_left_out():
    html = (
        b"<title>Bees</title><h1>Bees</h1><p>They <a href=/fly>fly</a> <img src=/a.jpg alt=home>."
    )
    page = read_page(html, url="https://example.org/")
    assert (
        page.markdown_without("links") == "# Bees\n\nThey fly ![home](https://example.org/a.jpg)."
    )
    assert page.markdown_without("images") == "# Bees\n\nThey [fly](https://example.org/fly) ."
    assert page.markdown_without("links", "images") == "# Bees\n\nThey fly ."
    assert page.markdown_without() == page.markdown
    linked = b"<h1>Bees</h1><p>They fly.</p><p><a href=/fly><img src=/a.jpg></a></p><p>Home."
    page = read_page(linked, url="https://example.org/")
    assert page.markdown_without("images") == "# Bees\n\nThey fly.\n\nHome."


def test_the_options_leave_out_links_and_images():
    html = b"<h1>Bees</h1><p>They <a href=/fly>fly</a> <img src=/a.jpg>."
    for value in ("links, images", ["images", "links"]):
        assert read_page(html, options=Options(without=value)).markdown == "# Bees\n\nThey fly ."
    with pytest.raises(SettingsError, match="without = 'pictures': expected links, images"):
        Options(without="pictures")


def test_code_of_no_known_language_names_none():
    assert markdown('<div class="highlight-default"><pre>x = 1</pre></div>') == "```\nx = 1\n```"

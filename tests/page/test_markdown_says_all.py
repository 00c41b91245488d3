"""Whatever is in an article, a CommonMark parser finds it in the Markdown again."""

from collections.abc import Callable
from html import escape
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from benchmarks.markdown import PROPERTIES, kept, rendered, view
from simhash_gate.page.flow import flow
from simhash_gate.page.markdown import write
from simhash_gate.page.parse import parse

BASE = "https://example.org/a/"
SIGNS = tuple(
    r"""* ** _ __ ` `` ~ ~~ $ $5 5$ # ## + - -- --- = === > < <b> | || \ ! [ ] ( ) [x] [x]: (y)
& &amp; &#35; 1. 2) :-- : “q” 「q」 。 é ½ x¹ ∑ a b c bee snake_case a*b http://x.example""".split()
)
SPACES = ("", " ", " ", "\n", "\xa0")
MARKS = ("b", "i", "s", "code", "sup", "sub", "span", "strong", "em", "kbd")
ADDRESSES = ("/x", "b c", "/a_(b)", "/a)b", "/a(b", "?q=a&b=c&amp;d", "../*x*", "/[x]", "/é|`y`")
IMAGES = ("<img src=/i.png>", "<img srcset='/a,b.png 2x' alt='a [b] *c*'>")
BOXES = ("div", "blockquote", "ul", "ol", "ol start=0", "ol start=7", "dl", "table")
LINES = ("p", "h1", "h3", "h6", "pre", "")
CODE = st.text("ab`~*|<>&\\ \t\n#-", min_size=1, max_size=12)


class Tree:
    """Draws the HTML of an article."""

    def __init__(self, draw: Callable[[st.SearchStrategy], Any]) -> None:
        self._draw = draw

    def _one(self, choices: tuple[str, ...] | list[str]) -> str:
        return self._draw(st.sampled_from(choices))

    def _several(self, make: Callable[[], str], most: int = 3) -> str:
        return "".join(make() for _ in range(self._draw(st.integers(1, most))))

    def _text(self) -> str:
        return escape(self._one(SIGNS) + self._one(SPACES), quote=False)

    def _inline(self, depth: int = 2, *, link: bool = True) -> str:
        kind = self._one(("text", "text", "text", "mark", "link", "image", "br"))
        if kind == "mark" and depth:
            tag = self._one(MARKS)
            return f"<{tag}>{self._several(lambda: self._inline(depth - 1, link=link))}</{tag}>"
        if kind == "link" and depth and link:
            inner = self._several(lambda: self._inline(depth - 1, link=False))
            return f'<a href="{escape(self._one(ADDRESSES))}">{inner}</a>'
        if kind in ("image", "br"):
            return "<br>" if kind == "br" else self._one(IMAGES)
        return self._text()

    def _line(self) -> str:
        tag = self._one(LINES)
        content = (
            escape(self._draw(CODE), quote=False) if tag == "pre" else self._several(self._inline)
        )
        return f"<{tag}>{content}</{tag}>" if tag else content

    def _cell(self) -> str:
        tag, content = self._one(("td", "td", "th")), self._several(self._inline)
        spans = self._one(("", "", " colspan=2", " rowspan=2", " colspan=3 rowspan=0"))
        if self._one(("", "", "", "list")):
            content += f"<ul>{self._several(lambda: f'<li>{self._inline()}</li>')}</ul>"
        return f"<{tag}{spans}>{content}</{tag}>"

    def _part(self, box: str, depth: int) -> str:
        """Draw what may stand in a box."""
        if box == "table":
            return f"<tr>{self._several(self._cell)}</tr>"
        if box in ("div", "blockquote"):
            return self.block(depth)
        if box.startswith(("ul", "ol")) and self._one(("li", "li", "li", "list")) == "list":
            return f"<ul><li>{self._inline()}</li></ul>"
        tag = self._one(("dt", "dd")) if box == "dl" else self._one(("li", "li", "li value=4"))
        return f"<{tag}>{self._several(lambda: self.block(depth))}</{tag.split()[0]}>"

    def block(self, depth: int = 3) -> str:
        """Draw a block, with others in it up to a depth."""
        box = self._one(BOXES) if depth else ""
        if not box or self._one(("line", "box")) == "line":
            return self._line()
        inner = self._several(lambda: self._part(box, depth - 1))
        return f"<{box}>{inner}</{box.split()[0]}>"

    def article(self) -> str:
        """Draw several blocks."""
        return self._several(self.block, 4)


@st.composite
def articles(draw):
    return Tree(draw).article()


@given(articles())
@example("<p><code>a<br><br>b</code></p>")
def test_what_is_read_in_markdown_is_what_the_article_says(source):
    root = parse(f"<html><body><div>{source}</div></body></html>".encode())
    if root is None:
        return
    markdown = write(flow(root[0]), BASE)
    article, found = view(root[0], BASE), view(rendered(markdown), BASE)
    pairs = zip(PROPERTIES, article, found, kept(article, found), strict=True)
    for name, mine, theirs, same in pairs:
        assert same, f"{name}: {mine} is not {theirs} in\n{markdown}"

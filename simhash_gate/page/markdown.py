"""An article's tree -> GitHub-flavoured Markdown, by markdownify.

markdownify renders what it is given, so that a `div` more or a class less shows. Here the tree is
first written anew with the tags that Markdown has a mark for, and no others: what carried the same
content comes out the same.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urljoin

from bs4 import BeautifulSoup, PageElement, Tag
from lxml import etree
from markdownify import ATX, MarkdownConverter

from simhash_gate.page.blocks import blocks, is_layout
from simhash_gate.page.vocabulary import CELLS, HEADINGS, INLINE

if TYPE_CHECKING:
    from collections.abc import Callable

    from lxml.html import HtmlElement

_MARKS = {
    "b": "strong",
    "strong": "strong",
    "i": "em",
    "em": "em",
    "code": "code",
    "kbd": "code",
    "samp": "code",
    "tt": "code",
    "del": "del",
    "s": "del",
    "strike": "del",
    "a": "a",
}
_CONTAINERS = frozenset({"blockquote", "ul", "ol", "li", "dl", "dd", "table", "tr"})
_TABLE = CELLS | {"table", "tr"}
_ONE_LINE = HEADINGS | CELLS | {"dt"}
_LAZY = ("data-src", "data-lazy-src", "data-original", "data-lazy", "data-srcset", "srcset", "src")
_LANGUAGE = re.compile(r"(?:language|lang|hljs|highlight)-([\w+#.-]+)")
_SPACES = re.compile(r"\s+")
_SPECIAL = re.compile(r"([\\`*_\[\]<|]|~~)")
_LINE_START = re.compile(r"^(\d{0,9})(?=(?:#{1,6}|[-+>]|(?<=\d)[.)])(?:\s|$))", re.M)
_BLANK_LINES = re.compile(r"\n{3,}")
_ELEMENTS = 20_000
_NESTING = 30


def render(article: HtmlElement, base: str = "") -> str:
    """Return the Markdown of an article, links and images made absolute against `base`.

    What is too large for markdownify comes out as its paragraphs, without marks.
    """
    if sum(1 for _ in islice(article.iter(), _ELEMENTS + 1)) > _ELEMENTS:
        return "\n\n".join(block.text for block in blocks(article))
    return _tidy(_CONVERTER.convert_soup(_Rewriter(base).rewrite(article)))


def _tidy(text: str) -> str:
    parts = re.split(r"(^(`{3,})[^\n]*\n.*?^\2$)", text, flags=re.M | re.S)
    # split yields: prose, a fenced block, its fence, prose, ...
    kept = [
        _BLANK_LINES.sub("\n\n", part) if i % 3 == 0 else part
        for i, part in enumerate(parts)
        if i % 3 != 2
    ]
    return "".join(kept).strip()


class _Converter(MarkdownConverter):
    """markdownify for soups that `_Rewriter` wrote: white space is in order there already."""

    def process_tag(self, node: Tag, parent_tags: frozenset[str] | None = None) -> str:
        name = node.name
        inside = (parent_tags or frozenset()) | {name}
        if name in _ONE_LINE:
            inside |= {"_inline"}
        elif name in ("code", "pre"):
            inside |= {"_noformat"}
        text = ""
        for child in node.contents:
            part = (
                self.process_tag(child, inside)
                if isinstance(child, Tag)
                else self.process_text(child, inside)
            )
            if part.startswith("\n") and text.endswith("\n"):
                text, part = text.rstrip("\n"), part.lstrip("\n")
                part = "\n\n" + part if part else "\n\n"
            text += part
        convert = cast("Callable[..., str] | None", self.get_conv_fn_cached(name))  # type: ignore[attr-defined]
        return text if convert is None else convert(node, text, parent_tags=parent_tags or set())

    def process_text(self, el: Any, parent_tags: frozenset[str] = frozenset()) -> str:
        return str(el) if "_noformat" in parent_tags else self.escape(str(el), parent_tags)

    def escape(self, text: str, parent_tags: Any) -> str:
        return _LINE_START.sub(r"\1\\", _SPECIAL.sub(r"\\\1", text))

    def convert_li(self, el: Tag, text: str, parent_tags: Any) -> str:
        bullet = f"{el['value']}. " if el.has_attr("value") else "- "
        indent = " " * len(bullet)
        lines = [indent + line if line else "" for line in text.strip().split("\n")]
        return f"{bullet}{lines[0].strip()}\n" + "".join(f"{line}\n" for line in lines[1:])

    def convert_tr(self, el: Tag, text: str, parent_tags: Any) -> str:
        columns = len(el.contents)
        rule = f"| {' | '.join(['---'] * columns)} |\n"
        row = f"|{text}\n"
        if el.parent is None or el.parent.contents[0] is not el:
            return row
        if all(cell.name == "th" for cell in el.contents if isinstance(cell, Tag)):
            return row + rule
        return f"| {' | '.join([''] * columns)} |\n{rule}{row}"

    def convert_list(self, el: Tag, text: str, parent_tags: Any) -> str:
        return f"\n{text.rstrip()}" if "li" in parent_tags else f"\n\n{text.strip()}\n\n"

    convert_ul = convert_list
    convert_ol = convert_list

    def convert_pre(self, el: Tag, text: str, parent_tags: Any) -> str:
        runs = [len(run) for run in re.findall(r"`{3,}", text)]
        fence = "`" * max(3, max(runs, default=2) + 1)
        return f"\n\n{fence}{el.get('lang', '')}\n{text}\n{fence}\n\n"

    def convert_input(self, el: Tag, text: str, parent_tags: Any) -> str:
        return "[x] " if el.has_attr("checked") else "[ ] "


_CONVERTER = _Converter(heading_style=ATX, autolinks=False, bullets="-")


class _Rewriter:
    """Writes an lxml tree anew as the soup of its Markdown."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._soup = BeautifulSoup("", "lxml")
        self._open: list[Tag] = [self._soup]
        self._owners: list[HtmlElement] = []
        self._next: list[int] = []
        self._layouts: list[bool] = []
        self._marks: list[Tag] = []
        self._line: Tag | None = None
        self._spaced = True

    def rewrite(self, article: HtmlElement) -> BeautifulSoup:
        skipped: HtmlElement | None = None
        for event, element in etree.iterwalk(article, events=("start", "end")):
            if skipped is not None and element is not skipped:
                continue
            if event == "start":
                if not self._start(element):
                    skipped = element
            else:
                if skipped is None:
                    self._end(element)
                skipped = None
                if element is not article and element.tail:
                    self._text(element.tail)
        self._end_line()
        return self._soup

    def _start(self, element: HtmlElement) -> bool:
        """Open what the element stands for; False if its content is dealt with."""
        tag = element.tag
        if tag in ("img", "br", "hr", "pre", "input"):
            getattr(self, f"_{tag}")(element)
            return False
        if tag in _MARKS:
            self._mark(element)
        elif tag not in INLINE:
            self._end_line()
            if tag == "table":
                self._layouts.append(is_layout(element))
            if self._is_block(tag):
                self._open_block(element)
        if element.text:
            self._text(element.text)
        return True

    def _end(self, element: HtmlElement) -> None:
        tag = element.tag
        if tag in _MARKS:
            if self._marks and self._marks[-1].name == _MARKS[tag]:
                self._marks.pop()
        elif tag not in INLINE:
            self._end_line()
            if self._owners and self._owners[-1] is element:
                self._close_block()
            if tag == "table":
                self._layouts.pop()

    def _is_block(self, tag: str) -> bool:
        if self._open[-1].name in _ONE_LINE or len(self._open) > _NESTING:
            return False
        if tag in _TABLE:
            return self._layouts[-1:] == [False]
        return tag in _CONTAINERS or tag in _ONE_LINE

    def _open_block(self, element: HtmlElement) -> None:
        block = self._soup.new_tag(element.tag)
        outer = self._open[-1]
        if element.tag == "ol":
            start = element.get("start") or ""
            self._next.append(int(start) if start.isdecimal() and len(start) < 10 else 1)
        elif element.tag == "li" and outer.name == "ol":
            block["value"] = str(self._next[-1])
            self._next[-1] += 1
        outer.append(block)
        self._open.append(block)
        self._owners.append(element)

    def _close_block(self) -> None:
        block = self._open.pop()
        self._owners.pop()
        if block.name == "ol":
            self._next.pop()
        if not block.contents and block.name not in CELLS:
            block.decompose()
        elif block.name == "li" and isinstance(block.contents[0], Tag):
            # `- text` and not `- <paragraph>`: a list is loose only where it has real paragraphs.
            first = block.contents[0]
            if first.name == "p" and not any(_is_p(e) for e in block.contents[1:]):
                first.unwrap()

    def _inline(self) -> Tag:
        """Where text goes now: the innermost mark, in a paragraph if there is no line yet."""
        if self._line is None:
            block = self._open[-1]
            if block.name in _ONE_LINE:
                self._line = block
            else:
                self._line = self._soup.new_tag("p")
                block.append(self._line)
            self._marks = []
            self._spaced = True
        return self._marks[-1] if self._marks else self._line

    def _end_line(self) -> None:
        line, self._line = self._line, None
        self._marks = []
        if line is None:
            return
        if line.name in _ONE_LINE:
            line.append(" ")
            self._spaced = True
        elif not line.contents:
            line.decompose()

    def _text(self, text: str) -> None:
        text = _SPACES.sub(" ", text)
        if (self._spaced or self._line is None) and text.startswith(" "):
            text = text[1:]
        if text:
            self._inline().append(text)
            self._spaced = text.endswith(" ")

    def _mark(self, element: HtmlElement) -> None:
        name = _MARKS[element.tag]
        attributes: dict[str, Any] = {}
        if name == "a":
            href = self._url(element.get("href"))
            if href is None:
                return
            attributes["href"] = href
        outer = self._inline()
        if any(mark.name == name for mark in self._marks):
            return
        mark = self._soup.new_tag(name, attrs=attributes)
        outer.append(mark)
        self._marks.append(mark)

    def _url(self, url: str | None) -> str | None:
        if not url or url.lstrip().lower().startswith(("javascript:", "data:")):
            return None
        try:
            return urljoin(self._base, url.strip()).replace(" ", "%20")
        except ValueError:
            return None

    def _img(self, element: HtmlElement) -> None:
        for name in _LAZY:
            source = (element.get(name) or "").strip()
            if name.endswith("srcset"):
                source = source.split(",")[0].split(" ")[0]
            url = self._url(source)
            if url is not None:
                alt = " ".join((element.get("alt") or "").split())
                self._inline().append(self._soup.new_tag("img", attrs={"src": url, "alt": alt}))
                self._spaced = False
                return

    def _br(self, _: HtmlElement) -> None:
        if self._line is not None:
            self._inline().append(self._soup.new_tag("br"))
            self._spaced = True

    def _hr(self, _: HtmlElement) -> None:
        self._end_line()
        if self._open[-1].name not in _ONE_LINE:
            self._open[-1].append(self._soup.new_tag("hr"))

    def _input(self, element: HtmlElement) -> None:
        if element.get("type") == "checkbox":
            attributes = {"checked": ""} if element.get("checked") is not None else {}
            self._inline().append(self._soup.new_tag("input", attrs=attributes))

    def _pre(self, element: HtmlElement) -> None:
        text = _code(element)
        self._end_line()
        if self._open[-1].name in _ONE_LINE:
            self._text(text)
            self._end_line()
            return
        if text.strip():
            pre = self._soup.new_tag("pre", attrs={"lang": _language(element)})
            pre.append(text.strip("\n").rstrip())
            self._open[-1].append(pre)


def _code(pre: HtmlElement) -> str:
    """Return the text of a `pre`, where every block within it begins and ends a line."""
    text = ""
    for event, element in etree.iterwalk(pre, events=("start", "end")):
        if element.tag == "br":
            text += "\n" if event == "start" else ""
        elif element is not pre and element.tag not in INLINE and text and text[-1] != "\n":
            text += "\n"
        if event == "start":
            text += element.text or ""
        elif element is not pre:
            text += element.tail or ""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _language(pre: HtmlElement) -> str:
    near = [pre, *pre.iter("code"), *list(pre.iterancestors())[:2]]
    for element in near:
        found = _LANGUAGE.search(element.get("class") or "")
        if found:
            return found[1]
    return ""


def _is_p(node: PageElement) -> bool:
    return isinstance(node, Tag) and node.name == "p"

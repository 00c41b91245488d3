"""A flow -> the soup of its Markdown: the tags that markdownify has a mark for, and no others.

What carried the same content comes out the same, whatever tags, classes or white space carried it.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from bs4 import Tag

from simhash_gate.page.address import Base, is_address
from simhash_gate.page.flow import MARKS, Start
from simhash_gate.page.vocabulary import CELLS, HEADINGS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simhash_gate.page.flow import End, Flow, Token

ONE_LINE = HEADINGS | CELLS | {"dt"}
"""Tags whose content Markdown writes on one line."""

_CONTAINERS = frozenset({"blockquote", "ul", "ol", "li", "dl", "dd", "table", "tr"})
_TABLE = CELLS | {"table", "tr"}
_NESTING = 30


class Node(Tag):
    """A tag of BeautifulSoup that knows its parent and its contents, and not its neighbours.

    Its own constructor asks a builder how HTML treats each tag, and keeps five links between
    neighbours in order; the Markdown of the few tags here needs neither.
    """

    namespace = prefix = parser_class = None
    can_be_empty_element = hidden = False
    cdata_list_attributes = preserve_whitespace_tags = interesting_string_types = None

    parent: Node | None = None
    attrs: Any = MappingProxyType({})  # of most nodes

    def __init__(self, name: str, **attributes: str) -> None:
        self.name = name
        self.contents: list[Any] = []
        if attributes:
            self.attrs = attributes

    def add(self, node: Node) -> Node:
        """Put a tag behind the contents, and return it."""
        node.parent = self
        self.contents.append(node)
        return node


def soup(flow: Flow, base: str = "") -> Node:
    """Write a flow as a soup, links and images made absolute against `base`."""
    return _Writer(base).write(flow)


class _Writer:
    def __init__(self, base: str) -> None:
        self._base = Base(base)
        self._open: list[Node] = [Node("[document]")]
        self._opened: list[bool] = []  # for every element around: whether it is in `_open`
        self._next: list[int] = []
        self._layouts: list[bool] = []
        self._marks: list[Node] = []
        self._line: Node | None = None
        self._spaced = True

    def write(self, flow: Flow) -> Node:
        tokens = iter(flow.tokens)
        for token in tokens:
            if isinstance(token, str):
                self._text(token)
            elif not token.tag:  # a `BREAK`, be it another after pickling
                self._end_line()
            elif isinstance(token, Start):
                if token.tag in MARKS:
                    self._start_mark(token)
                elif token.tag == "pre":
                    self._pre(str(token.value), _code(tokens))
                else:
                    self._start(token)
            elif token.tag in MARKS:
                if self._marks and self._marks[-1].name == MARKS[token.tag]:
                    self._marks.pop()
            else:
                self._end(token)
        self._end_line()
        return self._open[0]

    def _start(self, token: Start) -> None:
        tag = token.tag
        if tag in ("img", "br", "hr", "input"):
            getattr(self, f"_{tag}")(token.value)
            return
        self._end_line()
        if tag == "table":
            self._layouts.append(bool(token.value))
        self._opened.append(self._is_block(tag))
        if self._opened[-1]:
            self._open_block(token)

    def _end(self, token: End) -> None:
        self._end_line()
        if self._opened.pop():
            self._close_block()
        if token.tag == "table":
            self._layouts.pop()

    def _is_block(self, tag: str) -> bool:
        if self._open[-1].name in ONE_LINE or len(self._open) > _NESTING:
            return False
        if tag in _TABLE:
            return self._layouts[-1:] == [False]
        return tag in _CONTAINERS or tag in ONE_LINE

    def _open_block(self, token: Start) -> None:
        outer = self._open[-1]
        block = outer.add(Node(token.tag))
        if token.tag == "ol":
            start = str(token.value)
            self._next.append(int(start) if start.isdecimal() and len(start) < 10 else 1)
        elif token.tag == "li" and outer.name == "ol":
            block.attrs = {"value": str(self._next[-1])}
            self._next[-1] += 1
        self._open.append(block)

    def _close_block(self) -> None:
        block = self._open.pop()
        contents = block.contents
        if block.name == "ol":
            self._next.pop()
        if not contents and block.name not in CELLS:
            self._open[-1].contents.pop()
        elif block.name == "li" and _is_p(contents[0]) and not any(map(_is_p, contents[1:])):
            # `- text` and not `- <paragraph>`: a list is loose only where it has real paragraphs.
            first = contents.pop(0)
            for child in first.contents:
                if isinstance(child, Node):
                    child.parent = block
            contents[:0] = first.contents

    def _inline(self) -> Node:
        """Where text goes now: the innermost mark, in a paragraph if there is no line yet."""
        if self._line is None:
            block = self._open[-1]
            self._line = block if block.name in ONE_LINE else block.add(Node("p"))
            self._marks = []
            self._spaced = True
        return self._marks[-1] if self._marks else self._line

    def _end_line(self) -> None:
        line, self._line = self._line, None
        self._marks = []
        if line is None:
            return
        if line.name in ONE_LINE:
            line.contents.append(" ")
            self._spaced = True
        elif not line.contents:
            self._open[-1].contents.pop()

    def _text(self, text: str) -> None:
        words = " ".join(text.split())
        if words == text:  # most of the time
            self._inline().contents.append(text)
            self._spaced = False
            return
        if text[0].isspace() and not (self._spaced or self._line is None):
            words = " " + words
        if text[-1].isspace() and words not in ("", " "):
            words += " "
        if words:
            self._inline().contents.append(words)
            self._spaced = words.endswith(" ")

    def _start_mark(self, token: Start) -> None:
        name = MARKS[token.tag]
        if name == "a" and not is_address(token.value):
            return
        outer = self._inline()
        if name not in [around.name for around in self._marks]:
            mark = outer.add(Node(name))
            if name == "a":
                mark.attrs = {"href": self._join(str(token.value))}
            self._marks.append(mark)

    def _join(self, address: str) -> str:
        return self._base.join(address.strip()).replace(" ", "%20")

    def _img(self, value: Any) -> None:
        alt, sources = value
        source = next(filter(is_address, sources), None)
        if source is not None:
            image = Node("img", src=self._join(source), alt=" ".join(alt.split()))
            self._inline().add(image)
            self._spaced = False

    def _br(self, _: object) -> None:
        if self._line is not None:
            self._inline().add(Node("br"))
            self._spaced = True

    def _hr(self, _: object) -> None:
        self._end_line()
        if self._open[-1].name not in ONE_LINE:
            self._open[-1].add(Node("hr"))

    def _input(self, checked: object) -> None:
        if checked is not None:
            self._inline().add(Node("input", **({"checked": ""} if checked else {})))

    def _pre(self, language: str, text: str) -> None:
        self._end_line()
        if self._open[-1].name in ONE_LINE:
            if text:
                self._text(text)
            self._end_line()
        elif text.strip():
            pre = self._open[-1].add(Node("pre", lang=language))
            pre.contents.append(text.strip("\n").rstrip())


def _code(tokens: Iterator[Token]) -> str:
    """Take the tokens of a `pre`, and return its text; blocks within begin and end a line."""
    parts: list[str] = []
    nested = 0
    for token in tokens:
        if isinstance(token, str):
            parts.append(token)
        elif token.tag == "br":
            parts.append("\n")
        elif token.tag not in MARKS and token.tag != "img":
            if token.tag == "pre":
                nested += 1 if isinstance(token, Start) else -1
                if nested < 0:
                    break
            if parts and not parts[-1].endswith("\n"):
                parts.append("\n")
    return "".join(parts).replace("\r\n", "\n").replace("\r", "\n")


def _is_p(node: object) -> bool:
    return isinstance(node, Node) and node.name == "p"

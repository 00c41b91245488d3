"""What stands within a line -> Markdown, and what markdownify makes of each tag."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any
from unicodedata import category

from markdownify import ATX, MarkdownConverter

from simhash_gate.page.flow import MARKS
from simhash_gate.page.vocabulary import CELLS, HEADINGS, LISTS

ONE_LINE = HEADINGS | CELLS
"""Tags whose content Markdown writes on one line."""

BLOCKS = LISTS | ONE_LINE | {"blockquote", "li", "dt", "dd", "table", "tr"}
"""Tags of blocks that have a mark; for a term and what defines it, that of an item."""

_MAY_BE_SPECIAL = re.compile(r"[\\`*_\[\]<|~$&]")  # most texts have none: this takes a tenth
_SPECIAL = re.compile(r"[\\`*_\[\]<|]|(?<!\s)~|~(?= ?\Z)|(?<!\s)\$(?!\d)|&(?=#?\w+;)")
_MAY_START_LINE = frozenset("0123456789#+->=:")
_LINE_START = re.compile(
    r"^(\d{0,9})(?=(?:#{1,6}|[-+]|(?<=\d)[.)])(?:\s|$)|>|:?[-=][-=\s:]*$)", re.M
)
_RISKY = re.compile(r"[\x00-\x20\x7f<>`|()\\]|&#?\w+;")
_NOT_IN_LINKS = re.compile(r"[\x00-\x20\x7f<>`|]")
_LAST_HASHES = re.compile(r"(?<!\S)(#+)$")
_PAIRS = re.compile(r"(?:[^()]|\([^()]*\))*")
_TICKS = re.compile("`+")


class Part:
    """A tag of Markdown that is open, or complete: its contents are texts and parts.

    These are no nodes of BeautifulSoup: such ones are slow to ask for anything.
    """

    __slots__ = ("attributes", "contents", "markdown", "tag")

    def __init__(self, tag: str, contents: Iterable[Any] = (), **attributes: Any) -> None:
        self.tag = tag
        self.attributes = attributes
        self.contents = [*contents]
        self.markdown = ""


_CONVERTER = MarkdownConverter(
    heading_style=ATX, autolinks=False, bullets="-", sup_symbol="<sup>", sub_symbol="<sub>"
)
_NOTHING: frozenset[str] = frozenset()  # what markdownify is told of the tags around one
_FUNCTIONS: dict[str, Callable[..., str]] = {
    tag: _CONVERTER.get_conv_fn(tag)  # type: ignore[attr-defined]
    for tag in {"li", "blockquote", "img", *ONE_LINE, *MARKS.values()} - {"math"}
}


class _Tag(dict[str, Any]):
    """As much of a tag as markdownify asks for: one of BeautifulSoup takes longer to make.

    A numbered item is the first one of a list of its own, which has its `start`.
    """

    name = "ol"

    @property
    def attrs(self) -> dict[str, Any]:
        return self

    @property
    def parent(self) -> _Tag | None:
        return self if "start" in self else None

    def find_previous_siblings(self, _: str) -> list[_Tag]:
        return []


def convert(name: str, attributes: dict[str, Any], text: str) -> str:
    """Return the Markdown of a tag by that of its contents; the `start` of an item numbers it."""
    return _FUNCTIONS[name](_Tag(attributes), text, _NOTHING)


def fenced(text: str, language: str) -> str:
    """Return code between two fences that are longer than any in it."""
    fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


def heading(tag: str, contents: Sequence[Any]) -> str:
    """Return a heading on one line, "" if it says nothing."""
    text = _LAST_HASHES.sub(r"\\\1", inline(contents, " ").strip())
    return convert(tag, {}, text).strip() if text else ""


def paragraph(contents: Sequence[Any]) -> str:
    """Return a paragraph: no line of it begins as a list, a heading or a rule does."""
    text = inline(contents, "  \n").strip()
    may_start = "\n" in text or text[:1] in _MAY_START_LINE
    return _LINE_START.sub(r"\1\\", text) if may_start else text


def inline(
    contents: Sequence[Any], line_break: str, *, cell: bool = False, nested: bool = False
) -> str:
    """Return the Markdown of texts and parts within a line, in a `cell` of a table or elsewhere.

    `nested` tells that a mark is around them: then one that might end it is none.
    """
    if len(contents) == 1 and isinstance(contents[0], str):  # as most are
        return _escape(contents[0])
    pieces: list[tuple[str, str]] = []  # a mark that must fit its neighbours, and what is in it
    for kind, group in groupby(contents, type):
        if kind is str:
            pieces.append(("", _escape("".join(group))))
        else:
            for part in group:
                pieces += _pieces(part, line_break, cell)
    line, before = [], ""
    for (mark, text), (next_mark, following) in pairwise([*pieces, ("", "")]):
        written = text
        after = next_mark[:1] or following[:1]
        if mark:
            written = _fitted(mark, text, before, after, nested=nested)
        elif text[-1:] == "!" and after == "[":
            written = f"{text[:-1]}\\!"
        line.append(written)
        before = written[-1:] or before
    return "".join(line)


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text) if _MAY_BE_SPECIAL.search(text) else text


def _pieces(part: Part, line_break: str, cell: bool) -> Iterator[tuple[str, str]]:
    tag, contents, attributes = part.tag, part.contents, part.attributes
    if tag == "code" and any(isinstance(each, Part) for each in contents):
        for inner in _outside_of_code(contents):
            yield from _pieces(inner, line_break, cell)
        return
    if tag in ("code", "math"):
        text = "".join(contents)
        text = text.replace("|", r"\|") if cell else text
    else:
        text = inline(contents, line_break, cell=cell, nested=tag in _EDGES)
    if tag in ("br", "html"):
        yield "", attributes.get("source", line_break)
    elif tag == "img":
        yield "", convert(tag, {"src": _target(part), "alt": _escape(attributes["alt"])}, "")
    elif not text.strip():  # white space alone has no marks
        yield "", text
    elif tag == "math":
        mark = "$$" if attributes["display"] else "$"
        yield "", f"{mark}{text.strip()}{mark}"
    elif tag in _EDGES:
        yield _EDGES[tag], text
    else:
        yield "", convert(tag, {"href": _target(part)} if tag == "a" else {}, text)


def _outside_of_code(contents: Sequence[Any]) -> Iterator[Part]:
    """Yield parts of code: a link or an image is not in code, but code in a link."""
    for kind, group in groupby(contents, type):
        for inner in [Part("code", group)] if kind is str else group:
            if inner.tag == "a":
                inner.contents = [Part("code", inner.contents)]
            yield inner


_EDGES = {"strong": "**", "em": "*", "del": "~~"}
_HTML = {mark: tag for tag, mark in _EDGES.items()}


def _fitted(mark: str, text: str, before: str, after: str, *, nested: bool) -> str:
    """Put a mark around a text, or HTML where the mark would be none, as in `a**"b"**`."""
    inner = text.strip()
    start, end = text[: text.index(inner)], text[text.index(inner) + len(inner) :]
    before, after = start[-1:] or before, end[:1] or after
    fits = _fits(before, inner[0], nested=nested) and _fits(after, inner[-1], nested=nested)
    if fits and mark[0] not in (before, after):
        return convert(_HTML[mark], {}, text)
    return f"{start}<{_HTML[mark]}>{inner}</{_HTML[mark]}>{end}"


def _fits(outside: str, inside: str, *, nested: bool) -> bool:
    """Tell if a mark between two characters begins or ends one, and does not do the other too."""
    if not outside or outside.isspace():
        return True
    is_sign, holds_sign = (category(char)[0] in "PS" for char in (outside, inside))
    return is_sign and not holds_sign if nested else is_sign or not holds_sign


def _target(part: Part) -> str:
    """Return where a link or an image leads, so that nothing in it ends it."""
    address = str(part.attributes["target"])
    if _RISKY.search(address) is None:
        return address
    address = _NOT_IN_LINKS.sub(lambda found: f"%{ord(found[0]):02X}", address)
    address = address.replace("\\", "\\\\").replace("&", "\\&")
    return address if _PAIRS.fullmatch(address) else re.sub("[()]", r"\\\g<0>", address)

"""All that one walk over what a page shows can tell: its lines, its sizes, how its tags are nested.

To walk over a tree takes a fifth of what it takes to parse it; so this is done once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from itertools import chain, product, takewhile
from operator import itemgetter
from typing import NamedTuple

import mmh3
from lxml.html import HtmlElement

from simhash_gate.page.flow import KINDS, MARKS, is_layout
from simhash_gate.page.measure import Measures
from simhash_gate.page.parse import printable
from simhash_gate.page.structured import values
from simhash_gate.page.vocabulary import CELLS, HEADINGS, INLINE

Tree = dict[str, "Tree"]  # the tags of all children, each once

# Marks within a line are left out: they come and go with every edit of a text.
_BOXES = HEADINGS | CELLS | {"ul", "ol", "li", "dl", "dt", "dd", "table", "tbody", "tr", "p", "hr"}
_BOXES |= {"html", "body", "div", "section", "article", "main", "header", "footer", "nav", "aside"}
_BOXES |= {"form", "fieldset", "details", "thead", "tfoot", "pre", "blockquote", "figure"}
_IN_LINES = INLINE | MARKS.keys() | {"img"}
_LINKS = frozenset({"a", "area"})
_CODE = frozenset({"pre", "code", "samp", "textarea"})
_ENDLESS = _IN_LINES | {"br", "hr", "input"}
END_OF_LINE = "\0"
"""What stands for the end of a line in texts of a tree: no tree can hold it."""
# Around what leads on or asks for something, in the texts of a tree: a text may lose but these.
_LEADS_ON = frozenset({"a", "nav", "footer", "form"})
_START, _END = "\ufdd0", "\ufdd1"
_MARKS = re.compile(f"([{_START}{_END}])")
RAISED = "\ufdd2"
"""What stands in texts of a tree before what is raised or lowered."""
_NO_WIDTH = "\u00ad\u200b\u2060\ufeff"
# A space without a width parts words in scripts of South-East Asia.
UNSEEN = re.compile(f"[{_NO_WIDTH}](?<![\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]\u200b)")
_BEGINS = dict.fromkeys(_LEADS_ON, _START) | dict.fromkeys(("sup", "sub"), RAISED)
_BESIDE = re.compile(rf"(\d[{_START}{_END}]*){RAISED}(?=[{_START}{_END}]*[-+\u2212]?\d)")
_AROUND = 3  # boxes that say where a line stands


class Survey(NamedTuple):
    """What a tree shows.

    `lines` are the texts of the blocks of its body's flow, and `said` tells of each if most of it
    is no link, and in no menu, footer or form. `measures` are the sizes of all its elements.
    `tags` are how its tags are nested, each once in the same place, and `hrefs` the addresses that
    it links to. `holders` are the elements that the lines begin in.
    """

    lines: list[str]
    said: list[bool]
    measures: Measures
    tags: Tree
    hrefs: set[str]
    holders: list[HtmlElement]

    def places(self) -> list[int]:
        """Return where each line stands: 16 bits of the boxes around it, their tags and classes."""
        known: dict[HtmlElement | None, str] = {None: ""}
        found: dict[HtmlElement, int] = {}
        for holder in self.holders:
            if holder not in found:
                names, element = [], holder
                for _ in range(_AROUND):
                    if element not in known:
                        classes = (element.get("class") or "").split()[:1]
                        known[element] = " ".join((element.tag, *classes))
                    names.append(known[element])
                    element = None if element is None else element.getparent()
                found[holder] = mmh3.hash("/".join(names), signed=False) & 0xFFFF
        return [found[holder] for holder in self.holders]

    def after(self, line: str) -> list[str]:
        """Return the lines that follow the first of some text, as far as no link is between."""
        start = self.lines.index(line) + 1 if line in self.lines else len(self.lines)
        said = takewhile(itemgetter(1), zip(self.lines[start:], self.said[start:], strict=True))
        return [line for line, _ in said]


def survey(root: HtmlElement) -> Survey:  # noqa: C901, PLR0912, PLR0915
    """Walk over a tree, or an element of one."""
    measures = Measures()
    sizes, links = measures.text, measures.links
    tags: Tree = {}
    hrefs = set()
    texts = [END_OF_LINE]  # of the tree, and between them, where a line ends; a head has none
    holders: list[HtmlElement] = []
    add = texts.append
    end_of_line = END_OF_LINE
    owner: HtmlElement | None = None  # a line of Markdown, or code
    layouts = [True]  # of the tables that are open
    stack: list[tuple[HtmlElement, str, int, int, Tree]] = []  # what is open, and what was before
    size, linked, place = 0, 0, tags
    text: str | None = None  # before the next start or end
    is_new = True  # a line
    # What is done here is done for every element: calls would take as long as the rest, and
    # `iterwalk` twice as long as `iter`.
    for element in chain(root.iter("*"), (None,)):
        holder = None if element is None else element.getparent()
        while True:
            if text:
                if not text.isspace():
                    add(text)
                    if is_new:
                        is_new = False
                        holders.append(stack[-1][0])
                    size += len("".join(text.split()))
                elif texts[-1] is not END_OF_LINE:
                    add(text)
            if not stack or stack[-1][0] is holder:
                break
            ended, tag, before, links_before, place = stack.pop()
            if tag not in _ENDLESS:
                if ended is owner:
                    owner, end_of_line = None, END_OF_LINE
                elif tag == "table":
                    layouts.pop()
                if texts[-1] is not END_OF_LINE:
                    add(end_of_line)
                    is_new = is_new or end_of_line is END_OF_LINE
            if tag in _LEADS_ON:
                add(_END)
                if tag == "a":
                    linked = links_before + size - before
            sizes[ended] = size - before
            if linked != links_before:
                links[ended] = linked - links_before
            text = ended.tail if stack else None
        if element is None:
            break
        tag = element.tag
        stack.append((element, tag, size, linked, place))
        if tag not in _IN_LINES:
            if texts[-1] is not END_OF_LINE:
                add(end_of_line)
                is_new = is_new or end_of_line is END_OF_LINE
            if tag in _BOXES:
                place = place.setdefault(tag, {})
                if owner is None and tag in KINDS and not (tag in CELLS and layouts[-1]):
                    owner, end_of_line = element, " "
                elif tag == "table":
                    layouts.append(is_layout(element))
                elif tag == "body":
                    texts[:] = [END_OF_LINE]
                    holders.clear()
                    is_new = True
        if tag in _BEGINS:
            add(_BEGINS[tag])
        if tag in _LINKS:
            hrefs.add(element.get("href"))
        text = element.text
    hrefs.discard(None)
    lines, said = _lines(raised("".join(texts)).split(END_OF_LINE))
    return Survey(single_spaced(lines), said, measures, tags, hrefs, holders)


def _lines(texts: Iterable[str]) -> tuple[list[str], list[bool]]:
    """Return the lines of texts without their marks, and of each if most of it leads nowhere."""
    lines, said = [], []
    depth = 0
    for line in filter(None, map(str.strip, texts)):
        text, outside = line, 0 if depth else len(line)
        marks = line.count(_START), line.count(_END)
        if marks == (1, 1) and line[0] == _START and line[-1] == _END:  # as in menus
            text, outside = line[1:-1].strip(), 0
        elif any(marks):
            parts, outside = [], 0
            for part in _MARKS.split(line):
                if part in (_START, _END):
                    depth += 1 if part == _START else -1
                else:
                    parts.append(part)
                    outside += 0 if depth > 0 else len(part.strip())
            text = "".join(parts).strip()
        if text:
            lines.append(text)
            said.append(2 * outside > len(text))
    return lines, said


def boxes_of_data(shown: Survey) -> list[HtmlElement]:
    """Return the boxes that say nothing but JSON, which scripts read; code is for readers.

    for: shops that keep the variants of a product in a hidden box.
    """
    lines = zip(shown.holders, shown.lines, strict=True)
    return list(filter(_is_data, dict.fromkeys(box for box, line in lines if line[0] in "{[")))


def _is_data(box: HtmlElement) -> bool:
    try:
        data = json.loads("".join(box.itertext()), strict=False)
    except (ValueError, RecursionError):
        return False
    is_code = any(element.tag in _CODE for element in (box, *box.iterancestors()))
    return not is_code and any(isinstance(it, dict) and it for it in values(data))


def lines_of(root: HtmlElement) -> list[str]:
    """Return the texts of the blocks of an element's flow."""
    return survey(root).lines


def drop_unseen(root: HtmlElement, lines: Iterable[str]) -> bool:
    """Take out of words what only says where a line may end; tell if anything of the kind is there.

    for: German pages with soft hyphens.
    """
    text = "".join(lines)
    found = any(map(text.__contains__, _NO_WIDTH))
    for element, part in product(root.iter("*"), ("text", "tail")) if found else ():
        if (text := getattr(element, part) or "") != (seen := UNSEEN.sub("", text)):
            setattr(element, part, printable(seen))
    return found


def raised(text: str) -> str:
    """Return a text in which `^` parts a number from one that is raised: 10^6 is not 106."""
    return _BESIDE.sub(r"\1^", text).replace(RAISED, "") if RAISED in text else text


def single_spaced(texts: Iterable[str]) -> list[str]:
    """Return stripped texts with their white space collapsed."""
    # Of white space, only the blank is printable; most lines of prose are as they shall be.
    return [
        text if "  " not in text and text.isprintable() else " ".join(text.split())
        for text in texts
    ]

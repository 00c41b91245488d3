"""What programs make of a formula -> one element: `math` with its TeX, or what it shows, once.

MathJax and KaTeX write a formula for eyes, for screen readers and as TeX, one beside the other.
"""

from __future__ import annotations

import re

from lxml.html import HtmlElement

from simhash_gate.page.elements import Elements
from simhash_gate.page.measure import size_of
from simhash_gate.page.vocabulary import FLOW, HEADINGS, INLINE

_NAME = re.compile(r"(?:^|[\s_-])(?:katex|mathjax|mjx|math|latex|tex)(?:$|[\s_-])", re.I)
_DISPLAY = re.compile("display|block", re.I)
_STYLE = re.compile(r"\A\{ ?\\(?:display|text)style (.*)\}\Z")
_START = 2_000  # characters of a script
_WITHIN = r"((?:(?!\\[()\[\]]).){1,2000})"
_SOURCE = re.compile(rf"\\\({_WITHIN}\\\)|\\\[{_WITHIN}\\\]|\$\$([^$]{{1,2000}})\$\$", re.S)
_VERBATIM = frozenset({"code", "pre", "script", "style", "textarea", "title"})
_IN_LINE = INLINE | {"div"}
_COPIES = 5  # of a formula in its box, and characters: what says more is no formula
_RAISED = {"msup": ("sup",), "msub": ("sub",), "msubsup": ("sub", "sup")}


def show_formulas(root: HtmlElement, elements: Elements) -> None:
    """Put one element in the place of each formula of a page: `math` if its TeX is known.

    for: pages with MathJax, KaTeX or MathML, which say a formula up to three times.
    """
    by_tag = elements.by_tag
    if any(map(_draws_formulas, by_tag["script"])):
        for element in list(root.iter("*")):
            _show_source(element)
    for math in by_tag["math"]:
        box = math
        most = _COPIES * max(size_of(math), _COPIES)
        for ancestor in math.iterancestors():
            in_line = "-" in ancestor.tag or ancestor.tag in _IN_LINE
            if not in_line or size_of(ancestor) > most:
                break
            box = ancestor if _is_formula(ancestor) else box
        _show(math, box)


def _draws_formulas(script: HtmlElement) -> bool:
    said = f"{script.get('src')} {script.text}"[:_START].lower()
    return "mathjax" in said or "katex" in said


def _show_source(element: HtmlElement) -> None:
    """Show formulas in the texts of an element and after it, which a script would draw."""
    holder = element.getparent()
    if element.tag not in _VERBATIM and _SOURCE.search(element.text or ""):
        element[:0] = _split(element, "text")
    if holder is not None and holder.tag not in _VERBATIM and _SOURCE.search(element.tail or ""):
        place = holder.index(element) + 1
        holder[place:place] = _split(element, "tail")


def _split(element: HtmlElement, attribute: str) -> list[HtmlElement]:
    """Leave in a text what is before its formulas; return these, each with the text after it."""
    text, *parts = _SOURCE.split(getattr(element, attribute))
    setattr(element, attribute, text)
    found = []
    for inline, bracketed, dollars, tail in zip(*(iter(parts),) * 4, strict=True):
        math = element.makeelement("math")
        _put(math, inline or bracketed or dollars, display=not inline)
        math.tail = tail
        found.append(math)
    return found


def _is_formula(box: HtmlElement) -> bool:
    """Tell if a box is called a formula, and holds no more than one."""
    if _NAME.search(f"{box.tag} {box.get('class', '')}") is None:
        return False
    return sum(1 for _ in box.iter("math")) < 2 and next(box.iter(*FLOW, *HEADINGS), None) is None


def _show(math: HtmlElement, box: HtmlElement) -> None:
    """Let a box be the formula that it holds, whatever else says it there."""
    annotations = (e for e in math.iter("annotation") if "tex" in e.get("encoding", ""))
    tex = math.get("alttext") or next((e.text for e in annotations if e.text), "")
    if tex:
        names = (f"{e.get('display', '')} {e.get('class', '')}" for e in box.iter("*"))
        _put(box, tex, display=any(map(_DISPLAY.search, names)) or box.get("display") == "true")
        return
    for element in math.iter("*"):
        for child, tag in zip(element[1:], _RAISED.get(element.tag, ()), strict=False):
            child.tag = tag
        if element.tag == "mfrac" and len(element):
            element[0].tail = "/"
        if element.tag not in ("sup", "sub"):
            element.tag = "span"
    text, inner = math.text, list(math)
    box.clear(keep_tail=True)
    box.tag, box.text = "span", text
    box.extend(inner)


def _put(box: HtmlElement, tex: str, *, display: bool) -> None:
    tex = " ".join(tex.split())
    box.clear(keep_tail=True)
    box.tag, box.text = "math", _STYLE.sub(r"\1", tex)
    if display:
        box.set("display", "block")

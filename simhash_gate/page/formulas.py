"""What programs make of a formula -> one element: `math` with its TeX, or what it shows, once.

MathJax and KaTeX write a formula for eyes, for screen readers and as TeX, one beside the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from lxml.html import HtmlElement

from simhash_gate.page.elements import TEX, Elements
from simhash_gate.page.measure import size_of
from simhash_gate.page.vocabulary import FLOW, HEADINGS, INLINE

_NAME = re.compile(r"(?:^|[\s_-])(?:katex|mathjax|mjx|math|latex|tex)(?:$|[\s_-])", re.I)
_DISPLAY = re.compile("display|block", re.I)
_STYLE = re.compile(r"\A\{ ?\\(?:display|text)style (.*)\}\Z")
_LOOKS_LIKE_TEX = re.compile(r"[\\^_={]")
_GLYPH = re.compile(r"\bmjx-c([0-9A-F]{2,5})\b")
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
    scripts = by_tag["script"]
    done = _show_scripts(scripts)
    if any(map(_draws_formulas, scripts)):
        for element in list(root.iter("*")):
            _show_source(element)
    pictures = (image for image in by_tag["img"] if _picture_of_formula(image))
    for element in chain(by_tag["math"], by_tag["mjx-container"], elements.formulas, pictures):
        around = list(element.iterancestors())
        if done.isdisjoint((element, *around)):
            box = element
            most = _COPIES * max(size_of(element), _COPIES)
            for ancestor in around:
                in_line = "-" in ancestor.tag or ancestor.tag in _IN_LINE
                if not in_line or size_of(ancestor) > most:
                    break
                box = ancestor if _is_formula(ancestor) else box
            done.add(box)
            _show(box)


def _draws_formulas(script: HtmlElement) -> bool:
    said = f"{script.get('src')} {script.text}"[:_START].lower()
    return "mathjax" in said or "katex" in said


def _show_scripts(scripts: Iterable[HtmlElement]) -> set[HtmlElement]:
    """Show the formulas that MathJax 2 drew; return what it drew, which is taken out."""
    drawn: set[HtmlElement] = set()
    for script in scripts:
        if script.get("type", "").startswith("math/tex"):
            for other in script.itersiblings(preceding=True):
                if not other.get("class", "").startswith("MathJax") or (other.tail or "").strip():
                    break
                drawn.add(other)
            _put(script, script.text or "", display="display" in script.get("type", ""))
    for other in drawn:
        other.drop_tree()
    return drawn


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


def _picture_of_formula(image: HtmlElement) -> bool:
    known = _NAME.search(image.get("class", "")) is not None
    return known and _LOOKS_LIKE_TEX.search(image.get("alt", "")) is not None


def _show(box: HtmlElement) -> None:
    tex = next(filter(str.strip, _sources(box)), "")
    if tex:
        names = (f"{e.get('display', '')} {e.get('class', '')}" for e in box.iter("*"))
        _put(box, tex, display=any(map(_DISPLAY.search, names)) or box.get("display") == "true")
        return
    math = next(filter(size_of, box.iter("math")), box)
    classes = "" if size_of(math) else " ".join(e.get("class", "") for e in box.iter())
    for element in math.iter("*"):
        for child, tag in zip(element[1:], _RAISED.get(element.tag, ()), strict=False):
            child.tag = tag
        if element.tag == "mfrac" and len(element):
            element[0].tail = "/"
        if element.tag not in ("sup", "sub"):
            element.tag = "span"
    glyphs = "".join(chr(int(glyph, 16)) for glyph in _GLYPH.findall(classes))
    text, inner = glyphs or math.text, list(math)
    box.clear(keep_tail=True)
    box.tag, box.text = "span", text
    box.extend(inner)


def _sources(box: HtmlElement) -> Iterator[str]:
    """Yield the TeX that is in a box, that of all of it first."""
    for element in box.iter("*"):
        yield from (element.get(name, "") for name in TEX)
        if element.tag == "annotation" and "tex" in element.get("encoding", ""):
            yield element.text or ""
        elif element.tag == "img" and _picture_of_formula(element):
            yield element.get("alt", "")


def _put(box: HtmlElement, tex: str, *, display: bool) -> None:
    tex = " ".join(tex.split())
    box.clear(keep_tail=True)
    box.tag, box.text = "math", _STYLE.sub(r"\1", tex)
    if display:
        box.set("display", "block")

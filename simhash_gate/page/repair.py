"""Where libxml2 nests a page otherwise than a browser, what the browser makes of it.

libxml2 finds tags as HTML5 says, and nests them by rules of its own. That tells in what a reader
sees on few pages only: where text stands outside of the body, or within what nobody sees. Only
these are read again, by an HTML5 parser (lexbor), which writes its tree as markup that libxml2
can't misread. Of 11,650 pages 120 are, and 19 say something else then.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from lxml import etree
from lxml.html import HtmlElement
from selectolax.lexbor import LexborHTMLParser

from simhash_gate.page.vocabulary import INVISIBLE, MEDIA, word_set

_LARGEST = 5_000_000  # bytes; lexbor needs thirty times as much memory
_FEW = 10_000  # tags: what closes a paragraph looks at all that is open
_REOPENED = 4_000_000  # <b>, <font> and the like: what is left open is opened again in each block

_SILENT = frozenset({"script", "style", "noscript", "template", "title"})
_CHECKED_TAGS = (INVISIBLE | MEDIA | {"button", "title", "xmp", "noembed", "br"}) - {
    *("embed", "frame", "link", "meta", "script", "svg")
}  # what hides its content; `</br>` is a line break
# What can't be within others, and so ends them.
_ENDS_A_PICTURE = word_set("""
    b big blockquote body br center code dd div dl dt em embed font h1 h2 h3 h4 h5 h6 head hr i
    img li listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var
""")
_ENDS = {
    **dict.fromkeys(("svg", "math"), _ENDS_A_PICTURE),
    **{"button": {"button"}, "select": {"input", "select", "textarea"}},
}
_FORMATS = re.compile(rb"<(?:b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)[\s/>]", re.I)


def is_misread(root: HtmlElement, errors: Iterable[etree._LogEntry]) -> bool:
    """Tell if a browser may show other text, or in another order, than libxml2's tree holds."""
    return (
        _is_outside(root)
        # An end tag was amiss of what hides its content, or within that.
        or not _CHECKED_TAGS.isdisjoint(
            name for it in errors for name in it.message.rpartition(": ")[2].split(" and ")
        )
        or any(map(_holds_what_ends_it, root.iter(*_ENDS)))
    )


def as_a_browser(data: bytes) -> bytes | None:
    """Return the markup of the tree that HTML5 gives; None where that could take too long."""
    tags = data.count(b"<")
    if len(data) > _LARGEST or tags > _FEW or tags * len(_FORMATS.findall(data)) > _REOPENED:
        return None
    page = LexborHTMLParser(data, scripting=True)
    for element in page.css("plaintext"):
        element.replace_with(element.text())
    return (page.html or "").encode("utf-8", "replace")


def gather(root: HtmlElement) -> None:
    """Put into the body what libxml2 has after `</html>`, for a page that is not read again."""
    body = root.find("body")
    body = root if body is None else body
    for other in list(root.itersiblings("*")):
        for element in (other, *other.iterchildren("body")):
            element.tag = "div"
        body.append(other)


def _is_outside(root: HtmlElement) -> bool:
    """Tell if there is text outside of the one body, or if there is another body."""
    bodies = 0
    for child in root.iterchildren("*"):
        if child.tag == "body":
            bodies += 1
        elif child.tag != "frameset" and _has_text(child):
            return True
        if (child.tail or "").strip():
            return True
    # What comes after `</html>` is under a root of its own.
    return bodies > 1 or any(_has_text(other) for other in root.itersiblings("*"))


def _has_text(root: HtmlElement) -> bool:
    return any(
        (element.tag not in _SILENT and (element.text or "").strip())
        or (element.tail or "").strip()
        for element in root.iter("*")
        if element is not root or element.tag not in _SILENT
    )


def _holds_what_ends_it(element: HtmlElement) -> bool:
    """Tell if an element that is in none of its kind holds what HTML5 ends it before."""
    outer = next(element.iterancestors(element.tag), None) is None
    return outer and next(element.iterdescendants(*_ENDS[element.tag]), None) is not None

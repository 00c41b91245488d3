"""Where libxml2 nests a page otherwise than a browser, what the browser makes of it.

libxml2 finds tags as HTML5 says, and nests them by rules of its own. That tells in what a reader
sees on few pages only: where text stands outside of the body, where it is within what nobody sees,
or in a table but in no cell. Only these are read again, by an HTML5 parser (lexbor), which writes
its tree as markup that libxml2 can't misread.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from lxml import etree
from selectolax.lexbor import LexborHTMLParser

from simhash_gate.page.vocabulary import INVISIBLE, MEDIA

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lxml.html import HtmlElement

_LARGEST = 20_000_000  # bytes; lexbor needs thirty times as much memory
_OPEN = 1000  # elements that are open at once: what closes a paragraph looks at them all
_REOPENED = 4_000_000  # <b>, <font> and the like: what is left open is opened again in each block

_IN_HEAD = frozenset("title meta link script style base noscript template basefont bgsound".split())
_SILENT = frozenset({"script", "style", "noscript", "template", "link", "meta"})
_HIDING = (INVISIBLE | MEDIA) - {"embed", "frame", "link", "meta"}
_PICTURES = frozenset({"svg", "math"})
_ENDS_A_PICTURE = frozenset("""
    b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li
    listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var
""".split())  # fmt: skip
_HTML_IN_PICTURES = frozenset({"foreignobject", "desc", "title", "annotation-xml", "mtext"})
# What can't be within these, and so ends them.
_ENDS = {
    "button": ("button",),
    "select": ("input", "select", "textarea"),
    "noscript": ("noscript",),
}
# Left open by the end of what is around them, where libxml2 has no complaint.
_SCOPES = frozenset({"applet", "object", "template"})
_ENDS_A_PARAGRAPH = tuple("""
    address article aside blockquote center details dialog dir div dl fieldset figcaption figure
    footer form h1 h2 h3 h4 h5 h6 header hgroup hr li main menu nav ol p pre section summary table ul
""".split())  # fmt: skip
_SEEN = (*_PICTURES, *_HIDING - {"script"}, "table", "title", "xmp", "noembed")
_STRAY = etree.XPath(
    "boolean((//table | //tbody | //thead | //tfoot | //tr)[text()[normalize-space()] or *["
    + " and ".join(
        f"not(self::{tag})"
        for tag in (
            *("caption", "col", "colgroup", "tbody", "thead", "tfoot", "tr", "td", "th"),
            *("form", "input", "script", "style", "template"),
        )
    )
    + "]])"
)

_UNREAD = re.compile(rb"<!--.*?-->|<(script|style)\b.*?</\1", re.I | re.S)
_TAG = re.compile(rb"<(/?)([a-z][a-z0-9-]*)", re.I)
_FORMATTING = frozenset(
    b"a b big code em font i nobr s small strike strong tt u".split()
)
# What needs no end tag holds no more than one other like itself that is not counted anyway.
_CLOSED_BY_OTHERS = frozenset(
    b"""
    p li dt dd option optgroup tr td th thead tbody tfoot colgroup caption rp rt html head body
    area base br col embed frame hr img input link meta param source track wbr
    """.split()
)


def is_misread(root: HtmlElement, errors: Iterable[etree._LogEntry], data: bytes) -> bool:
    """Tell if a browser may show other text, or in another order, than libxml2's tree holds."""
    return (
        _is_outside(root)
        or any(_speaks_of_hiding(error.message) for error in errors)
        or _is_hidden_amiss(root, data)
    )


def as_a_browser(data: bytes) -> bytes | None:
    """Return the markup of the tree that HTML5 gives; None where that could take too long."""
    if len(data) > _LARGEST or _is_explosive(data):
        return None
    page = LexborHTMLParser(data, scripting=True)
    for element in page.css("noscript, plaintext"):
        if element.tag == "noscript":  # raw text to lexbor, but not to libxml2
            element.decompose()
        else:
            element.replace_with(element.text())
    return (page.html or "").encode("utf-8", "replace")


def _is_outside(root: HtmlElement) -> bool:
    """Tell if anything but scripts is outside of the head and the one body."""
    if any(True for _ in root.itersiblings("*")):  # all that follows `</html>`
        return any(_says(other) for other in root.itersiblings("*"))
    bodies = 0
    for child in root.iterchildren("*"):
        if child.tag == "head":
            if (child.text or "").strip() or any(
                inner.tag not in _IN_HEAD or (inner.tail or "").strip() for inner in child
            ):
                return True
        elif child.tag == "body":
            bodies += 1
        elif child.tag != "frameset" and _says(child):
            return True
        if (child.tail or "").strip():
            return True
    return bodies > 1


def _says(root: HtmlElement) -> bool:
    return any(
        (element.tag not in _SILENT and (element.text or "").strip()) or (element.tail or "").strip()
        for element in root.iter("*")
    )


def _speaks_of_hiding(message: str) -> bool:
    """Tell if an end tag was amiss of what hides its content, or within that."""
    names = message.rpartition(": ")[2].split(" and ")
    return "br" in names or not _HIDING.isdisjoint(names)


def _is_hidden_amiss(root: HtmlElement, data: bytes) -> bool:
    """Tell if something hides what HTML5 puts after it, or the other way round, or in a table."""
    empty: set[str] = set()
    scopes: set[str] = set()
    tables = False
    for element in root.iter(*_SEEN):
        tag = element.tag
        if tag in _SCOPES:
            scopes.add(tag)
        if tag == "table":
            tables = True
        elif not len(element):
            if not element.text and tag not in _PICTURES:
                empty.add(tag)
        elif _holds_what_ends_it(element, tag):
            return True
    if any(data.count(b"<%b" % tag) != data.count(b"</%b" % tag) for tag in map(str.encode, scopes)):
        return True
    # `<title/>` is empty for libxml2, and open for HTML5.
    if any(re.search(rb"<%b[^>]*/>" % tag.encode(), data) for tag in empty):
        return True
    return tables and bool(_STRAY(root))


def _holds_what_ends_it(element: HtmlElement, tag: str) -> bool:
    if tag in _PICTURES:
        return any(
            inner.tag in _ENDS_A_PICTURE
            and next(inner.iterancestors(*_HTML_IN_PICTURES), None) is None
            for inner in element.iter("*")
        )
    if tag in _ENDS and sum(1 for _ in element.iter(*_ENDS[tag])) > (tag in _ENDS[tag]):
        return True
    return (
        next(element.iterdescendants(*_ENDS_A_PARAGRAPH), None) is not None
        and next(element.iterancestors("p"), None) is not None
    )


def _is_explosive(data: bytes) -> bool:
    """Tell if so much is left open that an HTML5 parser would take the square of the page's size."""
    opened: Counter[bytes] = Counter()
    most: Counter[bytes] = Counter()
    tags = 0
    for end, name in _TAG.findall(_UNREAD.sub(b"", data).lower()):
        tags += 1
        if not end:
            opened[name] += 1
            if opened[name] > most[name]:
                most[name] = opened[name]
        elif opened[name]:
            opened[name] -= 1
    reopened = sum(most[name] for name in _FORMATTING)
    nested = sum(count for name, count in most.items() if name not in _CLOSED_BY_OTHERS)
    return nested > _OPEN or reopened * tags > _REOPENED

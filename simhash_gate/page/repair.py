"""Where libxml2 nests a page otherwise than a browser, what the browser makes of it.

libxml2 finds tags as HTML5 says, and nests them by rules of its own. That tells in what a reader
sees on few pages only: where text stands outside of the body, where it is within what nobody sees,
or in a table but in no cell. Only these are read again, by an HTML5 parser (lexbor), which writes
its tree as markup that libxml2 can't misread.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from lxml import etree
from lxml.html import HtmlElement
from selectolax.lexbor import LexborHTMLParser

from simhash_gate.page.vocabulary import INVISIBLE, MEDIA, word_set

_LARGEST = 5_000_000  # bytes; lexbor needs thirty times as much memory
_FEW = 10_000  # tags
_OPEN = 1000  # elements that are open at once: what closes a paragraph looks at them all
_REOPENED = 4_000_000  # <b>, <font> and the like: what is left open is opened again in each block

_SILENT = frozenset({"script", "style", "noscript", "template", "title"})
_PICTURES = frozenset({"svg", "math"})
_HIDING = INVISIBLE | MEDIA | {"button", "title", "xmp", "noembed"}
_HIDING -= {"embed", "frame", "link", "meta", "script", "svg"}
_CHECKED_TAGS = _HIDING | {"br"}  # `</br>` is a line break
_VISITED_TAGS = frozenset({*_HIDING, *_PICTURES, "table"})
# What no end tag, and no paragraph, closes from within.
_SCOPES = frozenset({"applet", "object", "template"})
# What can't be within others, and so ends them.
_ENDS_A_PICTURE = word_set("""
    b big blockquote body br center code dd div dl dt em embed font h1 h2 h3 h4 h5 h6 head hr i
    img li listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var
""")
_ENDS_A_PARAGRAPH = word_set("""
    address article aside blockquote center details dialog dir div dl fieldset figcaption figure
    footer form h1 h2 h3 h4 h5 h6 header hgroup hr li main menu nav ol p pre section summary table
    ul
""")
_ENDS = {"button": frozenset({"button"}), "select": frozenset({"input", "select", "textarea"})}
# What libxml2 takes for an element within `noscript`, all of whose text is raw.
_RAW = ("noscript", "iframe", "noembed", "script", "style", "textarea", "title", "xmp")
_HTML_IN_PICTURES = frozenset({"foreignobject", "desc", "title", "annotation-xml", "mtext"})
_ROWS = ("table", "thead", "tbody", "tfoot", "tr")
_IN_ROWS = frozenset({*_ROWS, "td", "th", "caption", "colgroup", "col", "form", *_SILENT})

_UNREAD = re.compile(rb"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1|\Z)", re.I | re.S)
_TAG = re.compile(rb"<(/?)([a-z][a-z0-9-]*)", re.I)
_FORMATTING = b"b big code em font i nobr s small strike strong tt u".split()
_FORMATS = re.compile(rb"<(?:%b)[\s/>]" % b"|".join(_FORMATTING), re.I)
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
        or any(_names_checked_tag(error.message) for error in errors)
        or _has_misread_tags(root, data)
    )


def as_a_browser(data: bytes) -> bytes | None:
    """Return the markup of the tree that HTML5 gives; None where that could take too long."""
    if len(data) > _LARGEST or _is_explosive(data):
        return None
    page = LexborHTMLParser(data, scripting=True)
    for element in page.css("noscript, plaintext"):
        if element.tag == "noscript":  # raw text to lexbor, but not to libxml2
            if not _is_whole(element.text().lower()):
                element.decompose()
        else:
            element.replace_with(element.text())
    return (page.html or "").encode("utf-8", "replace")


def _is_whole(text: str) -> bool:
    """Tell if raw markup ends all that it begins, where libxml2 would read what follows as well."""
    return "<!" not in text and all(text.count(f"<{t}") == text.count(f"</{t}") for t in _RAW)


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


def _names_checked_tag(message: str) -> bool:
    """Tell if an end tag was amiss of what hides its content, or within that."""
    return not _CHECKED_TAGS.isdisjoint(message.rpartition(": ")[2].split(" and "))


def _has_misread_tags(root: HtmlElement, data: bytes) -> bool:
    """Tell if something hides too much or too little, or if a table is out of order."""
    scopes: set[bytes] = set()
    nested = tables = 0  # how many come that were looked at with what is around them
    for element in root.iter(*_VISITED_TAGS):
        tag = element.tag
        if tag in _SCOPES:
            scopes.add(tag.encode())
        if tag == "table":
            if tables or nested:
                tables -= tables > 0
            elif _is_disordered(element):
                return True
            else:
                tables = sum(1 for _ in element.iterdescendants("table"))
        if nested:
            nested -= 1
        elif len(element) and tag != "table":
            inner_tags = [inner.tag for inner in element.iterdescendants("*")]
            if _holds_what_ends_it(element, tag, set(inner_tags)):
                return True
            if "shadowrootmode" not in element.attrib:
                nested = sum(tag in _VISITED_TAGS for tag in inner_tags)
    # `</div>` ends none of these in HTML5, and all of them for libxml2.
    return any(data.count(b"<%b" % tag) != data.count(b"</%b" % tag) for tag in scopes)


def _holds_what_ends_it(element: HtmlElement, tag: str, inner_tags: set[str]) -> bool:
    if tag in _PICTURES:
        return not inner_tags.isdisjoint(_ENDS_A_PICTURE) and any(
            next(inner.iterancestors(*_HTML_IN_PICTURES), None) is None
            for inner in element.iter(*_ENDS_A_PICTURE)
        )
    if tag in _ENDS and not inner_tags.isdisjoint(_ENDS[tag]):
        return True
    if tag == "noscript" and not inner_tags.isdisjoint(_RAW):
        return any(
            (inner.tail or "").strip() or inner.getnext() is not None
            if inner.tag == tag
            else "</noscript" in (inner.text or "").lower()
            for inner in element.iterdescendants(*_RAW)
        )
    return (
        tag not in _SCOPES
        and tag not in _ENDS
        and not inner_tags.isdisjoint(_ENDS_A_PARAGRAPH)
        and next(element.iterancestors("p"), None) is not None
    )


def _is_disordered(table: HtmlElement) -> bool:
    """Tell if there is text in a table, but in none of its cells: it is shown before the table."""
    for rows in table.iter(*_ROWS):
        if rows.text and not rows.text.isspace():
            return True
        for child in rows:
            tail = child.tail
            if tail and not tail.isspace():
                return True
            if child.tag not in _IN_ROWS and _has_text(child):
                return True
    return False


def _is_explosive(data: bytes) -> bool:
    """Tell if so much is left open that HTML5 would take the square of the page's size."""
    tags = data.count(b"<")
    if tags <= _FEW and tags * len(_FORMATS.findall(data)) <= _REOPENED:
        return False
    opened: Counter[bytes] = Counter()
    most: Counter[bytes] = Counter()
    for end, name in _TAG.findall(_UNREAD.sub(b"", data).lower()):
        if not end:
            opened[name] += 1
            most[name] = max(most[name], opened[name])
        elif opened[name]:
            opened[name] -= 1
    nested = sum(count for name, count in most.items() if name not in _CLOSED_BY_OTHERS)
    return nested > _OPEN or tags * sum(most[name] for name in _FORMATTING) > _REOPENED

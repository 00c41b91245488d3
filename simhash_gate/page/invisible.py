"""Takes out of a tree what no reader of the page sees, or what is no text of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lxml.etree import strip_elements

from simhash_gate.page.cut import drop_all
from simhash_gate.page.measure import size_of
from simhash_gate.page.parse import by_tag
from simhash_gate.page.site import words_of
from simhash_gate.page.vocabulary import INVISIBLE, MEDIA

if TYPE_CHECKING:
    from collections.abc import Collection

    from lxml.html import HtmlElement

    from simhash_gate.page.title import Titles

_NEVER_SHOWN = INVISIBLE - {"noscript"}
_SPOKEN = 400  # letters: a plea to turn on scripts is shorter


def drop_invisible(root: HtmlElement, titles: Titles | None = None) -> None:
    """Take out what is no text of the page: scripts, styles, controls, pictures that are drawn.

    Of what is played, its sources are left. With titles, what is said to readers without scripts
    stays if it is the page.
    """
    found = by_tag(root, "input", "template", "noscript", *MEDIA)
    for template in found["template"]:
        if "shadowrootmode" in template.attrib:  # shown, unlike any other template
            template.tag = "div"
    strip_elements(root, *_NEVER_SHOWN, with_tail=False)
    drop_all([box for box in found["input"] if not _is_task(box)])
    if found["noscript"]:
        if titles is not None:
            _show_if_the_page(found["noscript"], root, titles)
        strip_elements(root, "noscript", with_tail=False)
    for tag in MEDIA:
        for media in found[tag]:
            _leave_sources(media)


def _leave_sources(media: HtmlElement) -> None:
    """Take out what is within something that is played, but for its sources."""
    sources = list(media.iter("source"))
    for element in (media, *sources):
        element.text = None
        for child in list(element):
            element.remove(child)
    media.extend(sources)
    for source in sources:
        source.tail = None


def _show_if_the_page(notes: Collection[HtmlElement], root: HtmlElement, titles: Titles) -> None:
    """Show what is said to readers without scripts, if it is most of what a page says.

    A plea to turn them on is short, and has not the name of the page.
    """
    name = words_of(titles.title)
    if not name:
        return
    long = [(note, size) for note in notes if (size := size_of(note)) >= _SPOKEN]
    whole = size_of(root) if long else 0
    for note, size in long:
        if 2 * size > whole and _has(note, name):
            note.tag = "div"


def _has(element: HtmlElement, name: tuple[str, ...]) -> bool:
    return f" {' '.join(name)} " in f" {' '.join(words_of(' '.join(element.itertext())))} "


def _is_task(element: HtmlElement) -> bool:
    return element.get("type") == "checkbox" and next(element.iterancestors("li"), None) is not None


def gutters(root: HtmlElement) -> list[HtmlElement]:
    """Return the table cells that hold nothing but the line numbers of the code beside them."""
    if next(root.iter("td"), None) is None:
        return []
    holders: set[HtmlElement | None] = set()  # of code
    for pre in root.iter("pre"):
        for outer in pre.iterancestors():
            if outer in holders:
                break
            holders.add(outer)
    return [
        cell
        for cell in (root.iter("td") if holders else ())
        if cell in holders
        and cell.getnext() in holders
        and all(line.isdigit() for text in cell.itertext() for line in text.split())
    ]

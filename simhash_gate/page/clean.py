"""Takes the chrome off a page's tree, in place: what stands around articles, not what holds one."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from lxml.etree import strip_elements

from simhash_gate.page.blocks import Block, blocks
from simhash_gate.page.flow import flow
from simhash_gate.page.measure import Left, Measure, Measures, Sizes, is_listing, survey
from simhash_gate.page.names import have_any, speaks_of_chrome
from simhash_gate.page.parse import printable
from simhash_gate.page.posts import names_of_posts, post_name
from simhash_gate.page.title import Titles, find_titles, headlines_in
from simhash_gate.page.vocabulary import (
    CHROME_ROLES,
    CHROME_TAGS,
    INVISIBLE,
    MEDIA,
    OUTSIDE_TOKENS,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from lxml.html import HtmlElement

LARGEST = 0.4  # of the page's text: what holds more is no chrome, whatever it is called
_FORMS = 0.2  # of the text outside of links that is left: in forms, more is no chrome
_SOME_TEXT = 20
_KNOWN_TAGS = CHROME_TAGS | {"html", "body", "main"}
_OF_ARTICLES = frozenset({"header", "footer"})
_HIDDEN = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.I)


class Cleaned(NamedTuple):
    """A page without its chrome: its tree, the size of every element in it, its titles.

    `labels` are the elements that may begin with a label of an advertisement, and some others.
    `size` is how many characters the page says, chrome and all, and `whole` what, if that was asked
    for.
    """

    root: HtmlElement
    body: HtmlElement
    measures: Measures
    labels: list[HtmlElement]
    listing: bool
    titles: Titles
    size: int
    whole: list[Block]


def clean(root: HtmlElement, titles: Titles | None = None, *, whole: bool = False) -> Cleaned:
    """Remove the chrome from a page's tree."""
    titles = find_titles(root) if titles is None else titles
    drop_invisible(root)
    drop_all(_gutters(root))
    body = root.find("body")
    body = root if body is None else body
    visible = blocks(flow(body)) if whole else []
    left = _drop_chrome(root, titles)
    measures, labels = survey(root, left)
    _drop_forms(left.forms, root, measures)
    _drop_large(left.large, root, measures, titles)
    listing = is_listing(measures[body])
    return Cleaned(root, body, measures, labels, listing, titles, left.size, visible)


def drop_invisible(root: HtmlElement) -> None:
    """Take out what is no text of the page: scripts, styles, controls, pictures that are drawn.

    Of what is played, its sources are left.
    """
    boxes = []
    for element in root.iter("input", "template"):
        if element.tag == "input":
            if not _is_task(element):
                boxes.append(element)
        elif "shadowrootmode" in element.attrib:  # shown, unlike any other template
            element.tag = "div"
    strip_elements(root, *INVISIBLE, with_tail=False)
    drop_all(boxes)
    for media in list(root.iter(*MEDIA)):
        sources = list(media.iter("source"))
        for element in (media, *sources):
            element.text = None
            for child in list(element):
                element.remove(child)
        media.extend(sources)
        for source in sources:
            source.tail = None


def _gutters(root: HtmlElement) -> list[HtmlElement]:
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


def _is_task(element: HtmlElement) -> bool:
    return element.get("type") == "checkbox" and next(element.iterancestors("li"), None) is not None


def drop(element: HtmlElement, measures: Measures | None = None) -> None:
    """Take an element out of its tree; the text after it stays."""
    if measures is not None:
        gone = measures[element]
        links = gone.links
        for ancestor in element.iterancestors():
            if ancestor.tag == "a":
                links = gone.text
            measures[ancestor].text -= gone.text
            measures[ancestor].links -= links
    drop_all([element])


def drop_all(gone: Collection[HtmlElement], measures: Measures | None = None) -> None:
    """Take elements out of their tree, at a cost that grows with the tree alone.

    They come in document order; with measures to keep, none of them is within another.
    """
    if measures and gone:
        _forget(gone, measures)
    last: HtmlElement | None = None
    holder: HtmlElement | None = None
    texts: list[str] = []  # what follows neighbours that go is joined once
    for element in gone:
        before = element.getprevious()
        if last is None or before is not last:
            _append(holder, last, texts)
            holder = element.getparent() if before is None else before
        if element.tail:
            texts.append(element.tail)
        last = element
    _append(holder, last, texts)
    for element in gone:
        parent = element.getparent()
        if parent is not None:
            element.tail = None
            parent.remove(element)


def _append(holder: HtmlElement | None, last: HtmlElement | None, texts: list[str]) -> None:
    """Put texts where the text stands before the neighbours that end with `last`."""
    if holder is not None and last is not None and texts:
        side = "text" if holder is last.getparent() else "tail"
        text = (getattr(holder, side) or "") + "".join(texts)
        try:
            setattr(holder, side, text)
        except ValueError:  # `&#1;` and its like
            setattr(holder, side, printable(text))
    texts.clear()


def _forget(gone: Collection[HtmlElement], measures: Measures) -> None:
    less: dict[HtmlElement | None, Measure] = defaultdict(Measure)
    for element in gone:
        less[element.getparent()].add(measures[element])
    for element in reversed(measures):
        if element in less:
            own, within = measures[element], less[element]
            if element.tag == "a":
                within.links = within.text
            own.text -= within.text
            own.links -= within.links
            less[element.getparent()].add(within)


def _drop_chrome(root: HtmlElement, titles: Titles, posts: Collection[str] = ()) -> Left:
    """Take out what is chrome by name, but for what is too large to be, and for `posts`."""
    sizes = Sizes(root)
    left = Left([], [], [], {}, sizes.whole)
    gone = []
    alike: dict[str, int] = defaultdict(int)  # characters in all boxes of a name
    keep = left.elements.append
    outer: set[HtmlElement] = set()
    largest = LARGEST * sizes.whole
    behind: HtmlElement | None = root  # what goes: nothing inside it is looked at
    for element in root.iter("*"):
        if behind is not None:
            if element is not behind:
                continue
            behind = None
        if not _is_chrome(element):
            keep(element)
            continue
        if element.tag == "form" and not _is_hidden_or_search(element):
            left.forms.append(element)
            keep(element)
            continue
        name = post_name(element.get("class", ""))
        if name in posts:
            left.elements.extend(element.iter("*"))
            behind = _behind(element)
            if behind is None:
                break
            continue
        size = sizes.of(element)
        if size > largest:
            place = sum(e in outer for e in element.iterancestors())
            left.large.insert(place, element)
            outer.add(element)
            keep(element)
            continue
        gone.append(element)
        alike[name] += size
        for link in islice(element.iterancestors("a"), 1):  # one around that is as long as this
            left.lost[link] = left.lost.get(link, 0) + size
        behind = _behind(element)
        if behind is None:
            break
    names = {name for name, size in alike.items() if name and size > largest}
    posts = names_of_posts(names, gone, root, titles) if names and not posts else ()
    if posts:
        return _drop_chrome(root, titles, posts)
    drop_all(gone)
    return left


def _behind(element: HtmlElement) -> HtmlElement | None:
    """Return the first element of the tree that comes after all that is in another."""
    around: HtmlElement | None = element
    while around is not None:
        following = around.getnext()
        if following is not None:
            return following
        around = around.getparent()
    return None


def _drop_forms(forms: Collection[HtmlElement], root: HtmlElement, measures: Measures) -> None:
    """Take out forms, unless they say so much that they are what the page is about.

    Login and contact pages are, and in many shops what is said of a product.
    """
    known = set(forms)
    outer = [form for form in forms if known.isdisjoint(form.iterancestors("form"))]
    if sum(measures[form].prose for form in outer) <= _FORMS * measures[root].prose:
        largest = LARGEST * measures[root].text
        drop_all([form for form in outer if measures[form].text <= largest], measures)


def _drop_large(
    large: list[HtmlElement], root: HtmlElement, measures: Measures, titles: Titles
) -> None:
    """Take out large boxes of a page of few words: larger than the article, and still a menu."""
    headlines = headlines_in(root, titles) if large else ()
    around = {outer for headline in headlines for outer in headline.iterancestors()}
    for element in large:
        size = measures[element]
        menu = size.links > 0.5 * size.text
        outside = _is_outside(element) and element not in around
        if (menu or outside) and measures[root].text - size.text >= _SOME_TEXT:
            drop(element, measures)


def _is_outside(element: HtmlElement) -> bool:
    """Tell if this is what no article stands in, however large: a footer, what lies over a page."""
    if element.tag == "footer":
        return True
    return have_any(f"{element.get('class', '')} {element.get('id', '')}", OUTSIDE_TOKENS)


def _is_chrome(element: HtmlElement) -> bool:
    tag = element.tag
    if tag in _KNOWN_TAGS:
        return tag in CHROME_TAGS and not (tag in _OF_ARTICLES and _in_article(element))
    if "-" in tag and speaks_of_chrome(tag):
        return True
    for name, value in element.items():
        if name in _TELLING and _TELLING[name](value) and not _is_panel(element, name):
            return True
    return False


def _is_hidden_or_search(form: HtmlElement) -> bool:
    return any(name in form.attrib and _TELLING[name](form.attrib[name]) for name in _OF_FORMS)


def _is_panel(element: HtmlElement, name: str) -> bool:
    """Tell if what hides an element is that tabs show one panel at a time."""
    return name in _HIDING and element.get("role") == "tabpanel"


def _in_article(element: HtmlElement) -> bool:
    return next(element.iterancestors("article", "main"), None) is not None


# The attributes that chrome is known by, and what their values say then.
_TELLING: dict[str, Callable[[str], object]] = {
    "class": speaks_of_chrome,
    "id": speaks_of_chrome,
    "role": CHROME_ROLES.__contains__,
    "hidden": lambda _: True,
    "style": _HIDDEN.search,
    "itemprop": "author".__eq__,
}
_HIDING = frozenset({"hidden", "style"})
_OF_FORMS = ("role", *_HIDING)

"""What says that a box is chrome, and what says otherwise.

Chrome is known by its tag, role or name, or is hidden; layers that ask for consent to cookies are
known by what they say and do. Posts of a thread are called comments, and are what a page is about.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, cast

from lxml.etree import XPath, tostring

from simhash_gate.page.hidden import NOT_SHOWN
from simhash_gate.page.measure import said_in
from simhash_gate.page.title import letters, says_title
from simhash_gate.page.vocabulary import (
    CHROME_ROLES,
    CHROME_TAGS,
    INVISIBLE,
    OUTSIDE_TOKENS,
    POST_TOKENS,
    have_any,
    speaks_of_chrome,
    speaks_of_menu,
    speaks_of_short,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from lxml.html import HtmlElement

    from simhash_gate.page.title import Titles


_LINE = 80  # letters
_PARAGRAPH = 60  # letters: as long is no entry of a menu
_LONG_PARAGRAPH = 200  # letters: one is enough
_PARAGRAPHS = 0.4  # of what a box says: with more in paragraphs it is no menu
_LONG_TEXTS = XPath(
    "descendant::text()[string-length(.) >= 20][not(ancestor::a)]", smart_strings=False
)
_KNOWN_TAGS = CHROME_TAGS | {"html", "body", "main"}
_OF_ARTICLES = frozenset({"header", "footer"})
# The attributes that chrome is known by, and what their values say then.
_TELLING: dict[str, Callable[[str], object]] = {
    "class": speaks_of_chrome,
    "id": speaks_of_chrome,
    "role": CHROME_ROLES.__contains__,
    "hidden": lambda _: True,
    "style": NOT_SHOWN.search,
    "itemprop": "author".__eq__,
}
_NAMES = frozenset({"class", "id"})
_HIDING = frozenset({"hidden", "style"})
_OF_FORMS = ("role", *_HIDING)


def is_chrome(element: HtmlElement) -> bool:
    """Tell if something says that an element is chrome."""
    tag = element.tag
    if tag in _KNOWN_TAGS:
        return tag in CHROME_TAGS and not (tag in _OF_ARTICLES and _in_article(element))
    if "-" in tag and speaks_of_chrome(tag):
        return True
    # Asked of every element: to begin a generator would take as long as the rest.
    for name, value in element.items():  # noqa: SIM110
        if name in _TELLING and _TELLING[name](value):
            return True
    return False


def is_hidden_or_search(form: HtmlElement) -> bool:
    """Tell if more than its tag says that a form is chrome."""
    return any(name in form.attrib and _TELLING[name](form.attrib[name]) for name in _OF_FORMS)


def is_misnamed(element: HtmlElement, size: int, headline: Collection[HtmlElement]) -> bool:
    """Tell if nothing but a name says that this is chrome, and what is in it says otherwise."""
    if element.tag in CHROME_TAGS or any(
        name not in _NAMES
        for name, value in element.items()
        if name in _TELLING and _TELLING[name](value)
    ):
        return False
    if element in headline:
        return True
    names = f"{element.get('class', '')} {element.get('id', '')}"
    if speaks_of_short(names):
        return size > _LINE and not said_in(element).isdigit()
    return speaks_of_menu(names) and size >= 2 * _PARAGRAPH and _has_paragraphs(element, size)


def _has_paragraphs(element: HtmlElement, size: int) -> bool:
    """Tell if much of what a box says is in runs of text that are no links."""
    texts = cast("list[str]", _LONG_TEXTS(element))
    runs = [run for text in texts if letters(run := "".join(text.split())) >= _PARAGRAPH]
    if sum(map(len, runs)) < _PARAGRAPHS * size:
        return False
    return len(runs) > 1 or sum(map(letters, runs)) >= _LONG_PARAGRAPH


def is_outside(element: HtmlElement) -> bool:
    """Tell if this is what no article stands in, however large: a footer, what lies over a page."""
    return element.tag == "footer" or says(element, OUTSIDE_TOKENS)


def says(element: HtmlElement, words: Collection[str]) -> bool:
    """Tell if the class or id of an element has one of some words in it."""
    return have_any(f"{element.get('class', '')} {element.get('id', '')}", words)


def _in_article(element: HtmlElement) -> bool:
    return next(element.iterancestors("article", "main"), None) is not None


_PROSE = 60  # letters: a paragraph


@lru_cache(maxsize=16_384)  # the classes of some dozens of sites
def post_name(names: str) -> str:
    """Return the first of the names in a class that says comment: all posts have it, if any."""
    return next((name for name in names.split() if have_any(name, POST_TOKENS)), "")


def names_of_posts(
    names: Collection[str], chrome: Collection[HtmlElement], root: HtmlElement, titles: Titles
) -> set[str]:
    """Return those of some names of which all boxes below the headline come before any prose.

    Comments follow an article, and advertisements stand within; posts are all that there is.
    """
    posts: set[str] = set()
    others: set[str] = set()
    outer = set(chrome)
    inside: set[HtmlElement | None] = set()
    below = prose = False
    for element in root.iter("*"):
        if element.getparent() in inside:
            inside.add(element)
            continue
        if element in outer:
            inside.add(element)
            if below:
                (others if prose else posts).add(post_name(element.get("class", "")))
        elif not below:
            below = element.tag in ("h1", "h2") and says_title(element, titles)
        elif element.tag != "a":
            prose = prose or _is_prose(element.text)
        prose = prose or (below and _is_prose(element.tail))
    return posts.intersection(names) - others


def _is_prose(text: str | None) -> bool:
    return text is not None and letters(text.strip()) >= _PROSE


_COOKIE = re.compile("cookie", re.I)
_SPEAKERS = XPath("descendant::text()[contains(., 'ookie') or contains(., 'OOKIE')]/..")
_OWN = ("main", "article", "head")
_LEADS = ("http", "/", "#", ".", "?")
_SUBJECT = re.compile("cookie|consent|gdpr|privacy|cmp", re.I)
_NAME = re.compile("cookie|consent|gdpr", re.I)
_MENTION = 400  # characters for each mention: a longer text is about something else
_LONGEST = 20_000
_BOXES = 50  # of a body: more are asked together before each is
_NEAR = 4  # boxes around a layer, body and html among them
_DEEP = 30  # around what it says


def consent_layers(root: HtmlElement, titles: Titles) -> list[HtmlElement]:
    """Return the layers of a page that is not itself about cookies, in document order.

    A layer stands near the root, outside of what is the page's own. It speaks of cookies, has
    something to press, and an address, class or id in it names the subject. It speaks of them again
    and again, or is itself called after them.
    """
    if _COOKIE.search(f"{titles.title} {titles.whole}"):
        return []
    found: dict[HtmlElement, None] = {}
    judged: dict[HtmlElement, bool | None] = {}
    for element in _speakers(root):
        if found.keys().isdisjoint(element.iterancestors()) and element.tag not in INVISIBLE:
            layer = _layer(element, judged)
            if layer is not None:
                found[layer] = None
    return [layer for layer in found if found.keys().isdisjoint(layer.iterancestors())]


def _speakers(root: HtmlElement) -> Iterator[HtmlElement]:
    """Yield what speaks of cookies in the boxes of a page, in document order.

    Most boxes don't: to write out the text of one takes a tenth of asking each text in it.
    """
    for part in root.iterchildren("*"):
        if part.tag != "head" and (len(part) <= _BOXES or _speaks(part)):
            for box in part if part.tag == "body" else (part,):
                if box.tag not in ("script", "style") and _speaks(box):
                    yield from cast("list[HtmlElement]", _SPEAKERS(box))


def _speaks(box: HtmlElement) -> bool:
    said = tostring(box, encoding="utf-8", method="text", with_tail=False)
    return b"ookie" in said or b"OOKIE" in said


def _layer(element: HtmlElement, judged: dict[HtmlElement, bool | None]) -> HtmlElement | None:
    """Return the outermost box around an element that is a layer, if any is."""
    around = [element, *islice(element.iterancestors(), _DEEP)]
    if around[-1].getparent() is not None or any(outer.tag in _OWN for outer in around[1:]):
        return None
    layer = None
    for box in around[-_NEAR - 1 :]:
        if box not in judged:
            judged[box] = _judge(box)
        if judged[box] is None:
            break
        layer = box if judged[box] else layer
    return layer


def _judge(box: HtmlElement) -> bool | None:
    """Tell if a box is a layer; None if it is none, and nothing around it is one."""
    if box.tag in ("html", "body") or next(box.iter("h1"), None) is not None:
        return None
    said = "".join(_texts(box))
    if len(said) > _LONGEST:
        return None
    again = len(_COOKIE.findall(said)) * _MENTION >= len(said)
    return (again or _is_named(box)) and _asks(box)


def _is_named(box: HtmlElement) -> bool:
    """Tell if the box itself is called after its subject, in a word of its own or a glued one."""
    return _NAME.search(f"{box.get('class', '')} {box.get('id', '')}") is not None


def _texts(box: HtmlElement) -> Iterator[str]:
    for inner in box.iter("*"):
        if inner.tag not in ("script", "style", "noscript"):
            yield inner.text or ""
        if inner is not box:
            yield inner.tail or ""


def _asks(box: HtmlElement) -> bool:
    pressed = next(box.iter("button", "input"), None) is not None or any(
        element.get("role") == "button" or not (element.get("href") or "j").startswith(_LEADS)
        for element in box.iter("a")
    )
    return pressed and any(
        _SUBJECT.search(value)
        for inner in box.iter("*")
        for name, value in inner.items()
        if name in ("class", "id", "href")
    )

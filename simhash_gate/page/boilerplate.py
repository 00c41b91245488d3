"""What says that a box is boilerplate, and what says otherwise.

Boilerplate is known by its tag, role or name, or is hidden.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import cast

from lxml.etree import XPath
from lxml.html import HtmlElement

from simhash_gate.page.elements import NOT_SHOWN
from simhash_gate.page.measure import Measures, size_of, text_in
from simhash_gate.page.title import letters, text_of, words_of
from simhash_gate.page.vocabulary import (
    AD_TOKENS,
    BOILERPLATE_ROLES,
    BOILERPLATE_TAGS,
    BOILERPLATE_TOKENS,
    CELLS,
    HEADINGS,
    INLINE,
    LINK_LISTS,
    MENU_TOKENS,
    OUTSIDE_TOKENS,
    PLACE_TOKENS,
    POST_TOKENS,
    SHORT_TOKENS,
    has_word,
    speaks_of_boilerplate,
    speaks_only_of,
)

DATE = re.compile(r"\b(?:19|20)\d\d\b|\d:\d\d|\b\d+ (?:\w+ )?ago\b|\b\d+ ?(?:[hmdwy]|yr|mo)\b")
_SIGNED = 40  # characters, a date among them: the line of who wrote it and when
_REMARK = frozenset({"comment"})
_LINE = 80  # letters
_NOTE = 40  # letters
_LINKED = 0.3  # of a note: in links, more is a list of them
_PARAGRAPH = 60  # letters: as long is no entry of a menu
_LONG_PARAGRAPH = 200  # letters: one is enough
_PARAGRAPHS = 0.4  # of what a box says: with more in paragraphs it is no menu
_LONG_TEXTS = XPath(
    "descendant::text()[string-length(.) >= 20][not(ancestor::a)]", smart_strings=False
)
_KNOWN_TAGS = BOILERPLATE_TAGS | {"html", "body", "main"}

# The attributes that boilerplate is known by, and what their values say then.
_CHECKS: dict[str, Callable[[str], object]] = {
    "class": speaks_of_boilerplate,
    "id": speaks_of_boilerplate,
    "role": BOILERPLATE_ROLES.__contains__,
    "hidden": "until-found".__ne__,
    "style": NOT_SHOWN.search,
    "itemprop": "author".__eq__,
}
_NAMES = frozenset({"class", "id"})
_LINES = HEADINGS | CELLS | INLINE | {"p", "tr", "dt", "dd", "pre"}
_HIDING = frozenset({"hidden", "style"})
_FORM_CHECKS = ("role", *_HIDING)


def is_boilerplate(element: HtmlElement) -> bool:
    """Tell if something says that an element is boilerplate.

    for: any site with menus, a footer, a sidebar or advertisements.
    """
    tag = element.tag
    if tag in _KNOWN_TAGS:
        article = element.iterancestors("article", "main") if tag in ("header", "footer") else ()
        return tag in BOILERPLATE_TAGS and next(iter(article), None) is None
    if "-" in tag and speaks_of_boilerplate(tag):
        return True
    # Asked of every element: to begin a generator would take as long as the rest.
    for name, value in element.items():
        if name in _CHECKS and _CHECKS[name](value) and not _is_of_text(element, name, value):
            return True
    return False


def _is_of_text(element: HtmlElement, name: str, value: str) -> bool:
    """Tell if a class or id that names boilerplate is that of a part of a text.

    Highlighters call remarks in code comments. An id is where links lead: to a line, to a thing of
    a library, or to a section, after the words of its heading.
    for: documentation with a section "Cookies", and highlighted remarks in code.
    """
    if name not in _NAMES:
        return False
    if next(element.iterancestors("pre", "code"), None) is not None:
        return not speaks_only_of(SHORT_TOKENS, value)
    if name == "class":
        return False
    if "." in value or (element.tag in _LINES and next(element.iter(*LINK_LISTS), None) is None):
        return True  # templates made of tables have columns in cells
    heading = next(element.iter(*HEADINGS), None)
    return heading is not None and words_of(text_of(heading)) == words_of(value.replace("-", " "))


def is_hidden_or_search(form: HtmlElement) -> bool:
    """Tell if more than its tag says that a form is boilerplate."""
    return any(name in form.attrib and _CHECKS[name](form.attrib[name]) for name in _FORM_CHECKS)


def is_misnamed(
    element: HtmlElement,
    measures: Measures,
    headline_path: Collection[HtmlElement],
    name_counts: Callable[[], Counter[str]],
) -> bool:
    """Tell if nothing but a name says that this is boilerplate, and its contents say otherwise.

    So may a tag or a role that notes within a text have too. `name_counts` tells how many boxes
    have a class.
    for: products in a box called "promo", lists in one called "skip", paragraphs in one called
    "nav", and documentation with warnings between its paragraphs.
    """
    size = measures.text[element]
    names = f"{element.get('class', '')} {element.get('id', '')}"
    if _is_note(element, names, size):
        return True
    if element.tag in BOILERPLATE_TAGS or any(
        name not in _NAMES
        for name, value in element.items()
        if name in _CHECKS and _CHECKS[name](value)
    ):
        return False
    if element in headline_path:
        return True
    if speaks_only_of(SHORT_TOKENS, names):
        return size > _LINE and not text_in(element).isdigit()
    if speaks_only_of(MENU_TOKENS, names) and _has_paragraphs(element, size):
        return True
    return (
        measures.links[element] <= _LINKED * size
        and (
            _is_of_many(element, names, size, name_counts)
            or _is_remark(element, names)
            or _is_between(element)
        )
        and next(element.iter("form"), None) is None
        and not is_signed(element)
    )


def _is_of_many(
    element: HtmlElement, names: str, size: int, name_counts: Callable[[], Counter[str]]
) -> bool:
    """Tell if several boxes have a name that there is one of around an article: a footer, a menu.

    Menus may well say something of each of their entries, but not within an article.
    for: cards with footers, columns of a table called "rightCol", dishes called "menu-item".
    """
    within = next(element.iterancestors("article", "main"), None) is not None
    return (
        size >= _NOTE
        and speaks_only_of(BOILERPLATE_TOKENS if within else PLACE_TOKENS, names)
        and not speaks_of_boilerplate(element.get("id", ""))
        and name_counts()[element.get("class", "")] > 1
    )


def _is_remark(element: HtmlElement, names: str) -> bool:
    """Tell if a box called comment is none of a reader: it has no neighbour of its kind.

    for: what TypeDoc and Scaladoc say of each function, and the remarks of Trac.
    """
    neighbours = [e for e in (element.getprevious(), element.getnext()) if e is not None]
    kinds = [(e.tag, e.get("class")) for e in neighbours]
    return speaks_only_of(_REMARK, names) and (element.tag, element.get("class")) not in kinds


def _is_between(element: HtmlElement) -> bool:
    """Tell if a box is a part of the text that it stands in: paragraphs, without a link.

    for: what a report says of "related-party" deals or a "share-price" between its paragraphs.
    """
    return (
        next(element.itersiblings("p"), None) is not None
        and next(element.itersiblings("p", preceding=True), None) is not None
        and next(element.iter("a"), None) is None
        and any(letters(p.text or "") >= _PARAGRAPH for p in element.iter("p"))
        and not is_called(element, AD_TOKENS | OUTSIDE_TOKENS)
    )


def _is_note(element: HtmlElement, names: str, size: int) -> bool:
    """Tell if this says that it is a note, or is text below a paragraph or a heading: a warning.

    for: handbooks, and statutes with remarks on their sections.
    """
    if (
        size < _NOTE
        or (element.tag != "aside" and element.get("role") != "alert")
        or speaks_of_boilerplate(names)
    ):
        return False
    above = element.getprevious()
    is_headed = above is not None and above.tag in HEADINGS and above.tag != "h1"
    paragraphs = element.itersiblings("p", preceding=True)
    return element.get("role") == "note" or (
        (is_headed or any(letters(p.text or "") >= _PARAGRAPH for p in paragraphs))
        and sum(map(size_of, element.iter("a"))) <= _LINKED * size
        and next(element.iter("form"), None) is None
    )


def _has_paragraphs(element: HtmlElement, size: int) -> bool:
    """Tell if much of what a box says is in runs of text that are no links."""
    texts = cast("list[str]", _LONG_TEXTS(element))
    runs = [run for text in texts if letters(run := "".join(text.split())) >= _PARAGRAPH]
    if size < 2 * _PARAGRAPH or sum(map(len, runs)) < _PARAGRAPHS * size:
        return False
    return len(runs) > 1 or sum(map(letters, runs)) >= _LONG_PARAGRAPH


def is_called(element: HtmlElement, words: AbstractSet[str]) -> bool:
    """Tell if the tag, class or id of an element has one of some words in it."""
    return has_word(f"{element.tag} {element.get('class', '')} {element.get('id', '')}", words)


def is_signed(box: HtmlElement) -> bool:
    """Tell if a line of a box, or a tag for it, says when: as who wrote it, and when, does."""
    texts = (text for text in box.itertext() if len(text) <= _SIGNED)
    return next(box.iter("time"), None) is not None or any(map(DATE.search, texts))


def is_dated(box: HtmlElement) -> bool:
    """Tell if a box says a date or a time anywhere."""
    return next(box.iter("time"), None) is not None or bool(DATE.search(" ".join(box.itertext())))


@lru_cache(maxsize=16_384)  # the classes of some dozens of sites
def post_name(names: str) -> str:
    """Return the first of the names in a class that says comment, "" if none does."""
    return next((name for name in names.split() if has_word(name, POST_TOKENS)), "")

"""What says that a box is boilerplate, and what says otherwise.

Boilerplate is known by its tag, role or name, or is hidden. Posts of a thread are called comments,
and are what a page is about.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import cast

from lxml.etree import XPath, iterwalk
from lxml.html import HtmlElement

from simhash_gate.page.elements import NOT_SHOWN
from simhash_gate.page.measure import size_of, text_in
from simhash_gate.page.title import Titles, letters, says_title, text_of, words_of
from simhash_gate.page.vocabulary import (
    BOILERPLATE_ROLES,
    BOILERPLATE_TAGS,
    CELLS,
    HEADINGS,
    INLINE,
    LINK_LISTS,
    MENU_TOKENS,
    POST_TOKENS,
    SHORT_TOKENS,
    has_word,
    speaks_of_boilerplate,
    speaks_only_of,
)

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


def is_misnamed(element: HtmlElement, size: int, headline_path: Collection[HtmlElement]) -> bool:
    """Tell if nothing but a name says that this is boilerplate, and its contents say otherwise.

    So may a tag or a role that notes within a text have too.
    for: products in a box called "promo", lists in one called "skip", paragraphs in one called
    "nav", and documentation with warnings between its paragraphs.
    """
    if _is_note(element, size):
        return True
    if element.tag in BOILERPLATE_TAGS or any(
        name not in _NAMES
        for name, value in element.items()
        if name in _CHECKS and _CHECKS[name](value)
    ):
        return False
    if element in headline_path:
        return True
    names = f"{element.get('class', '')} {element.get('id', '')}"
    if speaks_only_of(SHORT_TOKENS, names):
        return size > _LINE and not text_in(element).isdigit()
    return (
        speaks_only_of(MENU_TOKENS, names)
        and size >= 2 * _PARAGRAPH
        and _has_paragraphs(element, size)
    )


def _is_note(element: HtmlElement, size: int) -> bool:
    """Tell if this stands below a paragraph, and is text as that is: a note, a warning."""
    names = f"{element.get('class', '')} {element.get('id', '')}"
    if (
        size < _NOTE
        or (element.tag != "aside" and element.get("role") != "alert")
        or speaks_of_boilerplate(names)
    ):
        return False
    paragraphs = element.itersiblings("p", preceding=True)
    return any(letters(p.text or "") >= _PARAGRAPH for p in paragraphs) and (
        _LINKED * size >= sum(map(size_of, element.iter("a")))
    )


def _has_paragraphs(element: HtmlElement, size: int) -> bool:
    """Tell if much of what a box says is in runs of text that are no links."""
    texts = cast("list[str]", _LONG_TEXTS(element))
    runs = [run for text in texts if letters(run := "".join(text.split())) >= _PARAGRAPH]
    if sum(map(len, runs)) < _PARAGRAPHS * size:
        return False
    return len(runs) > 1 or sum(map(letters, runs)) >= _LONG_PARAGRAPH


def is_called(element: HtmlElement, words: AbstractSet[str]) -> bool:
    """Tell if the tag, class or id of an element has one of some words in it."""
    return has_word(f"{element.tag} {element.get('class', '')} {element.get('id', '')}", words)


_PROSE = 60  # letters: a paragraph


@lru_cache(maxsize=16_384)  # the classes of some dozens of sites
def post_name(names: str) -> str:
    """Return the first of the names in a class that says comment: all posts have it, if any."""
    return next((name for name in names.split() if has_word(name, POST_TOKENS)), "")


def names_of_posts(
    names: Collection[str], boilerplate: Collection[HtmlElement], root: HtmlElement, titles: Titles
) -> set[str]:
    """Return those of some names of which all boxes below the headline come before any prose.

    Of a page without headings, all boxes count. Comments follow an article, and advertisements
    stand within; posts are all that there is.
    for: threads that do not say that they are one.
    """
    posts: set[str] = set()
    other_names: set[str] = set()
    boxes = set(boilerplate)
    body = root.find("body")
    is_below = next(root.iter("h1", "h2"), None) is None
    prose = False
    walk = iterwalk(root if body is None else body, events=("start",))
    for _, element in walk:
        if element in boxes:
            walk.skip_subtree()
            if is_below:
                (other_names if prose else posts).add(post_name(element.get("class", "")))
        elif not is_below:
            is_below = element.tag in ("h1", "h2") and says_title(element, titles)
        elif element.tag != "a":
            prose = prose or _is_prose(element.text)
        prose = prose or (is_below and _is_prose(element.tail))
    return posts.intersection(names) - other_names


def _is_prose(text: str | None) -> bool:
    return text is not None and letters(text.strip()) >= _PROSE

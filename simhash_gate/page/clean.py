"""Takes the chrome off a page's tree, in place: what stands around articles, not what holds one."""

from __future__ import annotations

from collections import defaultdict
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from lxml.etree import strip_elements

from simhash_gate.page.blocks import Block, blocks
from simhash_gate.page.consent import consent_layers
from simhash_gate.page.facts import find_facts
from simhash_gate.page.flow import flow
from simhash_gate.page.hidden import NOT_SHOWN, show_later
from simhash_gate.page.measure import Left, Measure, Measures, Sizes, is_listing, survey
from simhash_gate.page.names import (
    have_any,
    speaks_of_chrome,
    speaks_of_menu,
    speaks_of_short,
)
from simhash_gate.page.parse import by_tag, printable
from simhash_gate.page.posts import names_of_posts, post_name
from simhash_gate.page.site import words_of
from simhash_gate.page.threads import is_thread
from simhash_gate.page.title import HEADLINES, Titles, find_titles, headlines_in, letters, text_of
from simhash_gate.page.vocabulary import (
    CHROME_ROLES,
    CHROME_TAGS,
    CONSENT_TOKENS,
    INVISIBLE,
    MEDIA,
    OUTSIDE_TOKENS,
    POST_TOKENS,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from lxml.html import HtmlElement

    from simhash_gate.page.facts import Facts

LARGEST = 0.4  # of the page's text: what holds more is no chrome, whatever it is called
_FORMS = 0.2  # of the text outside of links that is left: in forms, more is no chrome
_SOME_TEXT = 20
_LEFT = 0.2  # of the text in a large box: with less than that left, the box was the page
_LINE = 80  # letters
_PARAGRAPH = 60  # letters: as long is no entry of a menu
_LONG_PARAGRAPH = 200  # letters: one is enough
_PARAGRAPHS = 0.4  # of what a box says: with more in paragraphs it is no menu
_KNOWN_TAGS = CHROME_TAGS | {"html", "body", "main"}
_NEVER_SHOWN = INVISIBLE - {"noscript"}
_SPOKEN = 400  # letters: a plea to turn on scripts is shorter
_OF_ARTICLES = frozenset({"header", "footer"})


class Cleaned(NamedTuple):
    """A page without its chrome: its tree, the size of every element in it, its titles.

    `thread` tells that it is a thread of a forum. `labels` are the elements that may begin with a
    label of an advertisement, and some others.
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
    thread: bool = False


def clean(
    root: HtmlElement,
    titles: Titles | None = None,
    facts: Facts | None = None,
    *,
    whole: bool = False,
) -> Cleaned:
    """Remove the chrome from a page's tree."""
    facts = find_facts(root) if facts is None else facts
    titles = find_titles(root, facts=facts) if titles is None else titles
    thread = is_thread(root, facts)
    drop_all(consent_layers(root, titles))
    show_later(root)
    drop_invisible(root, titles)
    drop_all(_gutters(root))
    body = root.find("body")
    body = root if body is None else body
    visible = blocks(flow(body)) if whole else []
    left = _drop_chrome(root, titles, thread=thread)
    measures, labels = survey(root, left)
    _drop_forms(left.forms, root, measures)
    _drop_large(left.large, root, measures, titles)
    listing = is_listing(measures[body])
    return Cleaned(root, body, measures, labels, listing, titles, left.size, visible, thread)


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
    long = [(note, size) for note in notes if (size := _size(note)) >= _SPOKEN]
    whole = _size(root) if long else 0
    for note, size in long:
        if 2 * size > whole and _has(note, name):
            note.tag = "div"


def _size(element: HtmlElement) -> int:
    return len("".join("".join(element.itertext()).split()))


def _has(element: HtmlElement, name: tuple[str, ...]) -> bool:
    return f" {' '.join(name)} " in f" {' '.join(words_of(' '.join(element.itertext())))} "


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


def _drop_chrome(
    root: HtmlElement, titles: Titles, posts: Collection[str] = (), *, thread: bool = False
) -> Left:
    """Take out what is chrome by name, but for what is too large to be, and for `posts`.

    In a thread of a forum, what is called a comment is a post.
    """
    sizes = Sizes(root)
    left = Left([], [], [], {}, sizes.whole)
    gone = []
    alike: dict[str, int] = defaultdict(int)  # characters in all boxes of a name
    keep = left.elements.append
    outer: set[HtmlElement] = set()
    around = _around_headline(root, titles)
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
        post = thread and element.tag not in CHROME_TAGS and _says(element, POST_TOKENS)
        if post or _is_misnamed(element, size, around):
            keep(element)
            continue
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


def _around_headline(root: HtmlElement, titles: Titles) -> set[HtmlElement]:
    """Return what the headline stands in, if it is the name of the page."""
    name = words_of(titles.title)
    headlines = (
        h1 for h1 in islice(root.iter("h1"), HEADLINES) if name and words_of(text_of(h1)) == name
    )
    return {outer for headline in headlines for outer in headline.iterancestors()}


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
    """Take out large boxes of a page of few words: larger than the article, and still a menu.

    What holds the headline is none, nor is that without which next to nothing is said.
    """
    if not large:
        return
    headlines = list(headlines_in(root, titles))
    named = bool(headlines)
    headlines = headlines or list(islice(root.iter("h1"), HEADLINES))
    around = {outer for headline in headlines for outer in headline.iterancestors()}
    for element in large:
        size, whole = measures[element], measures[root]
        menu = size.links > 0.5 * size.text
        held = element in around and (named or not _says(element, CONSENT_TOKENS))
        if held or not (menu or _is_outside(element)):
            continue
        left = whole.text - size.text
        tagged = menu and element.tag in CHROME_TAGS and left >= _LEFT * size.text
        if left >= _SOME_TEXT and (headlines or tagged or whole.prose >= 2 * size.prose):
            drop(element, measures)


def _is_outside(element: HtmlElement) -> bool:
    """Tell if this is what no article stands in, however large: a footer, what lies over a page."""
    return element.tag == "footer" or _says(element, OUTSIDE_TOKENS)


def _says(element: HtmlElement, words: Collection[str]) -> bool:
    return have_any(f"{element.get('class', '')} {element.get('id', '')}", words)


def _is_chrome(element: HtmlElement) -> bool:
    tag = element.tag
    if tag in _KNOWN_TAGS:
        return tag in CHROME_TAGS and not (tag in _OF_ARTICLES and _in_article(element))
    if "-" in tag and speaks_of_chrome(tag):
        return True
    telling = _TELLING
    return any(name in telling and telling[name](value) for name, value in element.items())


def _is_misnamed(element: HtmlElement, size: int, headline: Collection[HtmlElement]) -> bool:
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
        return size > _LINE and not "".join("".join(element.itertext()).split()).isdigit()
    return speaks_of_menu(names) and _has_paragraphs(element, size)


def _has_paragraphs(element: HtmlElement, size: int) -> bool:
    """Tell if much of what a box says is in runs of text that are no links."""
    runs: list[str] = []
    link: HtmlElement | None = None  # the one around, if any
    for inner in element.iter("*"):
        if link is not None and link in inner.iterancestors():
            continue
        link = inner if inner.tag == "a" else None
        texts = (inner.tail,) if link is not None else (inner.text, inner.tail)
        runs += ["".join(text.split()) for text in texts if text]
    runs = [run for run in runs if letters(run) >= _PARAGRAPH]
    if sum(map(len, runs)) < _PARAGRAPHS * size:
        return False
    return len(runs) > 1 or sum(map(letters, runs)) >= _LONG_PARAGRAPH


def _is_hidden_or_search(form: HtmlElement) -> bool:
    return any(name in form.attrib and _TELLING[name](form.attrib[name]) for name in _OF_FORMS)


def _in_article(element: HtmlElement) -> bool:
    return next(element.iterancestors("article", "main"), None) is not None


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

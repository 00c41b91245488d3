"""What stands in or beside an article and is none of it, and what stands in it again and again.

Link lists, copies and columns; what is beside the one product of a page; and what
stands around the posts of a forum. Neighbours of one kind tell: entries of a list have a link and a
picture, reviews and posts a date. Of posts, what most have in the same place, and what never says
much, is metadata: who wrote it and when, its counters, its signature.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain, islice
from typing import TypeVar, cast

from lxml.etree import iterwalk
from lxml.html import HtmlElement

from simhash_gate.page.address import host_and_path
from simhash_gate.page.boilerplate import DATE, is_called, is_dated, is_signed
from simhash_gate.page.facts import Facts
from simhash_gate.page.measure import LARGEST, Measures, drop_all, text_in
from simhash_gate.page.title import text_of
from simhash_gate.page.vocabulary import FORUMS, HEADINGS, LEAVES, LINK_LISTS, has_word

MANY_LINKS = 10
"""More links than this are no list of related pages, but what a page is about."""

T = TypeVar("T")

_LINK_DENSE = 0.8
_FEW_SITES = 2
_OTHER_SITES = 0.8  # of the links in a list
_PARAGRAPH = 60  # characters of a link, on average: more is no entry of a list, but a card
_INDEX = 0.15  # of an article's text: less is no index, however many links
_BOXES = ("div", "section", "article", "aside", "header", "figure", "blockquote")
_TIMES_READ = 20
_LEVELS = 20
_COPY = 60  # characters: what is shorter may well be said again


def drop_link_lists(article: HtmlElement, measures: Measures) -> None:
    """Remove the lists of links, and the paid links, that stand within an article.

    A list of more than `MANY_LINKS` stays, if it says enough: those are the entries of an index. So
    does one whose links say as much as paragraphs: cards.
    for: news with related stories and paid links between the paragraphs; not for what an article
    recommends on other sites, what a service offers, nor for tables of `div`s.
    """
    largest = LARGEST * measures.text[article]
    least = _INDEX * measures.text[article]
    gone = []
    grids = {article: False}
    walk = iterwalk(article, events=("start",), tag=("a", *LINK_LISTS))
    for _, element in walk:
        size = measures.text[element]
        if not measures.links[element] or element is article:
            continue
        links = links_in_list(element, measures)
        paid = element.tag == "a" and "sponsored" in (element.get("rel") or "")
        if links > MANY_LINKS and size >= least:
            walk.skip_subtree()
        elif size <= largest and (
            paid
            or (
                0 < measures.links[element] < _PARAGRAPH * links
                and not _in_grid(element, grids)
                and not _leads_away(element)
            )
        ):
            gone.append(element)
            walk.skip_subtree()
    drop_all(gone, measures, rule="drop_link_lists")


def _leads_away(box: HtmlElement) -> bool:
    """Tell if each entry of a list leads to another site, as no menu does."""
    hosts = [host_and_path(a.get("href", ""))[0] for a in box.iter("a")]
    return len(hosts) > _FEW_SITES and len({*hosts} - {""}) >= _OTHER_SITES * len(hosts)


def links_in_list(element: HtmlElement, measures: Measures) -> int:
    """Return how many links there are in a list of links; 0 if an element is none."""
    dense = _LINK_DENSE * measures.text[element]
    if element.tag not in LINK_LISTS or measures.links[element] <= dense:
        return 0
    return sum(1 for _ in element.iter("a"))


def drop_copies(article: HtmlElement, measures: Measures) -> None:
    """Remove the boxes that say what another one said before: quotes, copies for other screens.

    Code and tables repeat lines for a reason, and so do paragraphs, and boxes of one kind in the
    same boxes: a refrain.
    for: threads with quotes, and boxes that come again for narrow screens; not for songs.
    """
    boxes_by_size: dict[tuple[int, int], list[HtmlElement]] = defaultdict(list)
    for box in article.iter(*_BOXES):
        if measures.text[box] >= _COPY:
            boxes_by_size[measures.text[box], measures.links[box]].append(box)
    to_read = _TIMES_READ * measures.text[article]  # boxes in boxes are read again for each
    copies: set[HtmlElement] = set()
    for (size, _), boxes in boxes_by_size.items():
        originals: dict[str, HtmlElement] = {}
        text, last = "", None
        to_read -= size * len(boxes)
        for box in boxes if len(boxes) > 1 and to_read > 0 else ():
            around = {*box.iterancestors()}
            text = text if last in around else text_in(box)  # of one size, it says the same
            first, last = originals.get(text), box
            if first is None or first in around:
                originals[text] = box
            elif not (
                any(True for _ in box.iter("pre", "code", "table")) or _is_refrain(box, first)
            ):
                copies.add(box)
    drop_all(_outer(article, copies), measures, rule="drop_copies")


def _outer(article: HtmlElement, boxes: AbstractSet[HtmlElement]) -> list[HtmlElement]:
    """Return those of some boxes that are in none of the others, in document order."""
    found = (box for box in article.iter("*") if box in boxes) if boxes else ()
    return [box for box in found if boxes.isdisjoint(box.iterancestors())]


def _is_refrain(box: HtmlElement, first: HtmlElement) -> bool:
    """Tell if two boxes, and those around each up to what holds both, are of one kind."""
    around = zip((box, *box.iterancestors()), (first, *first.iterancestors()), strict=False)
    for outer, other in islice(around, _LEVELS + 1):
        if outer is other or outer.tag != other.tag or outer.get("class") != other.get("class"):
            return outer is other
    return False


def _in_grid(element: HtmlElement, grids: dict[HtmlElement, bool]) -> bool:
    """Tell if this stands in a table built from `div`s: a cell of it may well be a link."""
    parent = cast("HtmlElement", element.getparent())
    if parent not in grids:
        grids[parent] = len(parent) >= 4 and len({child.tag for child in parent}) == 1
    return grids[parent]


_POST = 100  # characters outside of links, on average: less is an entry of a list
_MOST = 0.5  # of an article's text, in all entries or posts together
_ALL = 0.9  # of what some neighbours say: one with more holds the posts
_WHOLE = LEAVES - {"table"}  # a post may well be laid out by one
_BODY = 0.5  # of what posts say: the box with more is where they say it
_METADATA_SHARE = 0.25  # of what posts say, and characters a post: what is less is metadata
_SHORT = 80
_OFTEN = 0.6  # of all posts
_ENTRIES = 3
_NAME = 40  # characters
_CARD = 120  # characters, on average: more is no name and price


def is_thread(root: HtmlElement, facts: Facts) -> bool:
    """Tell if a page says, to search engines or by its software, that it is a thread of a forum.

    for: forums, whose software calls the posts comments.
    """
    known = any(has_word(value, FORUMS) for value in facts.software)
    boxes = (root, *root.iterchildren("body"))
    return facts.discusses or known or any(is_called(box, FORUMS) for box in boxes)


def is_gallery(box: HtmlElement, measures: Measures) -> bool:
    """Tell if entries, each with a link and a picture, say most of a box.

    for: texts with the products of a shop beside them.
    """
    size = measures.text.__getitem__
    entries = (list(filter(_is_entry, group)) for group in _majority(box, size))
    least = _MOST * size(box)
    return any(len(group) >= _ENTRIES and sum(map(size, group)) >= least for group in entries)


def cards_in(box: HtmlElement, measures: Measures) -> set[HtmlElement]:
    """Return the neighbours of one kind in a box that are entries: three or more."""
    groups = _by_kind(child for child in box if measures.text[child]).values()
    cards = (g for g in groups if len(g) >= _ENTRIES and _are_mostly(_is_entry, g))
    return {card for group in cards for card in group}


def drop_other_products(
    article: HtmlElement, headline_path: AbstractSet[HtmlElement], measures: Measures
) -> None:
    """Remove other products, and what buyers say, from the article of one product.

    They are three neighbours of one kind or more, with a link and a picture, or with a date.
    for: products with similar ones and reviews below.
    """
    gone: set[HtmlElement] = set()
    for holder in article.iter("*"):
        if len(holder) < _ENTRIES or not measures.text[holder]:
            continue
        for group in _by_kind(child for child in holder if measures.text[child]).values():
            if len(group) < _ENTRIES or not headline_path.isdisjoint(group):
                continue
            size = sum(measures.text[e] for e in group)
            is_short = size < min(_MOST * measures.text[article], _CARD * len(group))
            if (is_short and _are_mostly(_is_entry, group)) or _are_mostly(is_signed, group):
                gone.update(group)
    drop_all(_outer(article, gone), measures, rule="drop_other_products")


def _is_entry(box: HtmlElement) -> bool:
    return next(box.iter("a"), None) is not None and next(box.iter("img"), None) is not None


def post_metadata(
    article: HtmlElement, measures: Measures, *, known: bool = True
) -> list[HtmlElement]:
    """Return what stands around the posts of an article, in document order; none if it has none.

    Of what says who wrote them, the names stay. Where nothing makes a thread `known`, posts are
    three or more, have a date and a name that is a link, and no heading that is one.
    for: threads with an author, a date and counters around each post.
    """
    posts = _posts(article, measures)
    if not known and (len(posts) < _ENTRIES or any(map(_is_headed, posts))):
        return []
    found = list(_places(posts, measures))
    dated = [boxes for boxes in found if _are_mostly(is_dated, boxes)]
    names = next(filter(None, map(_authors, found)), [])
    if not dated or not (known or _are_mostly(_is_linked, names)):
        return []
    gone = {box for boxes in (found if known else dated) for box in boxes}
    for box, name in names:
        gone.discard(box)
        keep_name(box, name, measures)
    return [element for element in article.iter("*") if element in gone]


def _is_linked(author: tuple[HtmlElement, str]) -> bool:
    box, name = author
    return any(text_of(link) == name for link in box.iter("a"))


def _is_headed(post: HtmlElement) -> bool:
    """Tell if a heading in a box is a link, as that of an entry is."""
    headings = post.iter(*HEADINGS)
    return any(True for h in headings for _ in chain(h.iter("a"), h.iterancestors("a")))


def keep_name(box: HtmlElement, name: str, measures: Measures) -> None:
    """Leave nothing but a name in a box around what somebody wrote."""
    drop_all([*box], measures, rule="post_metadata")
    box.text = name
    box.tag = "p" if box.tag in LEAVES else box.tag


def _authors(boxes: Sequence[HtmlElement]) -> list[tuple[HtmlElement, str]]:
    """Return the name that stands first in each of some boxes, if most have one.

    It is no date and no label or counter, which most say alike.
    """
    lines = [list(filter(None, map(str.strip, box.itertext()))) for box in boxes]
    times = Counter(label for texts in lines for label in set(map(_label, texts)) - {""})
    most = _OFTEN * len(boxes)
    found = []
    for box, texts in zip(boxes, lines, strict=True):
        names = (t for t in texts if 0 < times[_label(t)] < most and not DATE.search(t))
        if (name := next(names, "")) and len(name) <= _NAME:
            found.append((box, name))
    return found if len(found) >= most else []


def _label(text: str) -> str:
    return "".join(filter(str.isalpha, text))


def _by_kind(elements: Iterable[HtmlElement]) -> dict[tuple[str, str], list[HtmlElement]]:
    """Sort elements by what they are: their tag, and the first name in their class."""
    kinds: dict[tuple[str, str], list[HtmlElement]] = defaultdict(list)
    for element in elements:
        names = element.get("class", "").split()
        kinds[element.tag, names[0] if names else ""].append(element)
    return kinds


def _majority(box: HtmlElement, size: Callable[[HtmlElement], int]) -> Iterator[list[HtmlElement]]:
    """Yield the neighbours of one kind that together are most of a box, outer ones first."""
    least = max(_MOST * size(box), 1)
    holder: HtmlElement | None = box
    while holder is not None and size(holder) >= least:
        for group in _by_kind(filter(size, holder)).values():
            if sum(map(size, group)) >= least:
                yield group
        holder = max(holder, key=size, default=None)


def _posts(article: HtmlElement, measures: Measures) -> Sequence[HtmlElement]:
    """Return the neighbours of one kind that together say most of an article, if there are any."""
    for group in _majority(article, measures.prose):
        sizes = list(map(measures.prose, group))
        if sum(sizes) >= _POST * len(group) and max(sizes) < _ALL * sum(sizes):
            return group
    return []


def _places(posts: Sequence[HtmlElement], measures: Measures) -> Iterator[Sequence[HtmlElement]]:
    """Yield the boxes in each place around what posts say, going down into where they say it."""
    total = sum(map(measures.prose, posts))
    while posts and posts[0].tag not in _WHOLE:
        body: Sequence[HtmlElement] = []
        for boxes in _by_kind(chain.from_iterable(posts)).values():
            size = sum(map(measures.prose, boxes))
            if size >= _BODY * total:
                body = boxes
            elif (
                size < min(_METADATA_SHARE * total, _SHORT * len(boxes))
                and len({box.getparent() for box in boxes}) >= _OFTEN * len(posts)
                and boxes[0].tag not in HEADINGS
            ):
                yield boxes
        posts = body


def _are_mostly(kind: Callable[[T], bool], boxes: Sequence[T]) -> bool:
    return len(boxes) > 0 and sum(map(kind, boxes)) >= _OFTEN * len(boxes)

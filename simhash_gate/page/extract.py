"""The part of a cleaned tree that is the page's own.

A reader mode looks for the best text; a gate needs the same text from both copies of a page,
whatever stands around it, and all of it. So the boundary is found by walking: from the body into
the one child that holds most of what is left, as long as there is one. What stands beside it comes
back if it is text as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from itertools import chain, islice, takewhile
from typing import NamedTuple, Protocol, cast

from lxml import html
from lxml.html import HtmlElement

from simhash_gate.page.asides import (
    MANY_LINKS,
    cards_in,
    drop_copies,
    drop_link_lists,
    drop_other_products,
    is_gallery,
    links_in_list,
    post_metadata,
)
from simhash_gate.page.clean import Cleaned
from simhash_gate.page.measure import Measures, drop_all, size_of
from simhash_gate.page.parse import printable
from simhash_gate.page.title import Titles, headlines_in, says_title, text_of, words_of
from simhash_gate.page.vocabulary import BOILERPLATE_TAGS, FLOW, HEADINGS, LEAVES

_SHARE = 0.6  # of the text that is left: what holds it is where the article is
_OWN_TEXT = 0.1
_NAMED_SHARE = 0.2
_PROSE = 60  # a paragraph; on a short page anything is one
_SHORT = 300
_PREAMBLE = 0.2
_NOTICE = 200
_BYLINE = 60  # characters between a headline and its story, and their share: less is a byline
_BYLINE_SHARE = 0.1
_LEAD = 0.02  # of a story: what is less, and above its largest part, is a notice
_TAIL = 0.1  # of a text: what is less, and below its largest part, is who wrote it, an appeal
_PART_LINKS = 0.2  # of a part
_HEADLINES = 20
_SECTIONS = HEADINGS - {"h1"}  # what parts of a text begin with
_LEFTOVER = 200  # characters, and their share of all: more is no leftover
_LEFTOVER_SHARE = 0.2


class Article(NamedTuple):
    """What a page is about: an element of its tree, and whether it is a list of other pages.

    `titled` tells that the article begins with the title of the page, for want of its own headline.
    """

    element: HtmlElement
    listing: bool
    titled: bool = False


class Extractor(Protocol):
    """Anything that finds the article of a cleaned page; named by its class path in the options."""

    def __call__(self, page: Cleaned) -> Article:
        """Return the article; the tree is the extractor's to change."""


class SteadyExtractor:
    """The default: steady boundaries, the same on both copies of a page."""

    def __call__(self, page: Cleaned) -> Article:
        """Return the article, from its headline on, without the link lists inside."""
        measures = page.measures
        start, listing = _article_with_headline(page) or _main(page) or (page.body, page.listing)
        headlines = chain(headlines_in(page.root, page.titles), page.root.iter("h1"))
        headline = next(headlines, None)
        headline_path = set() if headline is None else {headline, *headline.iterancestors()}
        element = _descend(start, headline_path, measures, listing)
        element = _with_parts(element, start, headline, page)
        if page.facts.kind == "product":
            drop_other_products(element, headline_path, measures)
        if not listing:
            found = post_metadata(element, measures, known=page.thread)
            drop_all(found, measures, rule="post_metadata")
            drop_link_lists(element, measures)
        drop_copies(element, measures)
        if _start_at_headline(element, page):
            return Article(element, listing)
        _put_headline(element, page.titles)
        return Article(element, listing, True)


class ReadabilityExtractor:
    """readability-lxml as it comes; the usual containers where it fails or gives too little."""

    containers = ".//article|.//main|.//*[@role='main']|.//*[@id='content']"
    least_text = 140

    def __call__(self, page: Cleaned) -> Article:
        """Return readability's summary, or the first container with enough text."""
        from readability import Document  # most page-reading processes need not load it

        try:
            summary = html.fragment_fromstring(Document(page.root).summary(html_partial=True))
            found = size_of(summary) >= self.least_text
        except Exception:  # readability raises whatever lxml does on odd trees
            found = False
        if found:
            return Article(summary, page.listing)
        candidates = [*page.root.xpath(self.containers), page.body]
        enough = (e for e in candidates if page.measures.text[e] >= self.least_text)
        return Article(next(enough, page.body), page.listing)


def is_leftover(article: Article, page: Cleaned) -> bool:
    """Tell if an article may be boilerplate that was not known as such, and what is said was.

    It is short, a small part of all that the page says, and has no headline.
    """
    element = article.element
    size = page.measures.text.get(element) or size_of(element)
    if size > _LEFTOVER or size > _LEFTOVER_SHARE * page.size:
        return False
    if article.titled:
        return True
    return next(chain(element.iter("h1"), headlines_in(element, page.titles)), None) is None


def _main(page: Cleaned) -> tuple[HtmlElement, bool] | None:
    """The page's one `main`, if most of its prose is there, and whether that is a listing.

    for: templates with a column that is longer than the article.
    """
    mains = [e for e in page.root.iter("main", "div", "section") if _is_main(e)]
    if len(mains) != 1:
        return None
    main, measures = mains[0], page.measures
    has_most = measures.text[main] and 2 * measures.prose(main) >= measures.prose(page.body)
    return (main, measures.is_listing(main)) if has_most else None


def _article_with_headline(page: Cleaned) -> tuple[HtmlElement, bool] | None:
    """The `article` that alone has the page's headline, however long the lists beside it are.

    for: news beside longer columns.
    """
    is_headline = cache(partial(says_title, titles=page.titles))  # many articles may hold a heading
    articles = [
        e
        for e in page.root.iter("article")
        if any(map(is_headline, islice(e.iter("h1", "h2"), _HEADLINES)))
    ]
    if not articles or not set(articles[-1].iterancestors()).issuperset(articles[:-1]):
        return None
    measures = page.measures
    if measures.prose(articles[-1]) < _NAMED_SHARE * measures.prose(page.body):
        return None
    return articles[-1], measures.is_listing(articles[-1])


def _is_main(element: HtmlElement) -> bool:
    return "main" in (element.tag, element.get("role"))


def _is_article(element: HtmlElement) -> bool:
    return element.tag == "article" or _is_main(element) or element.get("itemprop") == "articleBody"


def _descend(
    element: HtmlElement, headline_path: set[HtmlElement], measures: Measures, listing: bool
) -> HtmlElement:
    """Walk into the child that holds most, unless that is a column above the headline.

    An index above is what a page is about, whatever text follows.
    for: short posts beside a longer column.
    """
    in_article = listing
    while True:
        # Links are boilerplate's most of the time; inside an article they are its own.
        in_article = in_article or _is_article(element)
        sizes = [
            (measures.text[child] if in_article else measures.prose(child), child)
            for child in element
        ]
        whole = measures.text[element] if in_article else measures.prose(element)
        least = _PROSE if whole > _SHORT else 1
        size, best = max(sizes, key=lambda pair: pair[0], default=(0, None))
        if (
            best is None
            or size < _SHARE * whole
            or best.tag in LEAVES
            or whole - sum(size for size, _ in sizes) > _OWN_TEXT * whole
            or any(e.tag in FLOW and measures.prose(e) >= least for e in element)
            or not headline_path.isdisjoint(best.itersiblings())
            or (best not in headline_path and _is_below_index(best, headline_path, measures))
        ):
            return element
        element = best


def _is_below_index(
    element: HtmlElement, headline_path: set[HtmlElement], measures: Measures
) -> bool:
    above = takewhile(lambda e: e not in headline_path, element.itersiblings(preceding=True))
    return any(links_in_list(e, measures) > MANY_LINKS for e in above)


def _with_parts(
    element: HtmlElement, start: HtmlElement, headline: HtmlElement | None, page: Cleaned
) -> HtmlElement:
    """Return the smallest box with an article, its headline and its other parts; the rest goes.

    The headline is looked for in all of the page, the parts below it, and not beside what says that
    it is the article.
    for: products: name, price and number stand beside the description.
    """
    path = [element, *element.iterancestors()]
    headline_path = set() if headline is None else {headline, *headline.iterancestors()}
    is_named = headline is not None and says_title(headline, page.titles)
    # What stands beside the entries of a shop is said of them.
    is_text = page.facts.is_story or not is_gallery(element, page.measures)
    size = page.measures.text[element] if is_text else 0
    top = element if is_named and is_text and not _is_article(start) else start
    kept, height = {*path}, 0
    if headline_path.isdisjoint(path[:1]) and headline not in (None, *path):
        box = next(ancestor for ancestor in path if ancestor in headline_path)
        top = box if is_named else top
        if head := _head(box, element, headline_path, page):
            kept, height = kept | head, path.index(box)
    outer = [e for e in path if e.tag == "article"][-1:]
    for place, part in enumerate(path, 1):
        if part in (top, *outer) or part.get("itemprop") == "articleBody":
            break
        if parts := _parts(part, headline_path if is_named else set(), page, size):
            kept.update(parts)
            height = max(height, place)
    for holder in path[1 : height + 1]:
        drop_all([e for e in holder if e not in kept], page.measures, rule="with_parts")
    return path[height]


def _head(
    box: HtmlElement, article: HtmlElement, headline_path: set[HtmlElement], page: Cleaned
) -> set[HtmlElement]:
    """Return what stands above an article in a box: its headline, a name, a price, a choice.

    Of a story what stands between the two may be a byline, and is none of it.
    """
    measures = page.measures
    path = {article, *article.iterancestors()}
    above = [*next(child for child in box if child in path).itersiblings(preceding=True)]
    first = next((place for place, e in enumerate(above, 1) if e in headline_path), 0)
    if page.facts.is_story:
        headings = [h for e in above[:first] for h in e.iter(*HEADINGS)]
        prose = sum(map(measures.prose, above[:first])) - sum(map(measures.prose, headings))
        if prose <= max(_BYLINE, _BYLINE_SHARE * measures.text[article]):
            return set()
    return {*above} if first else set()


def _parts(
    part: HtmlElement, headline_path: set[HtmlElement], page: Cleaned, size: int
) -> list[HtmlElement]:
    """Return the neighbours of a part of an article that are others, below its headline.

    They are no links and no cards of other pages. What is short beside all that the article says is
    who wrote it, an appeal, a notice, unless it is a section as the part is.
    for: pages in rows and groups, and questions beside their answers.
    """
    measures, box = page.measures, cast("HtmlElement", part.getparent())
    least = (_TAIL if not headline_path else _LEAD if page.facts.is_story else 0) * size
    prose = _PROSE if measures.text[box] > _SHORT else 1
    below = part in headline_path or box not in headline_path
    found = []
    for other in box:
        if other is part:
            least = _TAIL * size
        elif other in headline_path:
            below = True
        elif (
            below
            and other.tag not in BOILERPLATE_TAGS
            and measures.prose(other) >= prose
            and measures.links[other] <= _PART_LINKS * measures.text[other]
            and (measures.text[other] >= least or _are_sections(other, part))
        ):
            found.append(other)
    cards = cards_in(box, measures) if found else ()
    found = [other for other in found if other not in cards and not is_gallery(other, measures)]
    above = [other.getprevious() for other in (part, *found)] if found else []
    return found + [e for e in above if e is not None and e.tag in HEADINGS]


def _are_sections(element: HtmlElement, other: HtmlElement) -> bool:
    """Tell if two neighbours are sections of a text: boxes of one kind, or under headings alike.

    for: articles in sections, and handbooks with one that is longer than all others.
    """
    kinds = [(e.tag, e.get("class") or e.tag == "section") for e in (element, other)]
    levels = {_first_heading(element), _first_heading(other)}
    above = [e.getprevious() for e in (element, other)]
    tags = {None if e is None else e.tag for e in above}
    return (
        (kinds[0] == kinds[1] and bool(kinds[0][1]))
        or (len(levels) == 1 and "" not in levels)
        or (len(tags) == 1 and tags <= _SECTIONS)
    )


def _start_at_headline(article: HtmlElement, page: Cleaned) -> bool:
    """Remove what stands above the headline: notices, kickers, a template's copy of it.

    False if the article begins with no heading at all.
    for: archives and blogs with a notice above the headline.
    """
    limit = max(_PREAMBLE * page.measures.text[article], _NOTICE)
    found = None
    for heading in islice(article.iter("h1", "h2"), _HEADLINES):
        is_headline = _is_headline(heading, page.titles)
        if is_headline and sum(_prose_before(heading, article, page.measures)) <= limit:
            found = heading
    known = found is not None or bool(_first_heading(article))
    while found is not None and found is not article:
        above = [*found.itersiblings(preceding=True)][::-1]
        drop_all(above, page.measures, rule="start_at_headline")
        found = found.getparent()
        if found is not None:
            found.text = None
    return known


def _is_headline(heading: HtmlElement, titles: Titles) -> bool:
    """Tell if a heading is what the page's head says, or that with a word of the kind of thing."""
    words = words_of(text_of(heading))
    forms = (words, words[1:], words[:-1]) if heading.tag == "h1" else (words,)
    return not titles.variants.isdisjoint(forms)


def _first_heading(box: HtmlElement) -> str:
    """Return the tag of the heading that a box begins with, "" if it begins with anything else."""
    first = (e.tag for e in box.iter("*") if e.tag in HEADINGS or (e.text or "").strip())
    tag: str = next(first, "")
    return tag if tag in HEADINGS else ""


def _put_headline(article: HtmlElement, titles: Titles) -> None:
    """Give the article the headline that its template keeps elsewhere, or writes as plain text.

    for: templates with the headline outside of the article, or in the head alone.
    """
    if titles.title and article.tag not in LEAVES:
        first = next((e for e in article.iter("*") if (e.text or "").strip()), None)
        if first is not None and words_of(first.text) in titles.variants:
            first.text = None
        put_headline(article, titles.title)


def put_headline(article: HtmlElement, title: str) -> None:
    """Let an article begin with a headline."""
    headline = html.Element("h1")
    headline.text = printable(title)
    headline.tail, article.text = printable(article.text or ""), None
    article.insert(0, headline)


def _prose_before(heading: HtmlElement, article: HtmlElement, measures: Measures) -> Iterator[int]:
    element: HtmlElement | None = heading
    while element is not None and element is not article:
        for sibling in element.itersiblings(preceding=True):
            yield measures.text[sibling] - sum(measures.text[h] for h in sibling.iter(*HEADINGS))
        element = element.getparent()

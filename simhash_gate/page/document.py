"""Bytes of a page -> its document: all that the page says, found in one reading.

A page that is a shell for scripts has the text that its structured data have.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape, unescape
from itertools import compress, islice
from typing import NamedTuple, cast

from lxml.etree import XPath
from lxml.html import HtmlElement

from simhash_gate.page.address import file_addresses, media_files
from simhash_gate.page.blocks import Block, blocks, captions
from simhash_gate.page.clean import Cleaned, clean
from simhash_gate.page.elements import Elements, find_elements
from simhash_gate.page.extract import Article, Extractor, is_leftover, put_headline
from simhash_gate.page.facts import Facts, Kind, find_facts
from simhash_gate.page.flow import Flow, flow
from simhash_gate.page.formulas import show_formulas
from simhash_gate.page.hidden import (
    drop_icons,
    drop_invisible,
    edit_links,
    label_panels,
    permalinks,
)
from simhash_gate.page.measure import are_in, drop_all
from simhash_gate.page.offer import Field, find_fields, find_offer, has_price, offer_by_headline
from simhash_gate.page.parse import parse, show_frames
from simhash_gate.page.skeleton import pack_anchors
from simhash_gate.page.structured import Node, types, values
from simhash_gate.page.survey import Survey
from simhash_gate.page.title import Titles, find_titles, words_of


class Document(NamedTuple):
    """What a page says.

    `flow` is its article, and `blocks` the text of that; a page that says no more than its head
    does has no `blocks`. `offered` and `fields` are names and what the page says of them: what it
    offers; the user's own selectors, and its frames. `leftover_of` is the title of a page of which
    little but boilerplate may be left, else "". `shown` is all that the page shows, `ads` are the
    lines of its advertisements. `places` tell where each line stands, and `left` if cleaning has
    left it; of a `single` page, which is one thing, `left` is empty. `contacts` are the numbers and
    addresses that links call or write to. `anchors` are all of its links, if asked for.
    """

    facts: Facts
    titles: Titles
    article: Article
    flow: Flow
    blocks: list[Block]
    offered: tuple[Field, ...]
    fields: tuple[Field, ...]
    leftover_of: str
    shown: Survey
    ads: set[str]
    places: list[int]
    left: list[bool]
    contacts: list[str]
    single: bool
    anchors: bytes = b""

    @property
    def headline(self) -> str:
        """The heading that the article begins with, "" if it begins with anything else.

        Below a headline that data, the address or a title repeat, it must say the same.
        """
        first = self.blocks[0].text if self.blocks[0].kind == "heading" else ""
        named = words_of(self.titles.headline) in self.titles.own
        return first if not named or words_of(first) in self.titles.variants else ""

    @property
    def name(self) -> str:
        """The headline of the page, "" if it has none.

        It is that of the article where data, the address or a title say so, and of no `h1`.
        """
        names = [self.titles.headline, "" if self.article.titled else self.headline]
        return max(names, key=lambda name: words_of(name) in self.titles.own)

    def controls(self, base: str) -> list[str]:
        """Return what can be played and done in the article: files, and labels of buttons."""
        article = self.article.element
        buttons = [*article.iter("button")]
        for button in self.facts.elements.by_tag["button"][:_BUTTONS]:
            box = button.getparent()
            if not buttons and box is not None and has_price(islice(box.itertext(), _TEXTS)):
                buttons.append(button)
        labels = {_NO_LETTER.sub(" ", button.get("value", "")).strip() for button in buttons}
        return [*media_files(article, base), *sorted(labels - {""})]

    @property
    def struck(self) -> list[str]:
        """The texts of the article that are struck out: they are no longer so."""
        struck = cast(list[HtmlElement], _STRUCK(self.article.element))
        return [" ".join("".join(element.itertext()).split()) for element in struck]

    @property
    def times(self) -> list[str]:
        """The texts that stand for a date, however they say it."""
        times = self.facts.elements.by_tag["time"][:_TIMES]
        dated = [time for time in times if time.get("datetime", "P")[:1] not in "Pp"]
        return [" ".join("".join(time.itertext()).split()) for time in dated]

    def files(self, base: str, *, everywhere: bool) -> list[str]:
        """Return the addresses of files that links lead to, of the article or of the whole page."""
        links = self.facts.elements.by_tag["a"] if everywhere else self.article.element.iter("a")
        return sorted(file_addresses(links, base))

    @property
    def captions(self) -> set[str]:
        """The texts under the images of the article, which a print view has not.

        Of an article that is little but captions they are what it says: there are none.
        """
        found = set(captions(self.article.element))
        all_it_says = sum(len(block.text) for block in self.blocks)
        return found if sum(map(len, found)) <= _CAPTIONS * all_it_says else set()


def read_document(
    body: bytes,
    url: str,
    encoding: str | None,
    extractor: Extractor,
    *,
    selectors: Iterable[str] = (),
    anchors: bool = False,
) -> Document | None:
    """Read a page, and find its article by an extractor; None for a page with nothing in it."""
    root = parse(body, encoding)
    if root is None:
        return None
    frames = " ".join(media_files(root, url)) if root.find("frameset") is not None else ""
    show_frames(root)
    elements = find_elements(root)  # with these held, to find one again takes a third of the time
    drop_all(permalinks(elements), rule="permalinks")
    drop_all(edit_links(elements), rule="edit_links")
    drop_icons(elements)
    label_panels(elements)
    show_formulas(root, elements)
    facts = find_facts(root, url, elements)
    links = pack_anchors(root, facts.base) if anchors else b""
    offered = find_offer(facts)
    fields = (*find_fields(root, selectors), *([("frames", frames[:_FRAMES])] if frames else ()))
    titles = find_titles(root, url, facts)
    cleaned = clean(root, titles, facts)
    single = facts.kind in _SINGLE or bool(offered)
    left = [] if single else are_in(root, cleaned.shown.holders)
    contacts = find_contacts(root, elements)
    article = extractor(cleaned)
    content = flow(article.element)
    found = blocks(content)
    declared = None
    if facts.main and is_lost(found, article, cleaned, facts.kind):
        declared = declared_article(facts.main, titles.title)
    if declared is not None or not found:  # an extractor of the user's may find nothing
        article = declared or Article(cleaned.body, True)
        content = flow(article.element)
        found = blocks(content)
    is_rest = declared is None and is_leftover(article, cleaned)
    if says_title_alone(found, article):
        # It says no more than its head does, which may be the same on every page of a site.
        found = []
    if found and facts.sells:
        priced = "price" in dict(offered)  # prices in a text may be those of other things
        offered += tuple(
            it for it in offer_by_headline(found) if not priced or "price" not in it[0]
        )
    content, shown, ads = content._replace(base=facts.base), cleaned.shown, cleaned.ads
    leftover_of = (titles.whole or titles.title) if is_rest else ""
    return Document(
        *(facts, titles, article, content, found, offered, fields, leftover_of, shown, ads),
        *(cleaned.places, [] if article.listing or offered else left, contacts, single, links),
    )


_STRUCK = XPath(".//del | .//s | .//strike | .//*[contains(@style, 'line-through')]")
_CONTACT = re.compile(r"\A\s*(?:tel|mailto):([^?]*).*", re.I | re.S)
_SINGLE = frozenset({"article", "product", "forum", "documentation"})
_BODIES = ("articleBody", "text", "reviewBody")
_TYPES_WITH_TEXT = frozenset({"Product", "ProductGroup"})  # elsewhere it is a summary
_TAG = re.compile(r"</?[a-z][a-z0-9]*\b[^<>]*>", re.I)
_NO_LETTER = re.compile(r"[\W\d]+")  # signs, and counters
_CAPTIONS = 0.06  # of an article
_BUTTONS, _TEXTS = 20, 60  # texts around a button
_TIMES = 200
_FRAMES = 500  # characters
_SHELL = 200  # characters: a page that says less is one that scripts fill
_LEAST = 200  # characters: less is a caption, or the site's own line about itself


def find_contacts(root: HtmlElement, elements: Elements) -> list[str]:
    """Return whom the links of a page, as far as they are left in it, call or write to."""
    links = [link for link in elements.by_tag["a"] if _CONTACT.match(link.get("href", ""))]
    left = compress(links, are_in(root, links))
    return sorted({_CONTACT.sub(r"\1", link.get("href", "")).strip() for link in left} - {""})


def is_lost(found: list[Block], article: Article, page: Cleaned, kind: Kind | None) -> bool:
    """Tell if what was found of a page is not what it is about."""
    if says_title_alone(found, article) or page.size < _SHELL:
        return True
    return (article.listing and kind == "article") or is_leftover(article, page)


def says_title_alone(found: list[Block], article: Article) -> bool:
    """Tell if what was found says no more than the page's head does."""
    return not found or (len(found) == 1 and article.titled and found[0].kind == "heading")


def declared_article(main: Node, title: str) -> Article | None:
    """Return what the node of a page's main entity says, under the title; None if it is little.

    for: pages that scripts fill, with their text in JSON-LD.
    """
    names = (*_BODIES, "description") if types(main) & _TYPES_WITH_TEXT else _BODIES
    texts = (text for name in names for text in values(main.get(name)) if isinstance(text, str))
    said = next(filter(None, texts), "")
    said = unescape(said) if "<" not in said else said
    if not _TAG.search(said):
        lines = filter(str.strip, unescape(said).splitlines())
        said = "".join(f"<p>{escape(line)}</p>" for line in lines)
    root = parse(said.encode("utf-8", "replace"))
    article = None if root is None else root.find("body")
    if root is None or article is None:
        return None
    drop_invisible(root)
    if sum(map(len, article.itertext())) < _LEAST:
        return None
    article.tag = "article"
    if title:
        put_headline(article, title)
    return Article(article, False, bool(title))

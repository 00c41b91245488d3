"""Bytes of a page -> its document: all that the page says, found in one reading."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from simhash_gate.page.address import canonical_address
from simhash_gate.page.blocks import blocks, captions
from simhash_gate.page.clean import clean
from simhash_gate.page.extract import Article, heading_above, is_leftover
from simhash_gate.page.facts import find_facts
from simhash_gate.page.fields import find_fields
from simhash_gate.page.flow import flow
from simhash_gate.page.markdown import Draft
from simhash_gate.page.media import image_names, played_names
from simhash_gate.page.offer import find_offer, offer_by_headline
from simhash_gate.page.parse import parse
from simhash_gate.page.shell import is_lost, says_title_alone, told_article
from simhash_gate.page.title import find_titles, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simhash_gate.page.blocks import Block
    from simhash_gate.page.extract import Extractor
    from simhash_gate.page.facts import Facts
    from simhash_gate.page.title import Titles

    Said = tuple[tuple[str, str], ...]


class Document(NamedTuple):
    """What a page says.

    `blocks` is the text of its article, and `draft` what Markdown is made of it from; a page that
    says no more than its head does has no `blocks`. `offered` and `fields` are names and what the
    page says of them: what it offers, and the user's own selectors. `leftover_of` is the title of a
    page of which little but chrome may be left, else "". `canonical` is the page's own address, and
    `whole` all of its text, if that was asked for.
    """

    facts: Facts
    titles: Titles
    article: Article
    draft: Draft
    blocks: list[Block]
    offered: Said
    fields: Said
    leftover_of: str
    canonical: str
    whole: list[Block]

    @property
    def headline(self) -> str:
        """The heading that the article begins with, "" if it begins with anything else."""
        return self.blocks[0].text if self.blocks[0].kind == "heading" else ""

    @property
    def images(self) -> list[str]:
        """The file names of the images of the article."""
        return image_names(self.article.element)

    @property
    def played(self) -> list[str]:
        """The file names of the videos and sounds of the article."""
        return played_names(self.article.element)

    @property
    def captions(self) -> Iterable[Block]:
        """What stands under the images of the article."""
        return captions(self.article.element)

    @property
    def outer_headline(self) -> tuple[str, str]:
        """The heading before an article that has none of its own, and the place where it stands."""
        heading = heading_above(self.article)
        if heading is None:
            return "", ""
        places = (heading.getparent(), heading)
        return text_of(heading), " ".join(f"{e.tag} {e.get('class', '')}" for e in places)


def read_document(
    body: bytes,
    url: str,
    encoding: str | None,
    extractor: Extractor,
    *,
    selectors: Iterable[str] = (),
    whole: bool = False,
) -> Document | None:
    """Read a page, and find its article by an extractor; None for a page with nothing in it."""
    root = parse(body, encoding)
    if root is None:
        return None
    facts = find_facts(root, url)
    canonical = canonical_address(root, url) if whole else ""
    offered = find_offer(root, facts)
    fields = find_fields(root, selectors)
    titles = find_titles(root, url, facts)
    cleaned = clean(root, titles, facts, whole=whole)
    article = extractor(cleaned)
    content = flow(article.element)
    found = blocks(content)
    leftover_of = ""
    told = None
    if facts.main and is_lost(found, article, cleaned, facts.kind):
        told = told_article(facts.main, titles.title)
    if told is not None:
        article = told
    elif not found:  # an extractor of the user's may find nothing
        article = Article(cleaned.body, True)
    if told is not None or not found:
        content = flow(article.element)
        found = blocks(content)
    if told is None and is_leftover(article, cleaned):
        leftover_of = titles.whole or titles.title
    if says_title_alone(found, article):
        # It says no more than its head does, which may be the same on every page of a site.
        found = []
    if found and facts.kind in ("product", None):  # what a text tells of is not on sale
        offered = (*offered, *offer_by_headline(found))
    draft = Draft(content, facts.base)
    return Document(
        facts,
        titles,
        article,
        draft,
        found,
        offered,
        fields,
        leftover_of,
        canonical,
        cleaned.whole,
    )

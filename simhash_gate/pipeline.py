"""Bytes -> `Page` with its fingerprint: all that a worker, a notebook or an executor needs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

import mmh3
import numpy as np

from simhash_gate.byline import find_byline
from simhash_gate.common.encoded import as_bytes, other_than_html
from simhash_gate.common.urls import host_of, of_longest_domain, without_credentials
from simhash_gate.common.wording import require
from simhash_gate.compare.apart import EXCUSES, why
from simhash_gate.compare.names import LONGEST_NAME, numbers_and_signs
from simhash_gate.compare.sketch import Sketch, WordSet, hash_of
from simhash_gate.fingerprints.folding import CHARACTER, MORE, HashedLines, hashes_of
from simhash_gate.fingerprints.lines import Kind, Lines, cut_lines
from simhash_gate.fingerprints.simhash import (
    shingle_hashes,
    simhash,
    simhash_of_hashes,
    simhash_of_set,
)
from simhash_gate.fingerprints.words import SIGNS
from simhash_gate.fingerprints.words import words as words_of
from simhash_gate.identity.address import without_visitor
from simhash_gate.identity.keys import canonical_urls
from simhash_gate.look import PageText, is_long
from simhash_gate.options import Options, made_of
from simhash_gate.page import UNREADABLE, Page
from simhash_gate.page.address import image_files, joined
from simhash_gate.page.blocks import plain_text
from simhash_gate.page.document import Document, read_document
from simhash_gate.page.flow import unpack
from simhash_gate.page.measure import STEPS
from simhash_gate.page.offer import Field
from simhash_gate.page.skeleton import link_targets, tag_paths

__all__ = ["STEPS", "Reading", "read_closely", "read_page"]


@dataclass(frozen=True)
class Reading:
    """A page, with what it shows where it has a text."""

    page: Page
    document: Document | None = None
    look: PageText | None = None

    @property
    def text(self) -> str:
        """The Markdown as plain text, its marks taken off."""
        return plain_text(unpack(self.page.article)) if self.page.article else ""

    @property
    def lines(self) -> list[tuple[str, str]]:
        """The lines of the page, and what excuses each that another page lacks, "" for nothing."""
        if self.look is None:
            return []
        lines = zip(self.look.tokens, map(why, self.look.kinds), strict=True)
        return [(" ".join(line), EXCUSES[excuse] if excuse else "") for line, excuse in lines]


def read_page(
    body: bytes, *, url: str = "", encoding: str | None = None, options: Options = Options()
) -> Page:
    """Read a page's article from its bytes. `encoding` is what the HTTP header says.

    Links in its Markdown carry no user name and password of `url`. Never raises on bad HTML: a page
    that can't be read has no fingerprint, and a reason. Raises TypeError for what is no page.
    """
    return read_closely(body, url=url, encoding=encoding, options=options).page


def read_closely(
    body: bytes, *, url: str = "", encoding: str | None = None, options: Options = Options()
) -> Reading:
    """Read a page as `read_page` does, and return it with its words."""
    require(body, bytes, "the bytes of a page")
    require(url, str, "a URL as a string")
    require(encoding or "", str, "the name of an encoding")
    require(options, Options, "Options")
    try:
        reading = _read(body, without_credentials(url), encoding, options)
        if options.markdown:
            _ = reading.page.markdown  # it is made now, and goes with the page
    except Exception as error:  # a parser or a user's extractor may do anything to one page
        return _without(f"{UNREADABLE} {type(error).__name__}: {error}")
    return reading


def _read(body: bytes, url: str, encoding: str | None, options: Options) -> Reading:
    if other := other_than_html(body):
        return _without(f"not html: {other}")
    selectors = dict(options.compare)
    fields_of = of_longest_domain(host_of(url), selectors, selectors.get("", ()))
    extractor, anchors = made_of(options.extractor), options.anchors
    document = read_document(body, url, encoding, extractor, selectors=fields_of, anchors=anchors)
    if document is None:
        return _without("empty page")
    title, facts, blocks = document.titles.title, document.facts, document.blocks
    base = joined(url, facts.base)
    fields: dict[str, Any] = {
        "url": url,
        "article": document.flow.pack(),
        "anchors": document.anchors,
        "without": options.without,
        **{name: getattr(facts, name) for name in ("kind", "price", "language", "description")},
        **find_byline(document, url),
        "site": document.titles.site,
        "structure": simhash_of_set({*tag_paths(document.shown.tags)}),
        "targets": _targets(document.shown.hrefs, base),
        "canonical": "\n".join({*canonical_urls(body, url)}),
    }
    if not blocks:
        return _without("no text", title, fields)
    text = PageText.of(document)
    tokens, volatile = text.tokens[: len(blocks)], text.volatile
    kept = [word for line, gone in zip(tokens, volatile, strict=True) if not gone for word in line]
    article, lasting = text.article, ~np.array(volatile)
    count = article.only(lasting[article.lines]).total()
    # Templates write the headline in several ways: where there is more, a page is known by that.
    if document.headline and lasting[0] and is_long(kept[len(tokens[0]) :]):
        lasting[0] = False
    hashed = article.only(lasting[article.lines])
    if not count:
        hashed, count = article, article.total()
    compared = _compared(document, base, count)
    fingerprint = None
    if count and options.features:
        own = kept or list(chain.from_iterable(tokens))
        features = made_of(options.features)(own)
        if leftover_of := document.leftover_of:  # as in `_fingerprint`
            features = {f"{leftover_of} {name}": weight for name, weight in features.items()}
        fingerprint = simhash(features) if features else None
    elif count:
        fingerprint = _fingerprint(hashed, document.leftover_of)
    lines, shown = _lines(document, text, base, count)
    page = Page(
        title=title,
        words=count,
        fingerprint=fingerprint,
        digest=_digest(document, text, lines),
        listing=text.listing,
        reason=None if fingerprint is not None else "no features" if count else "no words",
        sketch=_sketch(document, text, compared, lines).encode(),
        lines=shown,
        **fields,
    )
    return Reading(page, document, text)


def _fingerprint(words: HashedLines, title: str) -> int:
    """Hash a page. `title` is that of one of which little but boilerplate may be left, else "".

    What is left of a site's boilerplate is the same on many pages. Under one title such pages are
    as near as they were, under another as far as any two. Its words may come in any order:
    templates have the site first.
    """
    salt = 0
    if title:
        tokens = words_of(title)
        named = *sorted({*tokens} - SIGNS), *filter(SIGNS.__contains__, tokens)
        salt = mmh3.hash64(as_bytes(" ".join(named)), signed=False)[0]
    return simhash_of_hashes(shingle_hashes(words, salt))


MOST_TARGETS = 2_000
"""Addresses that a page is said to link to."""
_FEW_WORDS = 60  # beside these, a file to download is what the page is about
_LONGEST = 300  # characters
_PICTURED = 40  # words: with fewer, a picture tells a page from others
_PICTURES = 3  # of so many, with so few words for each, one tells at a revisit

_BLANK = re.compile(r"\s")


def _lines(document: Document, text: PageText, base: str, words: int) -> tuple[Lines, bytes]:
    """Return the lines of a page, and their words, one a line: the article, then a blank line.

    What it shows in another way than by words has a line of its own.
    """
    few, images = words <= _PICTURED, image_files(document.article.element, base)
    pictured = few or (len(images) >= _PICTURES and words <= _PICTURED * len(images))
    code = [block.code for block in document.blocks if block.code]
    marks = (
        ("code", Kind.CONTENT, code),
        ("indented", Kind.MARK, [_BLANK.sub("_", block) for block in code if "\n" in block]),
        ("struck", Kind.CONTENT, document.struck),
        ("contact", Kind.CONTENT | Kind.MARK, document.contacts),
        ("play", Kind.CONTENT | Kind.MARK, document.controls(base)),
        ("image", Kind.MARK | Kind.CONTENT * few, images if pictured else []),
    )
    tokens = [[f"\ue000{sort}", _in_one(text)] for sort, _, texts in marks for text in texts]
    kinds = [kind for _, kind, texts in marks for _ in texts]
    sorts = [number for number, (_, _, texts) in enumerate(marks) for _ in texts]
    lines, starts = cut_lines(text.hashed, text.kinds, text.places)
    others, _ = cut_lines(HashedLines.of(tokens), kinds, sorts)
    flat = [*chain.from_iterable(text.tokens)]
    shown = [" ".join(flat[start:end]) for start, end in pairwise(starts.tolist())]
    said = int(np.searchsorted(text.hashed.lines[starts[:-1]], text.said))
    shown[said:said] = [""]
    shown += map(" ".join, tokens)
    return lines.beside(others), "\n".join(shown).encode("utf-8", "replace")


def _in_one(text: str) -> str:
    return "_".join(text.split()).encode("utf-8", "replace").decode()


def _digest(document: Document, text: PageText, lines: Lines) -> int:
    """Hash the lines by which a page can be told, and its pictures. A listing has any order.

    Of a page of few words, the headline is one.
    """
    content = lines.are(Kind.CONTENT | Kind.MARK)
    article = zip(text.tokens[1 : len(text.volatile)], text.kinds[1:], strict=False)
    said = chain.from_iterable(line for line, kind in article if kind & Kind.CONTENT)
    if document.headline and not is_long([*said]):
        content[:1] = True
    keys = lines.keys[content]
    if text.listing:
        keys.sort()
    return mmh3.hash64(keys.tobytes(), signed=False)[0] if len(keys) else 0


def _targets(hrefs: set[str], base: str) -> str:
    """Return where a page leads. The number of a visitor, in an address, leads nowhere else."""
    addresses = without_visitor("\n".join(link_targets(hrefs, base)))
    return "\n".join(sorted(set(addresses.split("\n")))[:MOST_TARGETS])


def _compared(document: Document, base: str, words: int) -> tuple[Field, ...]:
    """Return what the user's selectors find, and the files that the page leads to."""
    files = ", ".join(document.files(base, everywhere=words < _FEW_WORDS))
    fields = (*document.fields, *[("file", files)] * bool(files))
    return tuple(
        (name, f"{text[:_LONGEST]}… {hash_of([text]):08x}" if len(text) > _LONGEST else text)
        for name, text in fields
    )


def _sketch(
    document: Document, text: PageText, compared: tuple[Field, ...], lines: Lines
) -> Sketch:
    names = (document.name, document.headline, *document.titles.names)
    headline, heading, *other_names = [name[:LONGEST_NAME] for name in names]
    hashed = text.hashed
    own = (np.array(text.kinds) & Kind.CONTENT > 0) & ~np.array(text.entry)
    words = [*chain.from_iterable(text.tokens)]
    numbers = np.flatnonzero(text.article.are(MORE)).tolist()
    characters = hashed.follow(CHARACTER)
    pairs = hashes_of(words[place] + words[place + 1] for place in characters.tolist())
    more = hashes_of(numbers_and_signs(words[: len(text.article.lines)], numbers))
    own_words = hashed.only(own[hashed.lines]).words, pairs[own[hashed.lines[characters]]]
    all_words = hashed.words, pairs, more
    word_set = WordSet.of(np.concatenate(own_words), np.concatenate(all_words))
    claims = headline, tuple(other_names), document.offered, compared
    return Sketch(*claims, word_set, lines, heading, document.single)


def _without(reason: str, title: str = "", fields: dict[str, Any] | None = None) -> Reading:
    page = Page(title, 0, None, 0, False, reason, **fields or {})
    return Reading(page)

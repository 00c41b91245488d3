"""The lines of a page, and by which of them it can be told from others.

What the spider gets is another question: a box that reading leaves out may say what no other page
does. Left out here is what leads on, advertises or counts, and what changes while an article does
not.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, compress, filterfalse, islice, pairwise

import numpy as np
from numpy.typing import NDArray

from simhash_gate.fingerprints.folding import HashedLines, words_of_each
from simhash_gate.fingerprints.words import SIGNS, is_date, is_of_page, is_volatile
from simhash_gate.page.asides import MANY_LINKS
from simhash_gate.page.blocks import Block
from simhash_gate.page.document import Document
from simhash_gate.page.offer import has_price
from simhash_gate.page.title import letters

Line = tuple[str, str]
"""The words of a line, and why a page is not told from others by them, "" if it is."""
SENTENCE = 5
"""Words, as a reader would count: a shorter line is a byline, or a label."""

_TEXTS = frozenset({"text", "item"})
_VOLATILE_KINDS = _TEXTS | {"heading"}
_LONG = 40  # words
_FEW_LINES = 8
_PARAGRAPH = 15  # words
_LONGEST_GAP = 40  # lines between two sentences of an article: more is no part of it


@dataclass(frozen=True)
class PageText:
    """The lines of a page: first the blocks of its article, then what it says beside them.

    `tokens` are their words, `lines` these with a space between, and `hashed` their hashes. Of the
    blocks, `article` are the hashes, and `volatile` tells which are about the page and not of it.
    `own` tells of all lines if the page can be told from others by them.
    """

    tokens: list[list[str]]
    lines: list[str]
    hashed: HashedLines
    article: HashedLines
    volatile: list[bool]
    own: NDArray[np.bool_]

    @classmethod
    def of(cls, document: Document) -> PageText:
        """Return the lines of a page that was read."""
        blocks = document.blocks
        texts = [block.text for block in blocks]
        known = {*texts, *document.ads}
        within = _within(document, known) | dict.fromkeys(_by_price(document, known))
        known = {*texts, *within}
        texts += [
            *within,
            *(line for line in dict.fromkeys(document.shown.lines) if line not in known),
        ]
        tokens = words_of_each(texts)
        hashed = HashedLines.of(tokens)
        article = hashed.only(hashed.lines < len(blocks))
        volatile = _are_volatile(blocks, tokens, document.article.listing)
        own = np.zeros(len(texts), np.bool_)
        own[: len(blocks)] = _are_own(blocks, tokens, volatile, bool(document.offered))
        own[len(blocks) : len(blocks) + len(within)] = [not is_of_page(line) for line in within]
        return cls(tokens, list(map(" ".join, tokens)), hashed, article, volatile, own)

    @property
    def said(self) -> list[str]:
        """The lines of the article, and then the others that the page can be told by."""
        blocks = len(self.volatile)
        return [*self.lines[:blocks], *compress(self.lines[blocks:], self.own[blocks:])]


def why_ignored(document: Document, text: PageText) -> list[str]:
    """Return of each line of a page why the page is not told from others by it, "" if it is."""
    blocks, captions = document.blocks, document.captions
    found = []
    for place, own in enumerate(text.own.tolist()):
        block = blocks[place] if place < len(blocks) else None
        if own:
            why = "a caption" if block and block.text in captions else ""
        elif block is None:
            why = "beside the article"
        elif block.linked or block.kind == "choice":
            why = "a link" if block.linked else "a choice"
        else:
            why = "a date, a clock or a counter"
        found.append(why)
    return found


def is_long(tokens: list[str]) -> bool:
    """Tell if a page says so much that a date or an image makes no other one of it."""
    if len(tokens) <= _LONG:
        return False
    return sum(1 for _ in islice(filterfalse(SIGNS.__contains__, tokens), _LONG + 1)) > _LONG


def _within(document: Document, known: set[str]) -> dict[str, None]:
    """Return the lines between the sentences of the article that reading left out.

    Links are none, nor what is `known`. Of a listing they are sentences.
    """
    sentences = {
        block.text
        for block in document.blocks
        if block.kind in _TEXTS and not block.linked and _is_sentence(block.text)
    }
    shown, short = document.shown, not document.article.listing
    places: dict[str, int] = {}
    for place, line in enumerate(shown.lines):
        if line in sentences:
            places.setdefault(line, place)  # what a reader quotes comes again
    within: dict[str, None] = {}
    for start, end in pairwise(places.values()):
        if end - start <= _LONGEST_GAP:
            for line, said in zip(shown.lines[start:end], shown.said[start:end], strict=True):
                if said and line not in known and (short or _is_sentence(line)):
                    within[line] = None
    return within


def _by_price(document: Document, known: set[str]) -> list[str]:
    """Return what follows the headline and the article up to the next link, if it has a price.

    The last line before that is what the links are about.
    """
    after = document.shown.after
    parts = after(document.name), after(document.blocks[-1].text)[:-1]
    found = [[line for line in part[:_LONGEST_GAP] if line not in known] for part in parts]
    return [line for part in found if has_price(part) for line in part]


def _is_sentence(line: str) -> bool:
    """Tell if a line has five words or more; two wide characters count as one."""
    more = SENTENCE - 1 - line.count(" ")
    return more <= 0 or (letters(line) - len(line)) // 4 >= more


def _are_volatile(blocks: list[Block], tokens: list[list[str]], listing: bool) -> list[bool]:
    """Tell of each block if it is about the page and not of it.

    Where such lines are more than all others, as in a timetable, they are what it is about.
    """
    entries = sum([block.linked and block.kind == "heading" for block in blocks])
    listing = listing or (entries > 1 and 3 * entries >= len(blocks))
    listing = listing or sum([block.linked for block in blocks]) > MANY_LINKS
    volatile = [
        block.kind == "choice"
        or (
            block.kind in _VOLATILE_KINDS
            and ((block.linked and not listing) or is_volatile(block.text, len(block_words)))
        )
        for block, block_words in zip(blocks, tokens, strict=False)
    ]
    lines = list(zip(blocks, volatile, strict=True))
    if sum(gone and not block.linked for block, gone in lines) <= max(_FEW_LINES, len(blocks) / 2):
        return volatile
    return [gone and (block.linked or is_of_page(block.text)) for block, gone in lines]


def _are_own(
    blocks: list[Block], tokens: list[list[str]], volatile: list[bool], offers: bool
) -> list[bool]:
    """Tell of each block if a page can be told from others by it.

    Not by links, counters and their like; nor by dates between a headline and a text, where
    templates write when that was published, unless the page offers something.
    """
    lines = list(zip(blocks, tokens, volatile, strict=False))
    sizes = [len(found) if block.kind in _TEXTS and not gone else 0 for block, found, gone in lines]
    kept = chain.from_iterable(found for _, found, gone in lines if not gone)
    start = -1
    if not offers and is_long([*kept]):  # it begins with a paragraph, or with the longest line
        least = min(_PARAGRAPH, max(sizes))
        start = next(place for place, size in enumerate(sizes) if size >= least)
    return [
        not gone
        or (
            place > start
            and (not block.linked or lines[place - 1][0].kind == "term")
            and block.kind != "choice"
            and not is_of_page(block.text)
            and not is_date(block.text)
        )
        for place, (block, _, gone) in enumerate(lines)
    ]

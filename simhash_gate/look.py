"""The lines of a page, and by which of them it can be told from others.

What the spider gets is another question: a box that reading leaves out may say what no other page
does. Left out here is what leads on, advertises or counts, and what changes while an article does
not.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import filterfalse, islice, pairwise

from simhash_gate.fingerprints import words
from simhash_gate.fingerprints.folding import WITH_NUMBER, HashedLines, words_of_each
from simhash_gate.fingerprints.lines import Kind
from simhash_gate.fingerprints.relative_times import AGO, weekdays, without_relative_times
from simhash_gate.page.asides import MANY_LINKS
from simhash_gate.page.blocks import Block
from simhash_gate.page.document import Document
from simhash_gate.page.offer import has_price
from simhash_gate.page.title import letters

LEAST_SENTENCE = 5
"""Words, as a reader would count: a shorter line is a byline, or a label."""

_TEXTS = frozenset({"text", "item"})
_IN_ORDER = frozenset({"cell", "item", "term"})
_FEW, _ENTRIES = 2, 0.25  # of a list: entries, and their share of the article's own text
_INTRODUCTION = 1_000  # characters: an article that says more is no introduction to a list
_VOLATILE_KINDS = _TEXTS | {"heading"}
_LONG = 40  # words
_SHORT = 14  # words: a longer line is a sentence, which tells a time
_UPDATED = frozenset({AGO, "updated", "modified", "edited"})
_DIGIT = re.compile(r"\d")
_BYLINE = 4  # blocks at the beginning of an article
_FEW_LINES = 8
_SIZES = (1, 2, 3)  # words of a relative time
_PARAGRAPH = 15  # words
_LONGEST_GAP = 40  # lines between two sentences of an article: more is no part of it


@dataclass(frozen=True)
class PageText:
    """The lines of a page: first the blocks of its article, then what it says beside them.

    `tokens` are their words, and `hashed` the hashes of these. Of the blocks, `article` are the
    hashes, and `volatile` tells which are about the page and not of it. `kinds` are the kinds of
    all lines, `places` where they stand, and the first `said` are what it says.
    """

    tokens: list[list[str]]
    hashed: HashedLines
    article: HashedLines
    volatile: list[bool]
    kinds: list[int]
    places: list[int]
    said: int
    entry: list[bool]
    listing: bool

    @classmethod
    def of(cls, document: Document) -> PageText:
        """Return the lines of a page that was read."""
        blocks, shown = document.blocks, document.shown
        first: dict[str, int] = {}  # of each line, its place among all that the page shows
        for place, line in enumerate(shown.lines):
            first.setdefault(line, place)
        entries = _entries(document) - document.ads
        texts = [block.text for block in blocks]
        known = {*texts, *document.ads}
        within = [*_within(document, known, first)]
        within += _by_price(document, known) if document.facts.sells else []
        within += filter(entries.__contains__, first)
        texts += [line for line in dict.fromkeys(within) if line not in known]
        said, known = len(texts), {*texts}
        texts += [line for line in first if line not in known]
        times = {*map(tuple, words_of_each(document.times))}
        tokens = [_without_times(line, times) for line in words_of_each(texts)]
        listing = document.article.listing or _is_listing(blocks)
        own = listing or sum([block.linked for block in blocks]) > MANY_LINKS  # links are its text
        volatile = _are_volatile(blocks, tokens, own)
        start = _start(blocks, tokens, volatile)
        bylines: list[int] = []
        for place in range(start):
            text = words.without_counters(texts[place])
            byline = _without_times(words.words(text), times)
            rest = _without_times(words.words(words.without_dates(text)), times)
            if text != texts[place] or (AGO in byline and not any(map(_DIGIT.search, rest))):
                bylines.append(place)
                tokens[place] = [word for word in byline if word not in _UPDATED]
        hashed = HashedLines.of(tokens)
        about = _are_about(document, tokens, volatile, first, start)
        for place in bylines:
            about[place] = Kind.ABOUT
        for place in range(1, start):
            is_short = len(tokens[place]) < LEAST_SENTENCE
            is_name = is_short and not any(map(str.isdigit, texts[place]))
            if is_name and Kind.ABOUT in about[place - 1 : place + 2]:
                about[place] |= Kind.ABOUT  # beside a date: the other view may not say it
        kinds = list(_kinds_of_blocks(document, about, entries, own))
        for place, text in enumerate(texts[len(blocks) :], len(blocks)):
            leads_on = Kind.LINK * (not shown.said[first[text]])
            kind = Kind.CONTENT | leads_on * (text in entries) if place < said else leads_on
            kinds.append(Kind.ABOUT if words.is_of_page(text) else kind)
        counts = hashed.only(~hashed.are(WITH_NUMBER)).counts(len(texts)).tolist()
        kinds = [
            kind | Kind.SENTENCE * (n >= LEAST_SENTENCE)
            for kind, n in zip(kinds, counts, strict=True)
        ]
        places = [document.places[first[text]] if text in first else 0 for text in texts]
        article = hashed.only(hashed.lines < len(blocks))
        entry = [text in entries for text in texts]
        return cls(tokens, hashed, article, volatile, kinds, places, said, entry, listing)


def is_long(tokens: list[str]) -> bool:
    """Tell if a page says so much that a date or an image makes no other one of it."""
    if len(tokens) <= _LONG:
        return False
    return sum(1 for _ in islice(filterfalse(words.SIGNS.__contains__, tokens), _LONG + 1)) > _LONG


def _without_times(line: list[str], times: Collection[tuple[str, ...]]) -> list[str]:
    """Return a line without the relative times in it. `times` are the words that stand for one."""
    if len(line) > _SHORT:
        return line
    for size in _SIZES if times else ():
        if tuple(line[-size:]) in times:
            alone = without_relative_times(line[-size:], alone=True)
            return [*without_relative_times(line[:-size]), *alone]
    return [*without_relative_times(line)]


def _within(document: Document, known: set[str], first: dict[str, int]) -> Iterator[str]:
    """Yield the lines between the sentences of the article that reading left out.

    Links are none, nor what is `known`. Of a listing they are sentences.
    """
    sentences = {
        block.text
        for block in document.blocks
        if block.kind in _TEXTS and not block.linked and _is_sentence(block.text)
    }
    shown, short = document.shown, not document.article.listing
    # What a reader quotes comes again: the first place counts.
    for start, end in pairwise(place for line, place in first.items() if line in sentences):
        if end - start <= _LONGEST_GAP:
            for line, said in zip(shown.lines[start:end], shown.said[start:end], strict=True):
                if said and line not in known and (short or _is_sentence(line)):
                    yield line


def _entries(document: Document) -> set[str]:
    """Return the lines of the list that a page is whose article is only the introduction to it.

    They are linked, or beside what is, below where the article begins. Two of them at least, and
    together a quarter of the article's own text. An article that begins with a date, or a counter
    of its readers, is no introduction.
    """
    shown, blocks = document.shown, document.blocks
    begin = [block.text for block in blocks[:_BYLINE]]
    if not document.left or any(
        _is_date(text) or text != words.without_counters(text) for text in begin
    ):
        return set()
    own = {block.text for block in blocks}
    start = next((place for place, line in enumerate(shown.lines) if line in own), len(shown.lines))
    parts = zip(shown.lines[start:], shown.said[start:], document.left[start:], strict=True)
    found = [(line, said) for line, said, left in parts if left and (line not in own or not said)]
    linked = {line for line, said in found if not said and words.words(line)}
    text = sum(len(block.text) for block in blocks if not block.linked)
    enough = (
        len(linked) >= _FEW and sum(map(len, linked)) >= _ENTRIES * text and text <= _INTRODUCTION
    )
    return {line for line, _ in found} if enough else set()


def _by_price(document: Document, known: set[str]) -> list[str]:
    """Return what follows the headline and the article up to the next link, if it has a price: that
    of what is on sale, if that is known.

    The last line before that is what the links are about.
    """
    after, known_prices = document.shown.after, dict(document.offered)
    price = known_prices.get("price", known_prices.get("shown price", ""))
    parts = after(document.name), after(document.blocks[-1].text)[:-1]
    found = [[line for line in part[:_LONGEST_GAP] if line not in known] for part in parts]
    return [line for part in found if has_price(part, price) for line in part]


def _is_sentence(line: str) -> bool:
    """Tell if a line has five words or more; two wide characters count as one."""
    more = LEAST_SENTENCE - 1 - line.count(" ")
    return more <= 0 or (letters(line) - len(line)) // 4 >= more


def _is_listing(blocks: list[Block]) -> bool:
    """Tell if headings that are links are a third of an article: of each entry, a teaser."""
    headings = sum([block.linked and block.kind == "heading" for block in blocks])
    return headings > 1 and 3 * headings >= len(blocks)


def _are_volatile(blocks: list[Block], tokens: list[list[str]], listing: bool) -> list[bool]:
    """Tell of each block if it is about the page and not of it.

    Where such lines are more than all others, as in a timetable, they are what it is about.
    """
    volatile = [
        block.kind == "choice"
        or (
            block.kind in _VOLATILE_KINDS
            and ((block.linked and not listing) or words.is_volatile(block.text, len(block_words)))
        )
        for block, block_words in zip(blocks, tokens, strict=False)
    ]
    lines = list(zip(blocks, volatile, strict=True))
    if sum(gone and not block.linked for block, gone in lines) <= max(_FEW_LINES, len(blocks) / 2):
        return volatile
    return [gone and (block.linked or words.is_of_page(block.text)) for block, gone in lines]


def _is_date(text: str) -> bool:
    """Tell if a line says a date, and no more than a weekday, a clock or a counter beside it."""
    rest = words.beside_date(text)
    return rest is not None and weekdays().issuperset(rest)


def _start(blocks: list[Block], tokens: list[list[str]], volatile: list[bool]) -> int:
    """Return where the text of an article begins: with a paragraph, or with the longest line."""
    sizes = [
        len(line) if block.kind in _TEXTS and not gone else 0
        for block, line, gone in zip(blocks, tokens, volatile, strict=False)
    ]
    least = min(_PARAGRAPH, max(sizes))
    return next(place for place, size in enumerate(sizes) if size >= least)


def _are_about(
    document: Document,
    tokens: list[list[str]],
    volatile: list[bool],
    first: dict[str, int],
    start: int,
) -> list[int]:
    """Return of each block whether it is about the page, or `CONTENT`.

    So are counters and their like; a clock above the headline; and a date alone between a headline
    and a text, where templates write when that was published, or a single one below it. Of a page
    of few words, and behind a label, a date tells: it is `ABOUT` and `CONTENT`.
    """
    blocks, whole = document.blocks, document.titles.whole
    titled = document.headline == whole
    names = [line for line in first if line in whole and titled == (line == whole)]
    top = first.get(max(names, key=len, default=""), 0)
    kept = [word for line, gone in zip(tokens, volatile, strict=False) if not gone for word in line]
    long = not document.offered and is_long(kept)
    dates = [gone and _is_date(block.text) for block, gone in zip(blocks, volatile, strict=True)]
    alone = sum(dates[start:]) == 1
    about: list[int] = []
    for place, (block, date) in enumerate(zip(blocks, dates, strict=True)):
        labelled = place > 1 and about[-1] == Kind.CONTENT and len(tokens[place - 1]) < _PARAGRAPH
        above = first.get(block.text, top) < top
        if words.is_of_page(block.text) or (
            above and words.is_volatile(block.text, len(tokens[place]))
        ):
            kind = Kind.ABOUT
        elif date and (place < start or alone) and not labelled:
            kind = Kind.ABOUT | Kind.CONTENT * (not long)
        else:
            kind = Kind.CONTENT
        about.append(kind)
    return about


def _kinds_of_blocks(
    document: Document, about: list[int], entries: Collection[str], listing: bool
) -> Iterator[int]:
    before = ""
    captions = document.captions
    for place, block in enumerate(document.blocks):
        leads_on = block.linked and before != "term"
        if block.text in captions:
            kind = Kind.CAPTION
        elif block.text in entries or (leads_on and listing):
            kind = Kind.CONTENT | Kind.LINK
        elif leads_on or block.kind == "choice":
            kind = Kind.LINK
        else:
            kind = about[place]
        if not place and document.headline:
            kind &= ~Kind.CONTENT
        before = block.kind
        is_short = before == "text" and not _is_sentence(block.text)
        if is_short or before in _IN_ORDER:
            kind |= Kind.ORDERED | Kind.LABEL * (before == "term")
        yield Kind.ARTICLE | kind

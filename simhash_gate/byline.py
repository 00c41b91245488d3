"""Who wrote a page, and when, as the lines around its headline say it where data don't."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice, takewhile

from lxml.html import HtmlElement

from simhash_gate.fingerprints.words import DATED, UPDATED, without_counters, without_dates
from simhash_gate.page.document import Document
from simhash_gate.page.vocabulary import has_word

Line = tuple[str, HtmlElement]

_LINES = 14  # between a headline and its text
_ABOVE = 2  # lines above a headline: "News · 3 May 2024"
_LONGEST = 60  # characters: more are a sentence
_MOST_WORDS = 5  # of a name
_DEEP = 2  # elements around a name or in its line that may say that it is one
_YEAR = re.compile(r"(?:19|20)\d\d")
_DAY_OF_URL = re.compile(r"/((?:19|20)\d\d/[01]\d/[0-3]\d)/")
_CHANGED = frozenset({"updated", "modified"})
_BY = re.compile(
    r"(?:^\w*\s?|\s)(?:by|von|par|por|di|door|av|af|autor|auteur|автор)\s?(?::|\b)\s*", re.I
)
_EDGES = " \t:·•⋅|,;-–—"
_END = re.compile(r"\s[-–—]|[|·•⋅,;(]")


def find_byline(document: Document, text: str, url: str) -> tuple[str | None, list[str]]:
    """Return the author of a page, and texts that say when it was published, best first.

    They stand between its headline and its first paragraph, which is `text`, or just above. Where
    entries of a list have such lines, none is the page's.
    for: news and blogs without data, and archives with the day in the address.
    """
    lines = list(_lines(document, text))
    times = [time for time in document.facts.elements.by_tag["time"] if lines and _tells(time)]
    dates = [date for line, _ in lines for date in _dates(line, times)]
    return _author(lines), [*dates, *_DAY_OF_URL.findall(url)]


def _lines(document: Document, text: str) -> Iterator[Line]:
    shown, titles, places = document.shown, document.titles, document.places
    lines, names = shown.lines, {document.name, titles.title, titles.whole}
    end = lines.index(text) if text in lines and not document.article.listing else 0
    above = range(end - 1, max(end - _LINES, 0) - 1, -1)
    top = next((place for place in above if lines[place] in names), None)
    if top is None:
        return
    entries = {block.text for block in document.blocks if block.linked and block.kind == "heading"}
    for place in range(max(top - _ABOVE, 0), end):
        line = lines[place]
        if line in entries:
            return
        if place != top and len(line) <= 2 * _LONGEST:
            alike = (lines[at] for at in range(end, len(lines)) if places[at] == places[place])
            if not (_YEAR.search(line) and any(map(_YEAR.search, alike))):
                yield line, shown.holders[place]


def _tells(time: HtmlElement) -> bool:
    """Tell if a time is not that of the last change; a template may call one time both."""
    names = time.get("class") or ""
    return "publish" in names or not has_word(names, _CHANGED)


def _dates(line: str, times: list[HtmlElement]) -> Iterator[str]:
    line = UPDATED.split(line, maxsplit=1)[0]
    if _YEAR.search(line):
        said = [(" ".join("".join(time.itertext()).split()), time) for time in times]
        found = (time.get("datetime") or text for text, time in said if text and text in line)
        yield from (" ".join(date[:_LONGEST].split()) for date in found)
        dated = (match[0] for match in DATED.finditer(line))
        yield from [date for date in dated if date[-1].isdigit()] or [line]  # not "2018年" alone


def _author(lines: list[Line]) -> str | None:
    for place, (line, holder) in enumerate(lines):
        name = _marked(holder)
        if not name and _BY.search(line) and len(line) <= _LONGEST:
            text = without_dates(without_counters(line)).strip(_EDGES)
            if (by := _BY.match(text)) is not None:
                after = next((said for said, _ in lines[place + 1 :]), "")
                name = _name(text[by.end() :] or (after if " " not in text else ""))
        if name and len(name) <= _LONGEST:
            return _BY.sub("", name, count=1)
    return None


def _marked(holder: HtmlElement) -> str:
    """Return the text that HTML says is an author's name, "" for none."""
    around = chain(
        islice(holder.iter("a"), _DEEP), (holder,), islice(holder.iterancestors(), _DEEP)
    )
    for element in around:
        if "author" in (element.get("rel") or "").split() or element.get("itemprop") == "author":
            return " ".join("".join(element.itertext()).split())
    return ""


def _name(text: str) -> str:
    """Return the name that a text begins with: words with a capital, or of a script without any."""
    words = [*takewhile(lambda word: not word[0].islower(), _END.split(text, 1)[0].split())]
    is_name = len(words) <= _MOST_WORDS and not any(map(str.isdigit, "".join(words)))
    return " ".join(words) if is_name else ""

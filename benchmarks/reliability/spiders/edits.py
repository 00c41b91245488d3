"""One change of a kind on a page, at a place that a spider reads: a price, a word, a new entry."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from random import Random
from typing import Any

from crawler.site.prose import Writer

OTHER = "v=2"
"""A query that sites pay no heed to: of another address of the same page."""
_UNSHOWN = re.compile(r"<(script|style|head)\b.*?</\1>|<!--.*?-->", re.S)
_HEADING = re.compile(r"<h[1-6]\b[^>]*>(.*?)</h", re.S)
_META = re.compile(r"<meta [^>]*>")
_DATA = re.compile(r'(?<=<script type="application/ld\+json">).*?(?=</script>)', re.S)
_TEXT = re.compile(r"(?<=>)[^<>]*\w[^<>]*(?=<)")
_PRICE = re.compile(r"[€$£]\s?\d|\d\s?(?:€|EUR|USD|CHF)")
_DATE = re.compile(r"\d\d?\.\d\d?\.\d{4}|\d{4}-\d\d-\d\d|\b(?:January|December|July) \d")
_NUMBER, _WORD = re.compile(r"\d+"), re.compile(r"\w+")
_SENTENCE = 8  # words; fewer are a label


def _element(tags: str, inside: str = "") -> re.Pattern[str]:
    return re.compile(rf"<({tags})\b[^>]*{inside}[^>]*>(?:(?!</?\1\b).)*</\1>", re.S | re.I)


def words_of(text: str) -> list[str]:
    """Return the words of a text in small letters."""
    return _WORD.findall(text.lower())


def _number(text: str, _rng: Random) -> str:
    return _NUMBER.sub(lambda m: f"{m[0][:-1]}{(int(m[0][-1]) + 3) % 10}", text, count=1)


def _word(text: str, rng: Random) -> str:
    found = [match for match in _WORD.finditer(text) if match[0].isalpha()]
    match = rng.choice([it for it in found if len(it[0]) > 3] or found)
    return f"{text[: match.start()]}qu{match[0][::-1].lower()}{text[match.end() :]}"


def _value(text: str, rng: Random) -> str:
    return (_number if _NUMBER.search(text) else _word)(text, rng)


def _sentence(text: str, rng: Random) -> str:
    return f"{text.rstrip()} {Writer.of_any_topic(rng).write('sentence')}"


def _one_more(html: str, rng: Random) -> str:
    """Return an element, and one like it that says something else, and leads elsewhere."""
    write = Writer.of_any_topic(rng).write
    new = _TEXT.sub(lambda m: write("sentence" if len(m[0].split()) > 3 else "place"), html)
    return html + KINDS["link"][0].sub(lambda m: _other_query(m[0]), new)


def _other_query(href: str) -> str:
    return f"{href}{'&' if '?' in href else '?'}{OTHER}"


def _other_target(href: str, _rng: Random) -> str:
    stem, _, kind = href.rpartition(".")
    return f"{stem}2.{kind}" if stem and kind.isalpha() else _other_query(href)


def _is_sentence(text: str) -> bool:
    return len(text.split()) >= _SENTENCE


def _is_label(text: str) -> bool:
    return not _is_sentence(text) and not _NUMBER.search(text)


def _is_number(text: str) -> bool:
    return bool(_NUMBER.search(text)) and not (_PRICE.search(text) or _DATE.search(text))


_ATTRIBUTES = r"alt|content|datetime|value|title|data-(?!src)[\w-]+"
Kind = tuple[re.Pattern[str], Callable[[str], Any], Callable[[str, Random], str]]
KINDS: dict[str, Kind] = {
    "price": (_TEXT, _PRICE.search, _number),
    "date": (_TEXT, _DATE.search, _number),
    "number": (_TEXT, _is_number, _number),
    "word": (_TEXT, _is_sentence, _word),
    "sentence": (_TEXT, _is_sentence, _sentence),
    "heading": (re.compile(rf"{_TEXT.pattern[:-5]}(?=</h[1-6]>)"), bool, _value),
    "label": (_TEXT, _is_label, _word),
    "cell": (re.compile(rf"{_TEXT.pattern[:-5]}(?=</t[dh]>)"), bool, _value),
    "paragraph": (_element("p"), _TEXT.search, _one_more),
    "entry": (_element("li|tr|div"), _TEXT.search, _one_more),
    "post": (_element("li|div", 'class="(?:post|review|comment|css-c0mm)"'), bool, _one_more),
    "link": (re.compile(r'(?<=\bhref=")/[^"#]*(?=")'), bool, _other_target),
    "image": (re.compile(r'(?<=src=")[^"]+\.\w+(?=")'), bool, _other_target),
    "attribute": (re.compile(rf'(?<=\s)(?:{_ATTRIBUTES})="[^"]*\w[^"]*"'), bool, _value),
    "data": (re.compile(r'(?<!@type": ")(?<=: ")[^":]*\w[^":]*(?=")'), bool, _value),
}
"""The kinds of changes: where each may stand, whether it is of the kind, and what it becomes."""


def _places(html: str, kind: str) -> Iterator[tuple[int, int]]:
    """Yield where something of a kind stands: in the main part of a page, if it names one."""
    pattern, is_of_kind, _ = KINDS[kind]
    begin, end = html.find("<main"), html.find("</main>")
    parts = [(max(begin, 0), end if end > 0 else len(html))]
    shown = _UNSHOWN.sub(lambda m: " " * len(m[0]), html)
    if kind == "data":
        shown, parts = html, [match.span() for match in _DATA.finditer(html)]
    elif kind == "attribute":
        shown, parts = html, [*parts, *(match.span() for match in _META.finditer(html))]
    for start, stop in parts:
        for match in pattern.finditer(shown, start, stop):
            if is_of_kind(match[0]):
                name = match[0].find('="') + 2 if kind == "attribute" else 0
                yield match.start() + name, match.end() - bool(name)


def edited(html: str, kind: str, known: Collection[str], seed: str) -> tuple[str, str]:
    """Return a page with a change of a kind, where its words are known from items, and the change
    in words; anywhere if they are known from nowhere, and nowhere if there is nothing of the kind.

    All addresses of a page show the same change: its heading and what it says decide on it.
    """
    found, said = list(_places(html, kind)), []
    for start, end in found:
        words = words_of(re.sub(r"<[^>]*>", " ", html[start:end]))
        if words and 2 * sum(word in known for word in words) >= len(words):
            said.append((start, end))
    if not found:
        return html, ""
    heading = _HEADING.search(html)
    seed = f"{seed}/{kind}/{heading and heading[1]}"
    start, end = min(said or found, key=lambda at: Random(f"{seed}/{html[slice(*at)]}").random())
    before = html[start:end]
    after = KINDS[kind][2](before, Random(f"{seed}/{before}"))
    return f"{html[:start]}{after}{html[end:]}", f"{before[:60]!r} is now {after[-60:]!r}"

"""Duplicates beside their kept pages: what differs, and both texts where they are to be had.

`<del>` marks what only the kept page says, `<ins>` what only the other one does.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from simhash_gate.common.urls import text_without_credentials
from simhash_gate.fingerprints.words import UNSEGMENTED
from simhash_gate.report.judged import Doubt, LoggedVerdict, difference, doubt, other_prices

if TYPE_CHECKING:
    from markupsafe import Markup

Texts = Callable[[Collection[str]], Mapping[str, str]]
"""Called once with the names of pages: URLs, or what else their source calls them. Returns the
texts of those that are to be had, as Markdown or plain text."""

MOST_TEXTS = 100
"""Pairs of pages whose texts are asked for."""
MOST_BYTES = 2_000_000
"""Bytes of all texts in a report."""
LONGEST = 50_000
"""Characters of a text that are looked at."""
SIDE = 6_000
"""Characters of a text that are shown beside another."""
PLACES = 8
"""Places where two texts differ that are shown with the words around them."""

_MOST_COMPARED = 2_000  # words of each text, from the first to the last that differs
_LONGEST_WORD = 100
_CONTEXT = 6  # words around a place
_SHOWN = 40  # words of a place
_FOLDED = 60  # words that agree: of more, the middle is left out
_ENDS = 20  # words that are left of it on either side
_BETWEEN = 2  # fewer words that agree do not part two places

_WORD = re.compile(rf"(?:[{UNSEGMENTED}]|[^\s{UNSEGMENTED}]+)\s*")
_EMPHASIS = "*_`"
_SPACES = re.compile(r"\s+")
_LINK = re.compile(r"!?\[([^\[\]]{0,500})\]\([^()\s]{0,2000}(?: \"[^\"]{0,500}\")?\)")
# What would change how the rest of a text is read, or is no character.
_UNSAFE = re.compile(
    "[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


@dataclass(frozen=True, slots=True)
class Pair:
    """A duplicate and its kept page.

    `differences` says what differs; titles and texts have marks. A text that is not there is None;
    `text` is what differs, if both are.
    """

    page: LoggedVerdict
    differences: str
    titles: Markup
    found: Doubt
    text: TextDifference | None = None
    kept_text: Markup | None = None
    page_text: Markup | None = None


@dataclass(frozen=True, slots=True)
class Pairs:
    """Duplicates, the most doubtful first. `asked` tells that there was somebody to ask for texts.

    Texts were asked of `wanted` pairs; `whole` of them have both.
    """

    pairs: list[Pair]
    asked: bool = False
    wanted: int = 0
    whole: int = 0


def side_by_side(duplicates: Sequence[LoggedVerdict], texts: Texts | None) -> Pairs:
    """Return duplicates beside their kept pages, in the order of what differs.

    With their texts, more is known of what differs than their verdicts say.
    """
    pairs = []
    for page in duplicates:
        found = doubt(page)
        titles = marked(page.kept.title if page.kept else "", page.title)
        pairs.append(Pair(page, "; ".join(difference(page, found)), titles, found))
    if texts is None:
        return Pairs(pairs)
    places = [place for place, pair in enumerate(pairs) if _is_doubtful(pair)][:MOST_TEXTS]
    known = texts({name for place in places for name in _names(pairs[place].page)})
    left = MOST_BYTES
    for place in places:
        pair = _with_texts(pairs[place], known)
        left -= _size(pair)
        if left < 0:
            break
        pairs[place] = pair
    pairs.sort(key=lambda pair: pair.found, reverse=True)
    whole = sum(pair.text is not None for pair in pairs)
    return Pairs(pairs, asked=True, wanted=len(places), whole=whole)


def _names(page: LoggedVerdict) -> tuple[str, str]:
    """Return the names of the kept page and of the duplicate: their ids, if they share a URL."""
    kept = page.kept
    assert kept is not None
    shared = kept.url == page.url and kept.id and page.id
    return (kept.id, page.id) if shared else (kept.name, page.name)


def _is_doubtful(pair: Pair) -> bool:
    """Tell whether anything differs, and the two pages can be told apart by their names."""
    if pair.page.kept is None or not pair.found > Doubt():
        return False
    kept, page = _names(pair.page)
    return kept != page


def _with_texts(pair: Pair, texts: Mapping[str, str]) -> Pair:
    """Return a pair with those of its texts that are there."""
    kept, page = (texts.get(name) for name in _names(pair.page))
    if kept is None or page is None:
        shown = [None if text is None else alone(text) for text in (kept, page)]
        return replace(pair, kept_text=shown[0], page_text=shown[1])
    text = difference_of(kept, page)
    found = pair.found._replace(
        offer=pair.found.offer or text.offer, growth=text.share, words=bool(text.places)
    )
    words = "; ".join(difference(pair.page, found))
    if not words and text.places and sorted(kept.split()) == sorted(page.split()):
        words = "the same words in another order"
    return replace(
        pair, differences=words, found=found, text=text, kept_text=text.kept, page_text=text.page
    )


def _size(pair: Pair) -> int:
    """Return how many bytes the texts of a pair take."""
    places = pair.text.places if pair.text else []
    return sum(len(part.encode()) for part in (pair.kept_text, pair.page_text, *places) if part)


class Part(NamedTuple):
    """Words of the kept page and of the other; they agree if `same`."""

    same: bool
    kept: Sequence[str]
    page: Sequence[str]


class TextDifference(NamedTuple):
    """What differs between two texts: the first places, how many there are, and both texts.

    `share` is that of the words that only one of the two has, 0 to 1. `offer` tells that each
    says an amount of money that the other does not.
    """

    places: list[Markup]
    number: int
    kept: Markup
    page: Markup
    share: float
    offer: bool


def difference_of(kept: str, page: str) -> TextDifference:
    """Return what differs between the texts of two pages. Links are shown by their words."""
    kept, page = kept[:LONGEST], page[:LONGEST]
    parts = _parts(_words_of(kept), _words_of(page))
    places = [number for number, part in enumerate(parts) if not part.same]
    changed = sum(len(parts[number].kept) + len(parts[number].page) for number in places)
    known = sum(len(part.kept) + len(part.page) for part in parts)
    return TextDifference(
        [_place(parts, number) for number in places[:PLACES]],
        len(places),
        _side([(part.same, part.kept) for part in parts], "del"),
        _side([(part.same, part.page) for part in parts], "ins"),
        changed / known if known else 0.0,
        other_prices(kept, page),
    )


def marked(kept: str, page: str) -> Markup:
    """Return two titles as one, with marks around the words that only one of them has."""
    from markupsafe import Markup

    if kept == page:
        return _run(True, [safe(page)], "")
    parts = _parts(_WORD.findall(safe(kept)), _WORD.findall(safe(page)))
    return Markup("").join(_in_one(part) for part in parts)


def alone(text: str) -> Markup:
    """Return the text of a page that can be compared with no other."""
    return _side([(False, _words_of(text))], "")


def safe(text: str) -> str:
    """Return a text in which no character changes how others are shown."""
    return _UNSAFE.sub("\ufffd", text)


def _words_of(text: str) -> list[str]:
    text = text_without_credentials(safe(text[:LONGEST]))
    text = _LINK.sub(r"\1", _LINK.sub(r"\1", text))  # an image may be in a link
    words = (found[0] for found in _WORD.finditer(text))
    return [word if len(word) <= _LONGEST_WORD else f"{word[:_LONGEST_WORD]}… " for word in words]


def _parts(kept: list[str], page: list[str]) -> list[Part]:
    """Return two texts as parts that agree and parts that don't, in turn."""
    one, other = [_key(word) for word in kept], [_key(word) for word in page]
    start = _begin_alike(one, other)
    end = _begin_alike(one[start:][::-1], other[start:][::-1])
    found = [Part(True, kept[:start], page[:start])]
    stops = len(kept) - end, len(page) - end
    limits = min(stops[0], start + _MOST_COMPARED), min(stops[1], start + _MOST_COMPARED)
    matcher = SequenceMatcher(None, one[start : limits[0]], other[start : limits[1]])
    for tag, a, a_end, b, b_end in matcher.get_opcodes():
        own, its = kept[start + a : start + a_end], page[start + b : start + b_end]
        found.append(Part(tag == "equal", own, its))
    found.append(Part(False, kept[limits[0] : stops[0]], page[limits[1] : stops[1]]))
    found.append(Part(True, kept[len(kept) - end :], page[len(page) - end :]))
    return _merged([part for part in found if part.kept or part.page])


def _begin_alike(one: Sequence[str], other: Sequence[str]) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


def _key(word: str) -> str:
    """Return what of a word is compared: it may be emphasised on one page only."""
    stripped = word.rstrip()
    return stripped.strip(_EMPHASIS) or stripped


def _merged(parts: Sequence[Part]) -> list[Part]:
    """Join places that differ and have next to nothing between them, and parts of one kind."""
    found: list[Part] = []
    for place, part in enumerate(parts):
        is_short = 0 < place < len(parts) - 1 and len(part.kept) < _BETWEEN
        same = part.same and not is_short
        if found and found[-1].same == same:
            _, kept, page = found.pop()
            found.append(Part(same, [*kept, *part.kept], [*page, *part.page]))
        else:
            found.append(part._replace(same=same))
    return found


def _place(parts: Sequence[Part], number: int) -> Markup:
    """Return a place where two texts differ, with a few words before it and after it."""
    from markupsafe import Markup

    before = parts[number - 1].page[-_CONTEXT:] if number else []
    after = parts[number + 1].page[:_CONTEXT] if number + 1 < len(parts) else []
    shown = Part(False, _cut(parts[number].kept), _cut(parts[number].page))
    found = (_run(True, before, ""), _in_one(shown), _run(True, after, ""))
    return Markup("").join(Markup(_SPACES.sub(" ", run)) for run in found)  # it is escaped already


def _in_one(part: Part) -> Markup:
    """Return what both pages say, one after the other if it is not the same."""
    if part.same:
        return _run(True, part.page, "")
    gone, come = _run(False, part.kept, "del"), _run(False, part.page, "ins")
    return gone + (" " if gone and come and not gone[-1].isspace() else "") + come


def _cut(words: Sequence[str]) -> Sequence[str]:
    return words if len(words) <= _SHOWN else [*words[:_SHOWN], "…"]


def _side(parts: Iterable[tuple[bool, Sequence[str]]], tag: str) -> Markup:
    """Return one of two texts: long parts that agree without their middle, and a bounded whole."""
    from markupsafe import Markup

    left, found = SIDE, []
    for same, words in parts:
        pieces: tuple[Sequence[str] | int, ...] = (words,)
        if same and len(words) > _FOLDED:
            pieces = (words[:_ENDS], len(words) - 2 * _ENDS, words[-_ENDS:])
        for piece in pieces:
            if isinstance(piece, int):
                folded = Markup("<i>… {:,} words that agree …</i>\n").format(piece)
                found.append(folded)
                continue
            shown = piece[: bisect(list(accumulate(map(len, piece))), left)]
            left -= sum(map(len, shown))
            found.append(_run(same, shown, tag))
            if len(shown) < len(piece):
                return Markup("").join([*found, "…"])
    return Markup("").join(found)


def _run(same: bool, words: Sequence[str], tag: str) -> Markup:
    """Return words, with marks if they differ; the white space after them stays outside."""
    from markupsafe import Markup, escape

    text = "".join(words)
    if same or not tag or not text:
        return escape(text)
    inner = text.rstrip()
    return Markup(f"<{tag}>{escape(inner)}</{tag}>{text[len(inner) :]}")  # white space is harmless

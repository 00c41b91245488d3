"""Duplicates beside their kept pages: what differs, and both texts where they are to be had."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from simhash_gate.report.changes import alone, difference_of, marked
from simhash_gate.report.judged import Doubt, difference, doubt

if TYPE_CHECKING:
    from markupsafe import Markup

    from simhash_gate.report.changes import TextDifference
    from simhash_gate.report.judged import LoggedVerdict

Texts = Callable[[Collection[str]], Mapping[str, str]]
"""Called once with the names of pages: URLs, or what else their source calls them. Returns the
texts of those that are to be had, as Markdown or plain text."""

MOST_TEXTS = 100
"""Pairs of pages whose texts are asked for."""
MOST_BYTES = 2_000_000
"""Bytes of all texts in a report."""


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
    pairs = [_pair(page) for page in duplicates]
    if texts is None:
        return Pairs(pairs)
    places = [place for place, pair in enumerate(pairs) if _is_doubtful(pair)][:MOST_TEXTS]
    found = texts({name for place in places for name in _names(pairs[place].page)})
    left = MOST_BYTES
    for place in places:
        pair = _with_texts(pairs[place], found)
        left -= _size(pair)
        if left < 0:
            break
        pairs[place] = pair
    pairs.sort(key=lambda pair: pair.found, reverse=True)
    whole = sum(pair.text is not None for pair in pairs)
    return Pairs(pairs, asked=True, wanted=len(places), whole=whole)


def _pair(page: LoggedVerdict) -> Pair:
    found = doubt(page)
    titles = marked(page.kept.title if page.kept else "", page.title)
    return Pair(page, "; ".join(difference(page, found)), titles, found)


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
        return replace(
            pair,
            kept_text=None if kept is None else alone(kept),
            page_text=None if page is None else alone(page),
        )
    text = difference_of(kept, page)
    found = pair.found._replace(
        offer=pair.found.offer or text.offer, growth=text.share, words=bool(text.places)
    )
    words = "; ".join(difference(pair.page, found))
    return replace(
        pair, differences=words, found=found, text=text, kept_text=text.kept, page_text=text.page
    )


def _size(pair: Pair) -> int:
    """Return how many bytes the texts of a pair take."""
    places = pair.text.places if pair.text else []
    return sum(len(part.encode()) for part in (pair.kept_text, pair.page_text, *places) if part)

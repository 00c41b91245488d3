"""Duplicates beside their kept pages, with both texts where they are to be had."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from simhash_gate.report.differences import Part, TextChange, lines_of, parts_of
from simhash_gate.report.doubt import Doubt
from simhash_gate.report.explanation import Explanation, Side
from simhash_gate.report.judged import LoggedVerdict

Texts = Callable[[Collection[str]], Mapping[str, str]]
"""Called once with the names of pages: URLs, or what else their source calls them. Returns the
texts of those that are to be had, as Markdown or plain text."""

MOST_TEXTS = 100
"""Pairs of pages whose texts are asked for."""
LONGEST = 50_000
"""Characters of a text that are looked at."""
SIDE = 6_000
"""Characters of a text that are shown beside another."""
PLACES = 8
"""Places where two texts differ that are shown with the words around them."""

_FOLDED = 60  # words that agree: of more, the middle is left out
_ENDS = 20  # words that are left of it on either side


class Run(NamedTuple):
    """A piece of text, and the HTML element around it, "" for none."""

    text: str
    tag: str = ""


@dataclass(frozen=True)
class Pair:
    """A duplicate, explained, and both texts as they are shown; None for one that is not there."""

    found: Explanation
    kept_text: Sequence[Run] | None = None
    page_text: Sequence[Run] | None = None

    @property
    def titles(self) -> list[Part]:
        """What the titles of both say."""
        kept, page = self.found.kept, self.found.page
        return parts_of([(kept.title if kept else "", "")], [(page.title, "")])

    @property
    def places(self) -> list[TextChange]:
        """The first places where the texts differ."""
        return [change.shown() for change in (self.found.changes or ())[:PLACES]]


def of_other_offers(pairs: Sequence[Pair]) -> list[LoggedVerdict]:
    """Return the pages that were dropped although they say another price or offer."""
    every = (pair.found for pair in pairs if pair.found.verdict.dropped)
    return [it.verdict for it in every if it.doubt.offer and not it.doubt.name]


def side_by_side(duplicates: Sequence[LoggedVerdict], texts: Texts | None) -> list[Pair]:
    """Return duplicates beside their kept pages, the most doubtful first.

    With their texts, more is known of what differs than their verdicts say.
    """
    pairs = []
    for page in duplicates:
        kept = None if page.kept is None else Side.known(page.kept.name, page.kept)
        pairs.append(Pair(Explanation(page, Side.known(page.name, page), kept)))
    if texts is None:
        return pairs
    places = [
        place
        for place, pair in enumerate(pairs)
        # Anything differs, and the two pages can be told apart by their names.
        if pair.found.kept and pair.found.doubt > Doubt() and len(set(_names(pair))) > 1
    ][:MOST_TEXTS]
    known = texts({name for place in places for name in _names(pairs[place])})
    for place in places:
        pairs[place] = _with_texts(pairs[place].found, *map(known.get, _names(pairs[place])))
    pairs.sort(key=lambda pair: pair.found.doubt, reverse=True)
    return pairs


def _names(pair: Pair) -> tuple[str, str]:
    """Return the names of the kept page and of the duplicate: their ids, if they share a URL."""
    page, kept = pair.found.verdict, pair.found.verdict.kept
    assert kept is not None
    shared = kept.url == page.url and kept.id and page.id
    return (kept.id, page.id) if shared else (kept.name, page.name)


def _with_texts(found: Explanation, kept: str | None, page: str | None) -> Pair:
    assert found.kept is not None
    found = replace(
        found,
        kept=found.kept._replace(markdown=(kept or "")[:LONGEST]),
        page=found.page._replace(markdown=(page or "")[:LONGEST]),
    )
    if found.parts is not None:
        return Pair(found, side_of(found.parts, 0, "del"), side_of(found.parts, 1, "ins"))
    alone = (  # a text that can be compared with no other
        None if text is None else side_of(parts_of(lines_of(text[:LONGEST]), []), 0, "")
        for text in (kept, page)
    )
    return Pair(found, *alone)


def side_of(parts: Sequence[Part], side: int, tag: str) -> list[Run]:
    """Return one of two texts, with marks around what only it says; it is bounded.

    Long parts that agree are without their middle. White space behind a mark is outside of it.
    """
    left, runs = SIDE, list[Run]()
    for part in parts:
        words = part.sides[side]
        pieces = [words]
        if part.same and len(words) > _FOLDED:
            pieces = [words[:_ENDS], [], words[-_ENDS:]]
        for piece in pieces:
            if not piece and len(pieces) > 1:
                folded = f"… {len(words) - 2 * _ENDS:,} words that agree …"
                runs += [Run(folded, "i"), Run("\n")]
                continue
            text = "".join(piece)
            shown = text[:left]
            inner = shown if part.same else shown.rstrip()
            runs += [Run(inner, "" if part.same else tag), Run(shown[len(inner) :])]
            left -= len(shown)
            if len(shown) < len(text):
                return [*runs, Run("…")]
    return [run for run in runs if run.text]

"""What only one of two pages shows, and what excuses it: without an excuse, it is another page."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simhash_gate.fingerprints.arrays import distinct, is_in
from simhash_gate.fingerprints.folding import Words
from simhash_gate.fingerprints.lines import Kind, Lines, found_in

Excuse = Literal["site", "moves", "page", "shown", "elsewhere", "beside"]
EXCUSES: dict[Excuse, str] = {
    "site": "the site's: pages of other names show it",
    "moves": "moves by itself",
    "page": "about the page: a date, a clock or a counter",
    "shown": "shown in another way",
    "elsewhere": "leads elsewhere",
    "beside": "beside the content",
}
"""Why a line that only one of two pages shows makes no other page, by a short name."""
MOST_WORDS = 14
"""A line that moves by itself has no more."""


class Apart(NamedTuple):
    """The lines that only the kept page shows, and only the new one, by their numbers.

    They are lines by which a page can be told, without an excuse; `excused` are those with one, and
    `covered` tells of each word of the new page whether a line of the kept page has it.
    """

    gone: list[int]
    come: list[int]
    excused: dict[Excuse, list[int]]
    covered: NDArray[np.bool_]

    def without(
        self, excuse: Excuse, gone: Collection[int] = (), come: Collection[int] = ()
    ) -> Apart:
        """Return what is left when some lines have an excuse; the new page's are noted."""
        noted = {excuse: [*self.excused.get(excuse, ()), *come]} if come else {}
        return self._replace(
            gone=[n for n in self.gone if n not in gone],
            come=[n for n in self.come if n not in come],
            excused=self.excused | noted,
        )


def why(kind: int) -> Excuse | None:
    """Return why no page is told from others by a line of some kind; None if it is."""
    is_headline = kind & ~(Kind.SENTENCE | Kind.ORDERED) == Kind.ARTICLE  # it is a name
    if kind & Kind.CONTENT or is_headline:
        return None
    if kind & Kind.CAPTION == Kind.CAPTION:
        return "shown"
    return "page" if kind & Kind.ABOUT else "elsewhere" if kind & Kind.LINK else "beside"


def apart(old: Lines, new: Lines, words: Words, *, revisit: bool = False) -> Apart:
    """Compare the lines of two pages. `words` are those of the new one, one after the other.

    What both show is done with, wherever it stands, and whatever its lines are. Neither a picture
    nor a control tells if one page has none at all, as a print view, nor does a date if only one
    has any. At a `revisit` they tell, and so do links and captions of the article.
    """
    content = Kind.CONTENT | Kind.MARK * revisit
    # Read alike, a word or two in a menu are not what the text says. Copies are read otherwise.
    said, shown = (
        lines.are(Kind.CONTENT | Kind.MARK | Kind.ARTICLE | Kind.SENTENCE) | (not revisit)
        for lines in (old, new)
    )
    only_old = ~is_in(old.keys, distinct(new.keys[shown]))
    only_new = ~is_in(new.keys, distinct(old.keys[said]))
    covered = np.zeros(len(words), np.bool_)
    missing = np.flatnonzero(only_old & said)
    words = np.where(np.repeat(shown, new.sizes), words, 0)
    for number, places in found_in(old.only(only_old & said), words):
        only_old[missing[number]] = False
        for place in places.tolist():
            covered[place : place + int(old.sizes[missing[number]])] = True
    starts = np.cumsum(new.sizes, dtype=np.intp) - new.sizes
    known = only_new.copy()
    known[only_new] = np.logical_and.reduceat(covered, starts)[only_new]
    gone, come = (
        np.flatnonzero(only & (lines.are(content) | (revisit & _are_linked(lines, other)))).tolist()
        for only, lines, other in ((only_old, old, new), (only_new & ~known, new, old))
    )
    found = Apart(gone, come, {}, covered)
    if revisit:
        return found
    before, now = _sorts(old), _sorts(new)
    both = {0, *before} & {0, *now}
    gone = [n for n in gone if before[n] not in both]
    come = [n for n in come if now[n] not in both]
    return found.without("shown", gone, come)


def _are_linked(lines: Lines, other: Lines) -> NDArray[np.bool_]:
    """Tell of each line if it is a link or a caption of an article, as another page has there.

    for: minutes of meetings, dishes, the parts of a thing; captions of two figures; not for links
    that come or go.
    """
    linked = Kind.ARTICLE | Kind.LINK
    ours, theirs = (each.kinds & linked == linked for each in (lines, other))
    there: NDArray[np.bool_] = ours & np.isin(lines.places, other.places[theirs])
    return there


def _sorts(lines: Lines) -> list[int]:
    """Return the sort of each line that tells nothing if one page has none of it, 0 for others.

    The place of a mark is its sort, and dates are one.
    """
    dates = (lines.kinds & (Kind.CONTENT | Kind.ABOUT)) == Kind.CONTENT | Kind.ABOUT
    sorts: list[int] = np.where(
        lines.are(Kind.MARK), lines.places.astype(int) + 1, np.where(dates, -1, 0)
    ).tolist()
    return sorts


def entries(lines: Lines, numbers: Iterable[int]) -> list[int]:
    """Return those of some lines that are linked, and beside the article."""
    return [n for n in numbers if lines.kinds[n] & Kind.LINK and not lines.kinds[n] & Kind.ARTICLE]


def moving(old: Lines, new: Lines, found: Apart) -> dict[int, tuple[list[int], list[int]]]:
    """Return the places where only the numbers of short lines differ, and these lines."""
    by_place = defaultdict[int, tuple[list[int], list[int]]](lambda: ([], []))
    for side, (lines, numbers) in enumerate(((old, found.gone), (new, found.come))):
        for number in numbers:
            by_place[int(lines.places[number])][side].append(number)
    short = (old.sizes <= MOST_WORDS) & (old.forms > 0) & ~old.are(Kind.MARK)
    return {
        place: (gone, come)
        for place, (gone, come) in by_place.items()
        if place
        and short[gone].all()
        and sorted(old.forms[gone].tolist()) == sorted(new.forms[come].tolist())
    }


def are_moved(old: Lines, new: Lines) -> str:
    """Return in words how lines that both pages have stand otherwise, "" if they do not."""
    both = {*old.keys.tolist()}.intersection(new.keys.tolist())
    one, other = _followers(old, both), _followers(new, both)
    if any(one[line] != other[line] for line in one.keys() & other.keys()):
        return "the same words in other places"
    times, its = (
        Counter(lines.keys[lines.are(Kind.CONTENT) & lines.are(Kind.SENTENCE)].tolist())
        for lines in (old, new)
    )
    again = any(times[line] != its[line] for line in times.keys() & its.keys())
    return "a line is there again" if again else ""


def _followers(lines: Lines, others: Collection[int]) -> dict[int, list[int]]:
    """Return what follows each line of a table, a list or a label: what it says something of."""
    article = lines.only(lines.are(Kind.ARTICLE))
    content = article.kinds * article.are(Kind.CONTENT)
    found = defaultdict(list)
    for (line, kind), (after, its) in pairwise(
        zip(article.keys.tolist(), content.tolist(), strict=True)
    ):
        is_name = kind and not kind & Kind.SENTENCE  # of what its values stand under
        if after in others and (
            kind & Kind.LABEL or (its & Kind.ORDERED and (kind & Kind.ORDERED or is_name))
        ):
            found[line].append(after)
    return {line: sorted(after) for line, after in found.items()}

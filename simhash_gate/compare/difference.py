"""Looks closer at two pages that the fingerprint says are alike: names, offers, words, template."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from itertools import islice

from simhash_gate.common.wording import how_many
from simhash_gate.compare.contradictions import Difference, contradiction, same_name
from simhash_gate.compare.names import words_of_line
from simhash_gate.compare.offers import same_offer
from simhash_gate.compare.site_memory import SiteMemory
from simhash_gate.compare.sketch import (
    NO_SKETCH,
    Sketch,
    decode,
    name_in,
    pairs_apart,
    sentences_of,
)
from simhash_gate.fingerprints.folding import HashedLines, Words, hashes_of
from simhash_gate.fingerprints.words import SIGNS, words
from simhash_gate.page import Page
from simhash_gate.stores.base import Record

SHARE = 0.9
"""Of a page's words: with so much that its site repeats, a match says nothing."""
_LABEL = 2  # words beside a value
_SHOWN = 3  # lines
_AROUND = 5  # words


class CloserLook:
    """Looks closer at the pages that the fingerprint says are alike.

    A listing must say exactly the same, in whatever order: one new entry is one new link. Without a
    sketch of either page, so must a short page: a word or two is all that tells it from its
    neighbours. A page of fewer than `least_words` is short. `verify` tells that sketches count.
    """

    def __init__(
        self, page: Page, memory: SiteMemory | None, *, least_words: int, verify: bool
    ) -> None:
        self._page = page
        self._memory = memory
        self._least_words = least_words
        self._sketch = decode(page.sketch or NO_SKETCH)
        self._name = name_in(page.sketch or NO_SKETCH)
        self._is_sketched = verify and bool(page.sketch)
        short = page.words < least_words
        self.exact = page.listing or (short and not self._is_sketched)

    def radius(self, threshold: int, near: int) -> int:
        """Return how many bits away a kept page may be to be looked at."""
        return max(threshold, near) if self._is_sketched and not self.exact else threshold

    def at(self, kept: Record) -> Difference | None:
        """Return what differs in a kept page within the radius; None if it is the same."""
        its = _sketch_of(kept)
        if its is None or not self._is_sketched:
            same = kept.digest == self._page.digest
            near_is_enough = not (self._is_sketched or self._is_short(kept))
            return None if same or near_is_enough else Difference("texts", "another text")
        found = contradiction(its, self._sketch, offers=not self._page.listing)
        if found is not None and found.differs == "names" and self._memory is not None:
            pages = list(map(self._memory.own_names, (its, self._sketch)))
            if all(page.all_names for page in pages):
                found = contradiction(*pages, offers=not self._page.listing)
        if found is not None:
            return found
        if self._memory is not None and not same_name(its, self._sketch):
            share = self._memory.share(self._name, sentences_of(self._page.lines))
            if share >= SHARE:
                return Difference("repeats", "pages of other names say the same")
        reason = self._difference(its, kept)
        return Difference("texts", reason) if reason else None

    def difference(self, kept: Record) -> str:
        """Return in words what the page says other than a kept one; "" if that can't be told."""
        its = _sketch_of(kept)
        return self._difference(its, kept) if its is not None and self._is_sketched else ""

    def _difference(self, kept: Sketch, record: Record) -> str:
        """Return what two pages differ in, in words, "" if they say the same.

        A word that only one article has, though the other page has it nowhere, makes another page.
        So does another order of words, and a line more. What the site repeats is left out, and so
        are labels of what both pages offer: "SKU H303" is "Item no. H303" in print.
        """
        new = self._sketch
        for name, said in (("images", "images"), ("controls", "videos, frames or buttons")):
            one, other = getattr(kept, name), getattr(new, name)
            if one and other and one != other:  # a print view has none
                return f"other {said}"
        if record.digest == self._page.digest:
            return ""
        one_offer = same_offer(kept, new) and same_name(kept, new)
        gone, lacking = kept.words.lacking(new.words), new.words.lacking(kept.words)
        come = self._own(lacking, self._labels if one_offer else ())
        lines = kept.lines.lacking(new.lines), new.lines.lacking(kept.lines)
        furniture = (
            not come
            and self._memory is not None
            and self._memory.are_repeated(self._name, lines[0].tolist(), kept.lines.bits)
        )
        if come or (len(gone) and not furniture):
            return self._changed(len(gone), come)
        if one_offer and (len(gone) or len(lacking)):  # other labels have other neighbours
            return ""
        apart = pairs_apart(kept.pairs, new.pairs)
        if apart is None or (all(apart) and not self._pairs.issuperset(apart[0])):
            return "the same words in another order"
        moved = not any(apart) and all(map(len, lines)) and not furniture
        moved = moved or (kept.again != new.again and not any(map(len, lines)))
        if moved or (kept.order and new.order and kept.order != new.order):
            return "the same words in other places"
        less, more = (
            bool(len(own)) and not _are_joined(own, other, apart[side])
            for side, (own, other) in enumerate((lines, lines[::-1]))
        )
        added = self._added(lines[1]) if more else []
        less = less and not furniture
        if less != bool(added):
            return self._changed(0, added) if added else "a line is gone"
        dated = kept.dated and new.dated and kept.dated != new.dated
        return "another date" if dated and self._is_short(record) else ""

    def _own(self, lacking: Words, labels: Collection[int]) -> list[tuple[str, int]]:
        """Return the words of the page that some hashes stand for, each with a line that has it.

        What the site repeats is none, nor what stands in `labels` alone. Of a hash that no line has
        the word for, the line is -1.
        """
        found = []
        known = self._words if len(lacking) else {}
        for number in lacking.tolist():
            word, lines = known.get(number, ("", [-1]))
            own = [n for n in lines if n < 0 or not (n in labels or self._is_repeated(n))]
            if own:
                found.append((word, own[0] if len(own) == 1 else max(own, key=self._counts)))
        return found

    def _counts(self, line: int) -> bool:
        """Tell if a line is one of five words or more by which the page can be told."""
        return self._sketch.lines.have(" ".join(self._tokens[line]), own=True)

    def _changed(self, gone: int, come: list[tuple[str, int]]) -> str:
        """Say which lines have words that have come, and how many words are gone."""
        lines: dict[int, str] = {}
        for word, line in come:
            lines.setdefault(line, word)
        shown = [repr(self._shown(*it)) for it in islice(lines.items(), _SHOWN) if it[0] >= 0]
        more = len(lines) - len(shown)
        new = ", ".join([*shown, *([f"{how_many(more, 'line')} more"] if more else [])])
        found = [f"new: {new}"] if come else []
        return "; ".join([*found, f"gone: {how_many(gone, 'word')}"] if gone else found)

    def _shown(self, line: int, word: str) -> str:
        """Return the words of a line around one of them."""
        tokens = self._tokens[line]
        place = tokens.index(word) if word in tokens else 0
        start, end = max(0, place - _AROUND), place + _AROUND + 1
        return "…" * (start > 0) + " ".join(tokens[start:end]) + "…" * (end < len(tokens))

    @cached_property
    def _labels(self) -> frozenset[int]:
        """The lines that say, in a word or two, what is offered."""
        offered = SIGNS.union(*(words(value) for _, value in self._sketch.offered))
        return frozenset(
            place
            for place, tokens in enumerate(self._tokens)
            if not offered.isdisjoint(tokens) and len({*tokens} - offered) <= _LABEL
        )

    @cached_property
    def _words(self) -> dict[int, tuple[str, list[int]]]:
        """The words of the article and the lines that have them, by their hashes."""
        found: dict[str, list[int]] = {}
        for place, tokens in enumerate(self._tokens):
            for word in words_of_line(tokens):
                found.setdefault(word, []).append(place)
        hashes = self._sketch.words.cut(found).tolist()
        return dict(zip(hashes, found.items(), strict=True))

    @cached_property
    def _tokens(self) -> list[list[str]]:
        return [line.split(" ") for line in self._page.lines.decode().split("\n")]

    @cached_property
    def _hashes(self) -> list[int]:
        return list(map(int, hashes_of(map(" ".join, self._tokens))))

    @cached_property
    def _pairs(self) -> set[int]:
        return set(HashedLines.of(self._tokens).pairs().tolist())

    def _is_repeated(self, line: int) -> bool:
        return self._memory is not None and self._memory.is_repeated(self._name, self._hashes[line])

    def _added(self, lacking: Words) -> list[tuple[str, int]]:
        """Return the lines that some hashes stand for, as `_own` does, but for the site's."""
        shift = 32 - self._sketch.lines.bits
        added = set(lacking.tolist())
        lines = [place for place, number in enumerate(self._hashes) if number >> shift in added]
        return [("", line) for line in lines or [-1] if line < 0 or not self._is_repeated(line)]

    def _is_short(self, kept: Record) -> bool:
        return min(self._page.words, kept.words) < self._least_words


def _are_joined(lines: Words, parts: Words, pairs: list[int]) -> bool:
    """Tell if lines that only one page has are lines of the other, two or more in one.

    Nothing is new but the pairs of words where two of them meet; those who changed a line have one
    for one. A page that shows a list in another way has it so.
    """
    return not pairs or (len(pairs) <= len(lines) and 3 * len(lines) <= 2 * len(parts))


def _sketch_of(kept: Record) -> Sketch | None:
    """Return what a kept page says; None if it has no sketch, or one of another version."""
    try:
        return decode(kept.sketch)
    except ValueError:
        return None

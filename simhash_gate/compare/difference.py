"""Looks closer at two pages that the fingerprint says are alike: names, offers, words, template."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import islice, pairwise

import numpy as np

from simhash_gate.common.wording import how_many
from simhash_gate.compare.contradictions import Difference, contradiction, same_name
from simhash_gate.compare.offers import same_offer
from simhash_gate.compare.site_memory import SiteMemory
from simhash_gate.compare.sketch import NO_SKETCH, Sketch, decode
from simhash_gate.fingerprints.arrays import distinct, is_in
from simhash_gate.fingerprints.folding import HashedLines
from simhash_gate.fingerprints.lines import CONTENT, MARK, ORDERED, SENTENCE, Lines, found_in
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
        self._name = self._sketch.name_key
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
            share = self._memory.share(self._name, self._sketch.lines)
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

        What both show is done with, wherever it stands. Each line that only one of them has needs
        an excuse.
        """
        if record.digest == self._page.digest:
            return ""
        old, new = kept.lines, self._sketch.lines
        only_old = ~is_in(old.keys, distinct(new.keys))
        only_new = ~is_in(new.keys, distinct(old.keys))
        missing = np.flatnonzero(only_old)
        covered = np.zeros(len(self._hashed.words), np.bool_)
        for number, places in found_in(old.only(only_old), self._hashed.words):
            only_old[missing[number]] = False
            for place in places.tolist():
                covered[place : place + int(old.sizes[missing[number]])] = True
        starts = np.cumsum(new.sizes, dtype=np.intp) - new.sizes
        only_new[only_new] = ~np.logical_and.reduceat(covered, starts)[only_new]
        gone = np.flatnonzero(only_old & old.are(CONTENT))
        come = np.flatnonzero(only_new & new.are(CONTENT))
        gone_lines = [n for n in gone.tolist() if not self._is_excused(old, new, n)]
        come_lines = [n for n in come.tolist() if not self._is_excused(new, old, n)]
        if same_offer(kept, self._sketch) and same_name(kept, self._sketch):
            labels = [n for n in come_lines if n in self._labels]
            come_lines = [n for n in come_lines if n not in self._labels]
            short = [n for n in gone_lines if not old.kinds[n] & SENTENCE]
            gone_lines = [n for n in gone_lines if n not in short[: len(labels)]]
        if gone_lines or come_lines:
            return self._changed(int(old.sizes[gone_lines].sum()), come_lines, covered)
        both = distinct(old.keys[old.are(CONTENT)]), distinct(new.keys[new.are(CONTENT)])
        one, other = (
            lines.only(is_in(lines.keys, both[0]) & is_in(lines.keys, both[1]))
            for lines in (old, new)
        )
        if _orders(one) != _orders(other):
            return "the same words in other places"
        return ""

    def _is_excused(self, lines: Lines, others: Lines, line: int) -> bool:
        """Tell if a line that only one page has makes no other page of it."""
        if lines.kinds[line] & MARK and not others.are(MARK).any():
            return True
        return self._memory is not None and self._memory.is_repeated(
            self._name, int(lines.keys[line])
        )

    def _changed(self, gone: int, come: list[int], covered: np.ndarray) -> str:
        """Say which lines have come, and how many words are gone."""
        shown = [repr(self._shown(line, covered)) for line in come[:_SHOWN]]
        more = len(come) - len(shown)
        new = ", ".join([*shown, *([f"{how_many(more, 'line')} more"] if more else [])])
        found = [f"new: {new}"] if come else []
        return "; ".join([*found, f"gone: {how_many(gone, 'word')}"] if gone else found)

    def _shown(self, line: int, covered: np.ndarray) -> str:
        """Return the words of a line around the first that the other page has not."""
        tokens = self._tokens[line]
        begin = int(self._sketch.lines.sizes[:line].sum())
        place = int(np.argmin(covered[begin : begin + len(tokens)]))
        start, end = max(0, place - _AROUND), place + _AROUND + 1
        shown = " ".join(tokens[start:end]).lstrip("\ue000")
        return "…" * (start > 0) + shown + "…" * (end < len(tokens))

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
    def _tokens(self) -> list[list[str]]:
        return [line.split(" ") for line in self._page.lines.decode().split("\n") if line]

    @cached_property
    def _hashed(self) -> HashedLines:
        return HashedLines.of(self._tokens)

    def _is_short(self, kept: Record) -> bool:
        return min(self._page.words, kept.words) < self._least_words


def _orders(lines: Lines) -> list[tuple[int, int]]:
    """Return what follows what in tables, lists and labels: of which thing a page says something."""
    ordered = zip(lines.keys.tolist(), lines.are(ORDERED).tolist(), strict=True)
    return sorted((one, other) for (one, first), (other, last) in pairwise(ordered) if first and last)


def _sketch_of(kept: Record) -> Sketch | None:
    """Return what a kept page says; None if it has no sketch, or one of another version."""
    try:
        return decode(kept.sketch)
    except ValueError:
        return None

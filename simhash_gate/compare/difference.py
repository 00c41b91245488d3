"""Looks closer at two pages that the fingerprint says are alike: names, offers, words, template."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property

import numpy as np

from simhash_gate.common.wording import how_many
from simhash_gate.compare.apart import EXCUSES, Apart, apart, are_moved, entries, moving
from simhash_gate.compare.contradictions import Difference, contradiction, same_name
from simhash_gate.compare.offers import same_offer
from simhash_gate.compare.site_memory import SiteMemory
from simhash_gate.compare.sketch import NO_SKETCH, Sketch, decode
from simhash_gate.fingerprints.folding import HashedLines
from simhash_gate.fingerprints.lines import Kind, Lines
from simhash_gate.fingerprints.words import SIGNS, words
from simhash_gate.page import Page
from simhash_gate.page.money import find_money
from simhash_gate.stores.base import Record

SHARE = 0.9
"""Of a page's words: with so much that its site repeats, a match says nothing."""
LEAST_WORDS = 40
"""Of a page with fewer words, nothing moves by itself: what changes may be all it is read for."""
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
        self.excused = ""
        self.exact = page.listing or (short and not self._is_sketched)

    def radius(self, threshold: int, near: int) -> int:
        """Return how many bits away a kept page may be to be looked at."""
        return max(threshold, near) if self._is_sketched and not self.exact else threshold

    def at(self, kept: Record) -> Difference | None:
        """Return what differs in a kept page within the radius; None if it is the same."""
        its = _sketch_of(kept)
        if its is None or not self._is_sketched:
            same = kept.digest == self._page.digest
            short = min(self._page.words, kept.words) < self._least_words
            near_is_enough = not (self._is_sketched or short)
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

    def revisit(self, kept: Record, digest: int) -> str | None:
        """Return in words what a page says other than at its last visit; "" for the same.

        None if `kept` is no longer that version, which had a `digest`, or if that can't be told.
        The memory learns where such a page moves by itself.
        """
        its = _sketch_of(kept) if kept.sketch and kept.digest == digest else None
        if its is None or not self._is_sketched:
            return None
        old, new = its.lines, self._sketch.lines
        found = apart(old, new, self._hashed.words, revisit=True)
        if digest == self._page.digest and not (found.gone or found.come):
            return ""
        moved = moving(old, new, found)
        sizes = [sum(map(len, its)) for its in zip(*moved.values(), strict=True)]
        whole = sizes == [len(found.gone), len(found.come)]
        if self._memory is not None and self._may_move and whole and not self._priced(found.come):
            self._memory.learn_moves(self._name, moved)
        found = self._without_moves(old, new, found)
        return self._said(its, found)

    def _difference(self, kept: Sketch, record: Record) -> str:
        """Return in words what two pages differ in, "" if they say the same.

        What both show is done with, wherever it stands. Each line that only one of them has needs
        an excuse.
        """
        if record.digest == self._page.digest:
            return ""
        old, new = kept.lines, self._sketch.lines
        found = apart(old, new, self._hashed.words)
        if not (found.gone or found.come):
            return self._said(kept, found)
        if self._memory is not None:
            # One for another, at one place, is another value, though the site has both.
            gone, come = ({*of.tolist()} for of in (old.places[found.gone], new.places[found.come]))
            values = gone & come - {0}
            sides = (
                [n for n in its if lines.places[n] not in values and self._repeats(lines, n, other)]
                for lines, its, other in ((old, found.gone, new), (new, found.come, old))
            )
            found = self._without_moves(old, new, found.without("site", *sides))
        if kept.single != self._sketch.single:  # a line counts on both, or on none
            found = found.without("elsewhere", *map(entries, (old, new), (found.gone, found.come)))
        if same_offer(kept, self._sketch) and same_name(kept, self._sketch):
            labels = [n for n in found.come if n in self._labels]
            short = [n for n in found.gone if not old.kinds[n] & Kind.SENTENCE]
            less = len(labels) if len(found.come) > len(labels) else None  # a print view says less
            found = found.without("shown", short[:less], labels)
        return self._said(kept, found)

    def _repeats(self, lines: Lines, line: int, other: Lines) -> bool:
        """Tell if the site shows a line on pages of other names. Of an entry this says nothing.

        So does it a sentence that differs in its numbers alone, if the other page has none such.
        for: print views that say when they were printed, and of which address.
        """
        assert self._memory is not None
        kind, form = lines.kinds[line], int(lines.forms[line])
        is_entry = kind & (Kind.MARK | Kind.LINK)
        if not is_entry and self._memory.is_repeated(self._name, int(lines.keys[line])):
            return True
        usual = kind & Kind.SENTENCE and form not in other.forms
        return bool(usual) and self._memory.is_usual(self._name, form)

    @property
    def _may_move(self) -> bool:
        """Whether what changes on the page may be no more than what its template moves."""
        return self._page.words >= LEAST_WORDS and not self._sketch.offered

    def _without_moves(self, old: Lines, new: Lines, found: Apart) -> Apart:
        if self._memory is None or not self._may_move:
            return found
        for place, (gone, come) in moving(old, new, found).items():
            if self._memory.moves(self._name, place) and not self._priced(come):
                found = found.without("moves", gone, come)
        return found

    def _priced(self, lines: Collection[int]) -> bool:
        return any(find_money(" ".join(self._tokens[line]).upper()) for line in lines)

    def _said(self, kept: Sketch, found: Apart) -> str:
        """Say which lines have come, and how many words are gone; note what is excused."""
        noted = [(excuse, line) for excuse, lines in found.excused.items() for line in lines]
        each = [f"{self._shown(line, kept, found)!r} {EXCUSES[excuse]}" for excuse, line in noted]
        self.excused = self._listed(each)
        old, new = kept.lines, self._sketch.lines
        if not (found.gone or found.come):
            return are_moved(old, new)
        gone, come = int(old.sizes[found.gone].sum()), found.come
        lines = self._listed([repr(self._shown(line, kept, found)) for line in come])
        said = [f"new: {lines}"] if come else []
        return "; ".join([*said, f"gone: {how_many(gone, 'word')}"] if gone else said)

    @staticmethod
    def _listed(lines: Sequence[str]) -> str:
        more = len(lines) - _SHOWN
        return ", ".join([*lines[:_SHOWN], *[f"{how_many(more, 'line')} more"] * (more > 0)])

    def _shown(self, line: int, kept: Sketch, found: Apart) -> str:
        """Return the words of a line around the first that the other page has not."""
        tokens = self._tokens[line]
        begin = int(self._sketch.lines.sizes[:line].sum())
        new = np.flatnonzero(~found.covered[begin : begin + len(tokens)]).tolist()
        place = next((n for n in new if not kept.words.have(tokens[n])), new[0])
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
            if not offered.isdisjoint(tokens)
            and len(rest := {*tokens} - offered) <= _LABEL
            and not any(map(str.isdigit, rest))
        )

    @cached_property
    def _tokens(self) -> list[list[str]]:
        return [line.split(" ") for line in self._page.lines.decode().split("\n") if line]

    @cached_property
    def _hashed(self) -> HashedLines:
        return HashedLines.of(self._tokens)


def _sketch_of(kept: Record) -> Sketch | None:
    """Return what a kept page says; None if it has no sketch, or one of another version."""
    try:
        return decode(kept.sketch)
    except ValueError:
        return None

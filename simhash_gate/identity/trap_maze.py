"""Knows mazes: pages of ever new text that lead to nothing but more of them.

A large archive has new pages in one shape, too. What tells a maze, all at once, over the last pages
that were found from pages of their own group:

- nearly all pages are found from inside, and every one leads to others that nobody knew;
- what waits grows with each page;
- no link comes back to a page that is known, except to those that led here;
- the words are those of a generator: no page brings a new one. Text of ever new words is a maze
  only after two thousand such pages without a way back.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

WINDOW = 60
"""The pages that are looked at."""
LONG = 2_000
"""Pages in a row without an end and a way back, after which new words count no more."""
MOST_KNOWN = 50_000
"""URLs of one scope that are known; beyond these all are forgotten, and the look begins anew."""

_INSIDE = 0.95
_DEAD_ENDS = 0.02
_GROWTH = 1.5
_RETURNS = 0.05
_NEW_WORDS = 3.0
_RESTS = 60  # pages that are not looked at, after as many whose window had many ways back
_MANY_RETURNS = 10
_SETBACK = 50
_MOST_ANCESTORS = 100
_DOUBTS = 2  # pages with an end or a way back, after which a maze is thought to be none


class Step(NamedTuple):
    """A page of a group: if it was found from inside, links new and known, words never met."""

    inside: bool
    fresh: int
    returns: int
    words: int


class Known:
    """The URLs of one scope that were found, and the page that each was found on."""

    def __init__(self) -> None:
        self.renewed = 0
        self._parents: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._parents)

    def __contains__(self, url: int) -> bool:
        return url in self._parents

    def add(self, url: int, parent: int) -> None:
        """Note on which page a URL was found first."""
        if url in self._parents:
            return
        if len(self._parents) >= MOST_KNOWN:
            self._parents.clear()
            self.renewed += 1
        self._parents[url] = parent

    def leads_to(self, url: int) -> set[int]:
        """Return the pages that led to one, the page itself included."""
        return {url, *self._ancestors(url)}

    def _ancestors(self, url: int) -> Iterator[int]:
        for _ in range(_MOST_ANCESTORS):
            parent = self._parents.get(url)
            if parent is None or parent == url:
                return
            yield parent
            url = parent


class Maze:
    """Watches one group of shapes.

    It is `suspect` if its pages lead to ever more of it, and `endless` if they say nothing, too.
    """

    def __init__(self) -> None:
        self.endless = self.suspect = False
        self._steps: deque[Step] = deque(maxlen=WINDOW)
        self._returned: set[int] = set()
        self._streak = 0
        self._rests = 0
        self._many = 0
        self._renewed = 0
        self._doubts = 0

    def outside(self) -> None:
        """Take a page that was found from outside of its group."""
        if self._steps:
            self._steps.append(Step(False, 0, 0, 0))

    def resting(self) -> bool:
        """Let a page go by if its links need not be looked at; tell if so."""
        rests = self._rests > 0
        self._rests -= rests
        return rests

    def step(self, links: Collection[int], known: Known, page: int, words: int) -> None:
        """Take a page that was found from inside, with its links to its own group."""
        if known.renewed != self._renewed:
            self._renewed = known.renewed
            self._forget()
        led = known.leads_to(page)
        back = {link for link in links if link in known and link not in led}
        fresh = sum(link not in known for link in links)
        for link in links:
            known.add(link, page)
        returns = len(back - self._returned)
        if len(self._returned) < MOST_KNOWN:
            self._returned |= back
        deeper = fresh > 0 and not returns
        if self.endless:
            self._doubts += not deeper
            if self._doubts >= _DOUBTS:
                self.endless = self.suspect = False
                self._forget()
            return
        self._streak = self._streak + 1 if deeper else max(0, self._streak - _SETBACK)
        self._steps.append(Step(True, fresh, returns, words))
        self.suspect = self._leads_on()
        self.endless = self.suspect and self._is_generated()
        self._doubts = 0

    def _forget(self) -> None:
        self._steps.clear()
        self._returned.clear()
        self._streak = 0
        self._many = 0

    def _leads_on(self) -> bool:
        """Tell if the last pages lead to ever more of their group, whatever they say."""
        steps = self._steps
        if len(steps) < WINDOW:
            return False
        returns = sum(step.returns for step in steps)
        if returns >= _MANY_RETURNS:
            self._many += 1
            if self._many >= WINDOW:
                self._rests = _RESTS
                self._forget()
            return False
        inside = sum(step.inside for step in steps)
        dead = sum(not step.fresh for step in steps)
        return (
            inside >= _INSIDE * WINDOW
            and dead <= _DEAD_ENDS * WINDOW
            and sum(step.fresh for step in steps) >= _GROWTH * WINDOW
            and returns <= _RETURNS * WINDOW
        )

    def _is_generated(self) -> bool:
        """Tell if their words are those of a generator, or they are too many without an end."""
        recent = list(self._steps)[WINDOW // 2 :]
        words = sum(step.words for step in recent) / len(recent)
        return words <= _NEW_WORDS or self._streak >= LONG

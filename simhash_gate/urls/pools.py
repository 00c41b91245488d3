"""The evidence for the rules of all sites, within bounds."""

from __future__ import annotations

from collections import OrderedDict
from itertools import islice
from typing import TYPE_CHECKING

from simhash_gate.urls.active_rules import EVERY
from simhash_gate.urls.evidence import PRIOR, Evidence, Pool, Word
from simhash_gate.urls.known import is_known

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simhash_gate.urls.rules import Rule

MOST_RULES = 16_384
"""Rules of all sites of which evidence is kept; those that were not met for longest go first."""
_LOOKED_AT = 50


class Pools:
    """Keeps a pool of evidence for each rule of each scope."""

    def __init__(self) -> None:
        self._pools: OrderedDict[tuple[str, Rule], Pool] = OrderedDict()
        self._kept = 0

    def __iter__(self) -> Iterator[tuple[str, Rule]]:
        """Yield each scope and rule."""
        return iter(self._pools)

    def get(self, scope: str, rule: Rule) -> Pool | None:
        """Return the pool of a rule, if there is one."""
        return self._pools.get((scope, rule))

    def of(self, scope: str, rule: Rule, shape: str) -> Pool:
        """Return the pool of a rule, for evidence on URLs of a shape; the rule is met by that."""
        pool = self._pools.get((scope, rule))
        if pool is None:
            guessed = is_known(rule) or self.word_everywhere(rule) == "guess"
            pool = self._pools[scope, rule] = Pool(prior=PRIOR if guessed else 0)
        self._pools.move_to_end((scope, rule))
        if shape not in pool.shapes:
            self._make_room(pool)
        return pool

    def evidence(self, scope: str | None = None) -> Iterator[tuple[str, str, Rule, Evidence]]:
        """Yield each scope, shape and rule with what is known of it."""
        for (where, rule), pool in self._pools.items():
            if scope in (None, where):
                for shape, evidence in pool.shapes.items():
                    yield where, shape, rule, evidence

    def word_everywhere(self, rule: Rule) -> Word:
        """Return what was said of a rule for all sites."""
        pool = self._pools.get((EVERY, rule))
        return "" if pool is None else word_of(pool)

    def _make_room(self, wanted: Pool) -> None:
        """Forget what was not met for longest, if there is no room for one more shape."""
        self._kept += 1
        for key in list(islice(self._pools, _LOOKED_AT)) if self._kept > MOST_RULES else ():
            pool = self._pools[key]
            idle = [
                shape
                for shape, each in pool.shapes.items()
                if each.state != "active" and not each.word
            ]
            for shape in idle:
                del pool.shapes[shape]
            self._kept -= len(idle)
            if pool.shapes or pool is wanted:
                self._pools.move_to_end(key)
            else:
                del self._pools[key]
            if idle:
                return


def word_of(pool: Pool) -> Word:
    """Return what was said of a rule for all shapes."""
    everywhere = pool.shapes.get(EVERY)
    return "" if everywhere is None else everywhere.word

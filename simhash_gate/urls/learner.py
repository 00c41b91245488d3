"""Learns which parts of a site's URLs do not matter, from pages that were compared.

The evidence for a rule is a pair of URLs that differ by it. Two pages of one content speak for it,
two pages that are not alike against it. What can't be told counts for neither. The idea is that of
Bar-Yossef, Keidar and Schonfeld (Do not crawl in the DUST, 2007, section 3): what a rule is worth
shows on the pages. Rules are kept for each shape of path, as Koppula et al. (Learning URL patterns
for webpage de-duplication, 2010) have them for each prefix.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from simhash_gate.urls.active_rules import EVERY, beside, is_bare, wider
from simhash_gate.urls.evidence import PRIOR, Evidence, Pool, State
from simhash_gate.urls.fetched import Fetched, are_alike, content_of, relation
from simhash_gate.urls.pairs_compared import PairsCompared, shapes_of, values_of
from simhash_gate.urls.parts import MASKS, NUMBER, numbers_in, parts_of
from simhash_gate.urls.pools import Pools, word_of
from simhash_gate.urls.rules import ANY_VALUE, Rule, differences
from simhash_gate.urls.siblings import Siblings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simhash_gate.urls.active_rules import Reasons
    from simhash_gate.urls.parts import Numbers, Parts

LEAST = 0.9
"""A rule acts where this share of its cases holds, at the least."""


class Change(NamedTuple):
    """A rule became active, was suspended, or was dropped."""

    scope: str
    shape: str
    rule: Rule
    state: State
    evidence: Evidence
    bound: float
    examples: tuple[tuple[str, str], ...]


class Learner(PairsCompared):
    """Rules of any number of scopes. `least` is the share that a rule must hold in, to act."""

    def __init__(self, least: float = LEAST) -> None:
        super().__init__()
        self._least = least
        self._pools = Pools()
        self._siblings = Siblings()

    def observe(
        self,
        scope: str,
        url: str,
        kept: str | None = None,
        same: bool | None = None,
        *,
        fingerprint: int | None = None,
        said: bytes = b"",
        stood: Fetched | None = None,
        by: Reasons = (),
    ) -> list[Change]:
        """Learn from a page that was fetched and compared; return what changed.

        `kept` is the URL of the page that it was compared with, `same` tells what came of it: None
        if that is not sure, or if there was none. The `fingerprint` tells it from other pages that
        were fetched before. If it was fetched to test rules, `stood` is what stood for it, `by`
        these.
        """
        parts = parts_of(url)
        self.shapes.note(parts)
        content = content_of(kept if same and kept else url)
        page = Fetched(url, parts, content, fingerprint, said, self.shapes.of(parts))
        pairs: list[tuple[Fetched, bool]] = []
        is_new = kept is None or same is False
        if kept is not None and same is not None and kept != url:
            its = parts_of(kept)
            other = Fetched(kept, its, content_of(kept), shape=self.shapes.of(its))
            pairs.append((other, same))
        else:
            kept = None
        if stood is not None:
            stood = stood._replace(shape=self.shapes.of(stood.parts))
            pairs += self._tested(scope, page, stood, by, is_new=is_new)
        more, unsure = self._siblings_of(scope, page, kept)
        pairs += more
        changes = [each for other in unsure for each in self._wonder(scope, page, other)]
        told = self._told_by(scope, page, pairs) if pairs else {}
        for (shape, rule), (found, pair) in told.items():
            changes += self._count(scope, shape, rule, pair, same=found)
        for other, found in pairs:
            if not found and self._acts(scope):
                changes += self._part(scope, page, other)
        return changes

    def _tested(
        self, scope: str, page: Fetched, stood: Fetched, by: Reasons, *, is_new: bool
    ) -> list[tuple[Fetched, bool]]:
        """Return what a page says of that which stood for it, if anything.

        If too many tests of a rule bring pages that nothing is like (`is_new`), the rule is wrong.
        """
        found = relation(page, stood)
        if found is not None:
            strange = False
        elif is_new and not are_alike(page, stood):
            strange = True
        else:
            return []
        for shape, rule in by:
            evidence = self._known_of(scope, shape, rule)
            if evidence is not None and evidence.test(strange=strange):
                found = False
        return [] if found is None else [(stood, found)]

    def _note_case(self, rule: Rule, pool: Pool, scope: str, page: Parts, other: Parts) -> None:
        """Note what kind of case speaks for a rule about a parameter."""
        if not pool.prior:
            pool.note_beside(beside(rule.name, page, other))
        if rule.value == ANY_VALUE and not pool.is_known_later:
            pool.later += self._first.is_later(scope, page, rule.name)
        pool.bare += is_bare(rule, page, other)

    def _siblings_of(
        self, scope: str, page: Fetched, kept: str | None
    ) -> tuple[list[tuple[Fetched, bool]], list[Fetched]]:
        """Return pages whose URLs are like that of a page: what they are to it, or not sure."""
        keys = self._siblings.keys(scope, page, partial(self._is_hopeless, scope, page.shape))
        pairs, unsure = [], []
        for other in self._siblings.of(keys, page.url, kept):
            found = relation(page, other)
            if found is not None:
                pairs.append((other, found))
            elif page.fingerprint is not None and other.fingerprint is not None:
                unsure.append(other)
        self._siblings.remember(page, keys)
        return pairs, unsure

    def _part(self, scope: str, page: Fetched, other: Fetched) -> list[Change]:
        """Stop rules by which one of two contents would stand for the other, the weakest first."""
        changes: list[Change] = []
        stopped: set[tuple[str, Rule]] = set()
        while left := {*self.reasons(scope, page.url, other.url)} - stopped:
            weakest = min(sorted(left), key=lambda each: self._support(scope, *each))
            changes += self._count(scope, *weakest, (page, other), same=False)
            stopped.add(weakest)
        return changes

    def _support(self, scope: str, shape: str, rule: Rule) -> float:
        evidence = self._known_of(scope, shape, rule)
        return 0 if evidence is None else evidence.support

    def _holds_later(self, scope: str, rule: Rule) -> bool:
        pool = self._pools.get(scope, rule)
        return self._is_pinned(scope, rule) or (pool is not None and pool.is_known_later)

    def _holds_bare(self, scope: str, rule: Rule) -> bool:
        pool = self._pools.get(scope, rule)
        return self._is_pinned(scope, rule) or (pool is not None and pool.is_known_bare)

    def _holds_beside(self, scope: str, rule: Rule, names: frozenset[str]) -> bool:
        pool = self._pools.get(scope, rule)
        known = pool is not None and pool.is_known_beside(names)
        return known or self._is_pinned(scope, rule)

    def _is_pinned(self, scope: str, rule: Rule) -> bool:
        pool = self._pools.get(scope, rule)
        words = {each.word for each in pool.shapes.values()} if pool is not None else set()
        return "pinned" in words or self._pools.word_everywhere(rule) == "pinned"

    def _is_claimed(self, scope: str, rule: Rule) -> bool:
        pool = self._pools.get(scope, rule)
        return pool is not None and pool.support > 0

    def put(self, scope: str, shape: str, rule: Rule, evidence: Evidence) -> list[Change]:
        """Take over what is known of a rule, from an earlier crawl or from its user."""
        self.shapes.take_over(shape)
        pool = self._pools.of(scope, rule, shape)
        known = pool.shapes.get(shape)
        if known is not None and known.seen:
            known.earlier, known.word = evidence.earlier, evidence.word
        else:
            pool.put(shape, evidence)
        self._siblings.propose(scope, shape, rule)
        everywhere = (scope, shape) == (EVERY, EVERY)
        concerned = [where for where, its in self._pools if its == rule] if everywhere else []
        changes: list[Change] = []
        for where in concerned or [scope]:
            other = self._pools.get(where, rule) or pool
            if evidence.word == "guess":
                other.prior = PRIOR
            for name, its in other.shapes.items():  # a word for all of them concerns each
                if shape in (name, EVERY):
                    changes += self._settle(where, name, rule, other, its)
        if evidence.word == "forbidden":  # it may be an exception to a rule for every shape
            self._rebuild(scope, shape)
        return changes

    def evidence(self, scope: str | None = None) -> Iterator[tuple[str, str, Rule, Evidence]]:
        """Yield each scope, shape and rule with what is known of it."""
        return self._pools.evidence(scope)

    def bound(self, scope: str, shape: str, rule: Rule) -> float:
        """Return the share of cases in which a rule holds, at the least."""
        pool = self._pools.get(scope, rule)
        return pool.bound(shape) if pool is not None and shape in pool.shapes else 0.0

    def _is_hopeless(self, scope: str, shape: str, name: str) -> bool:
        """Tell whether a parameter has shown often enough that it matters, whatever its value."""
        every = self._known_of(scope, shape, Rule("parameter", name, ANY_VALUE))
        if every is None or not every.is_hopeless:
            return False
        some = (self._known_of(scope, shape, Rule("value", name, each)) for each in MASKS)
        return all(each is None or each.is_hopeless for each in some)

    def _known_of(self, scope: str, shape: str, rule: Rule) -> Evidence | None:
        pool = self._pools.get(scope, rule)
        return None if pool is None else pool.shapes.get(shape)

    def _wonder(self, scope: str, page: Fetched, other: Fetched) -> list[Change]:
        """Count a case of which nobody can tell, where a single rule is at stake.

        Pages of one name with nearly the same words are no reason to doubt it.
        """
        changes: list[Change] = []
        rules = differences(page.parts, other.parts)
        if rules is None or len(rules) != 1 or are_alike(page, other):
            return changes
        for rule in dict.fromkeys((rules[0], wider(rules[0]), *values_of(rules, page, other))):
            pool = self._pools.get(scope, rule)
            for shape in shapes_of(rule, page, other) if pool is not None else ():
                if pool is not None and shape in pool.shapes:
                    evidence = pool.shapes[shape]
                    evidence.add_unsure()
                    last = (page.url, other.url)
                    changes += self._settle(scope, shape, rule, pool, evidence, last)
        return changes

    def _count(
        self, scope: str, shape: str, rule: Rule, pair: tuple[Fetched, Fetched], *, same: bool
    ) -> list[Change]:
        page, other = pair
        numbers = numbers_in(page.parts.segments) if NUMBER in shape else ()
        if numbers and numbers_in(other.parts.segments) != numbers:
            numbers = ()
        last = (page.url, other.url)
        changes = [] if same else self._cut(scope, shape, rule, numbers, last)
        if not same and not changes:
            changes = self._split(scope, shape, rule, pair)
        if self.shapes.is_split(shape):
            shape = self.shapes.with_name(shape, beside(rule.name, page.parts, other.parts))
        shape = self.shapes.part(shape, numbers) if numbers else shape
        pool = self._pools.of(scope, rule, shape)
        evidence = pool.add(shape, same=same)
        if same and rule.is_about_values:
            self._note_case(rule, pool, scope, page.parts, other.parts)
        if same and numbers:
            evidence.note_numbers(numbers)
        if same and not evidence.is_noted(rule):
            value = _value_of(rule, pair)
            evidence.note(page.content, value, (page.url, other.url))
            pool.note(page.content, value)
            self._siblings.propose(scope, shape, rule)
        if same and evidence.state == "active":
            return []
        changes += self._settle(scope, shape, rule, pool, evidence, last)
        return changes if same else changes + self._contradicted(scope, shape, rule, pool, last)

    def _cut(
        self, scope: str, shape: str, rule: Rule, numbers: Numbers, last: tuple[str, str]
    ) -> list[Change]:
        """Cut a shape where a rule ends to hold that held for all lower numbers.

        A site has changed since, for newer pages. On these, no rule acts until they confirm it.
        """
        pool = self._pools.get(scope, rule)
        known = pool.shapes.get(shape) if pool is not None else None
        if known is None or not known.ends_before(numbers):
            return []
        if not self.shapes.cut(shape, known.highest):
            return []
        return self._begin(scope, shape, self.shapes.part(shape, numbers), rule, last)

    def _split(
        self, scope: str, shape: str, rule: Rule, pair: tuple[Fetched, Fetched]
    ) -> list[Change]:
        """Part a shape by a parameter beside which a rule fails that held where it was not."""
        page, other = pair
        pool = self._pools.get(scope, rule)
        if not rule.is_about_values or not self._acts_on(scope, shape, rule):
            return []
        if pool is None or pool.prior or shape == EVERY:
            return []
        names = sorted(filter(pool.is_rare_beside, beside(rule.name, page.parts, other.parts)))
        name = min(names, key=lambda each: pool.beside.get(each, 0), default="")
        if not name or not self.shapes.split(shape, name):
            return []
        last = (page.url, other.url)
        return self._begin(scope, shape, self.shapes.with_name(shape, [name]), rule, last)

    def _begin(
        self, scope: str, shape: str, part: str, rule: Rule, last: tuple[str, str]
    ) -> list[Change]:
        """Let rules learn anew on a part of a shape on which one of them fails."""
        changes = []
        for each in sorted(self._rules.get((scope, shape), ())):
            its = self._pools.of(scope, each, part)
            fails = each == rule
            evidence = Evidence(state="suspended") if fails else its.shapes[shape].for_newer()
            its.put(part, evidence)
            told = its.bound(part), (last,) if fails else evidence.examples
            changes.append(Change(scope, part, each, evidence.state, evidence, *told))
        return changes

    def _contradicted(
        self, scope: str, shape: str, rule: Rule, pool: Pool, last: tuple[str, str]
    ) -> list[Change]:
        """Let a rule that was contradicted on a shape act where that still does not matter only."""
        changes: list[Change] = []
        if EVERY in pool.shapes and shape != EVERY:
            pool.add(EVERY, same=False)
            changes += self._settle(scope, EVERY, rule, pool, pool.shapes[EVERY], last)
        for each, evidence in pool.shapes.items():  # what rested on all shapes together
            if each not in (shape, EVERY) and evidence.state == "active":
                changes += self._settle(scope, each, rule, pool, evidence)
        above = self._pools.get(EVERY, rule) if scope != EVERY else None
        if above is not None and rule in self._rules.get((EVERY, EVERY), ()):
            above.add(EVERY, same=False)
            changes += self._settle(EVERY, EVERY, rule, above, above.shapes[EVERY], last)
        return changes

    def _settle(
        self,
        scope: str,
        shape: str,
        rule: Rule,
        pool: Pool,
        evidence: Evidence,
        last: tuple[str, str] | None = None,
    ) -> list[Change]:
        """Let a rule act, or act no more, as its evidence now says."""
        forbidden = "forbidden" in (word_of(pool), self._pools.word_everywhere(rule))
        acts = not forbidden and pool.is_proven(rule, shape, self._least)
        rules = self._rules.get((scope, shape), set())
        gone = evidence.is_dropped and evidence.state == "suspended"
        if acts == (rule in rules) and not gone:
            return []
        if gone:
            evidence.state = "dropped"
        elif acts:
            evidence.state = "active"
            self._rules[scope, shape] = rules | {rule}
        else:
            evidence.state = "dropped" if evidence.is_dropped else "suspended"
            rules.discard(rule)
            if not rules:
                del self._rules[scope, shape]
        if not gone:
            self._rebuild(scope, shape)
        shown = evidence.examples if acts or last is None else (last,)
        bound = pool.bound(shape)
        return [Change(scope, shape, rule, evidence.state, evidence, bound, shown)]

    def _exceptions(self, scope: str, everywhere: set[Rule]) -> dict[str, set[Rule]]:
        """Return the shapes on which rules for every shape do not act, with these."""
        found: dict[str, set[Rule]] = {}
        for rule in everywhere:
            pool = self._pools.get(scope, rule)
            for shape, evidence in pool.shapes.items() if pool is not None else ():
                if shape != EVERY and (evidence.word == "forbidden" or evidence.rests):
                    found.setdefault(shape, set()).add(rule)
        return found


def _value_of(rule: Rule, pair: tuple[Fetched, Fetched]) -> int:
    """Return a hash of the value that a parameter has in the URLs of a pair."""
    if not rule.is_about_values:
        return 0
    values = [value for each in pair for name, value in each.parts.query if name == rule.name]
    return hash(tuple(values[:1]))

"""Learns which parts of a site's URLs do not matter, from pages that were compared.

The evidence for a rule is a pair of URLs that differ by it. Two pages of one content speak for it,
two pages that are not alike against it. What can't be told counts for neither. The idea is that of
Bar-Yossef, Keidar and Schonfeld (Do not crawl in the DUST, 2007, section 3): what a rule is worth
shows on the pages. Rules are kept for each shape of path, as Koppula et al. (Learning URL patterns
for webpage de-duplication, 2010) have them for each prefix.
"""

from __future__ import annotations

import struct
from collections import OrderedDict, deque
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import mmh3

from simhash_gate.fingerprints.hamming import hamming_distance
from simhash_gate.urls.evidence import PRIOR, Evidence, Pool, State
from simhash_gate.urls.known import OTHER_VIEW, is_known
from simhash_gate.urls.parts import Parts, Shapes, parts_of
from simhash_gate.urls.rules import ANY_VALUE, Reduction, Rule, differences

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MOST_SEEN = 12_000
"""Pages whose URLs are compared with new ones."""
MOST_RULES = 16_384
"""Rules of all sites of which evidence is kept; those that were not met for longest go first."""
NEAR = 8
"""Fingerprints of more bits of distance are of different contents."""
MOST_WORDS = 32
"""Hashes of words by which two pages are compared."""
SHARED = 0.5
"""Two pages that share less of their words are of different contents."""
LEAST = 0.9
"""A rule acts where this share of its cases holds, at the least."""
EVERY = "*"
"""In the place of a shape: URLs of every shape."""
_GROUP = 4
_PAIRS = 6
_PARAMETERS = 6
_HOPELESS = 20
_SHAPES = 3
_NOTHING: frozenset[str] = frozenset()


class Change(NamedTuple):
    """A rule became active, was suspended, or was dropped."""

    scope: str
    shape: str
    rule: Rule
    state: State
    evidence: Evidence
    bound: float
    examples: tuple[tuple[str, str], ...]


class Fetched(NamedTuple):
    """A page that was fetched.

    `content` is a number that pages of one content share; `words` are the least hashes of its
    words, two bytes each, in their order; empty if they are not known.
    """

    url: str
    parts: Parts
    content: int
    fingerprint: int | None = None
    words: bytes = b""
    shape: str = ""


class Learner:
    """Rules of any number of scopes. `least` is the share that a rule must hold in, to act."""

    def __init__(self, least: float = LEAST) -> None:
        self._least = least
        self.shapes = Shapes()
        self._pools: OrderedDict[tuple[str, Rule], Pool] = OrderedDict()
        self._active: dict[str, dict[str, Reduction]] = {}
        self._rules: dict[tuple[str, str], set[Rule]] = {}
        self._groups: dict[int, list[Fetched]] = {}
        self._ring: deque[tuple[Fetched, tuple[int, ...]]] = deque()
        self._segments: dict[str, frozenset[str]] = {}
        self._places: dict[tuple[str, str], set[int]] = {}

    def observe(
        self,
        scope: str,
        url: str,
        kept: str | None = None,
        same: bool | None = None,
        *,
        fingerprint: int | None = None,
        words: bytes = b"",
        others: Iterable[Fetched] = (),
    ) -> list[Change]:
        """Learn from a page that was fetched and compared; return what changed.

        `kept` is the URL of the page that it was compared with, `same` tells what came of it: None
        if that is not sure, or if there was none. The `fingerprint` tells it from other pages that
        were fetched before.
        """
        parts = parts_of(url)
        self.shapes.note(parts)
        content = content_of(kept if same and kept else url)
        shape = self.shapes.of(parts)
        page = Fetched(url, parts, content, fingerprint, words, shape)
        told: dict[tuple[str, Rule], tuple[bool, Fetched]] = {}
        if kept is not None and same is not None and kept != url:
            other = Fetched(kept, parts_of(kept), content_of(kept))
            self._compare(scope, page, other, told, same=same)
        keys = self._keys(scope, page)
        for other in (*others, *self._siblings(keys, url)):
            found = relation(page, other)
            if found is not None:
                self._compare(scope, page, other, told, same=found)
            elif page.fingerprint is not None and other.fingerprint is not None:
                self._wonder(scope, page, other)
        self._remember(page, keys)
        return [
            change
            for (shape, rule), (same, other) in told.items()
            for change in self._count(scope, shape, rule, (page, other), same=same)
        ]

    def contradict(self, scope: str, url: str, other: str) -> list[Change]:
        """Learn that two URLs have different contents, which the rules took for one."""
        told: dict[tuple[str, Rule], tuple[bool, Fetched]] = {}
        one, two = (Fetched(u, parts_of(u), content_of(u)) for u in (url, other))
        self._compare(scope, one, two, told, same=False)
        for each in () if told else (one, two):
            told |= dict.fromkeys(self._acting_on(scope, each.parts), (False, two))
        return [
            change
            for (shape, rule), _ in told.items()
            for change in self._count(scope, shape, rule, (one, two), same=False)
        ]

    def canonical(self, scope: str, url: str) -> str:
        """Return the URL without what does not matter: the same for URLs of one content."""
        active = self._active.get(scope)
        return url.partition("#")[0] if not active else self.reduce(active, parts_of(url)).url

    def place(self, scope: str, url: str) -> tuple[str, str]:
        """Return the shape of a URL, and its canonical URL."""
        parts = parts_of(url)
        shape = self.shapes.of(parts)
        active = self._active.get(scope)
        if not active:
            return shape, url.partition("#")[0]
        return shape, self.reduce(active, parts, shape).url

    def acts_on(self, scope: str) -> bool:
        """Tell whether any rule is active."""
        return scope in self._active

    def reduce(self, active: dict[str, Reduction], parts: Parts, shape: str = "") -> Parts:
        """Return what the active rules of a scope leave of a URL."""
        for _ in range(_SHAPES):  # a shorter path may have another shape, with rules of its own
            reduction = active.get(shape or self.shapes.of(parts)) or active.get(EVERY)
            shape = ""
            reduced = reduction.apply(parts) if reduction is not None else parts
            if reduced == parts:
                break
            parts = reduced
        return parts

    def acting_on(self, scope: str, url: str) -> list[tuple[str, Rule]]:
        """Return each rule that takes something out of a URL, with the shape that it acts on."""
        return self._acting_on(scope, parts_of(url))

    def _acting_on(self, scope: str, parts: Parts) -> list[tuple[str, Rule]]:
        found: list[tuple[str, Rule]] = []
        active = self._active.get(scope, {})
        for _ in range(_SHAPES):
            shape = self.shapes.of(parts)
            reduction = active.get(shape) or active.get(EVERY, Reduction())
            found += [
                (shape, rule)
                for rule in reduction.rules
                if reduction_by(rule).apply(parts) != parts
            ]
            parts = reduction.apply(parts)
        return found

    def rules_between(self, scope: str, url: str, other: str) -> tuple[tuple[str, Rule], ...]:
        """Return the rules that make two URLs the same, each with the shape that it acts on."""
        one, two = parts_of(url), parts_of(other)
        acting = [*self._acting_on(scope, one), *self._acting_on(scope, two)]
        wanted = set(differences(one, two) or ())
        wanted |= {_wider(rule) for rule in wanted}
        wanted |= {
            Rule("parameter", name, value)
            for each in (one, two)
            for name, value in each.query
            if Rule("parameter", name, ANY_VALUE) in wanted
        }
        found = [each for each in acting if each[1] in wanted] or acting
        return tuple(sorted(set(found)))

    def evidence(self, scope: str | None = None) -> Iterator[tuple[str, str, Rule, Evidence]]:
        """Yield each scope, shape and rule with what is known of it."""
        for (where, rule), pool in self._pools.items():
            if scope in (None, where):
                for shape, evidence in pool.shapes.items():
                    yield where, shape, rule, evidence

    def put(self, scope: str, shape: str, rule: Rule, evidence: Evidence) -> list[Change]:
        """Take over what is known of a rule, from an earlier crawl or from its user."""
        pool = self._pool(scope, rule)
        known = pool.shapes.get(shape)
        if known is not None and known.seen:
            known.earlier, known.word = evidence.earlier, evidence.word
            return self._settle(scope, shape, rule, pool, known)
        pool.shapes[shape] = evidence
        pool.against += evidence.contradictions
        pool.support += evidence.support
        for content in evidence.contents:
            pool.note(content)
        if evidence.word == "guess":
            pool.prior = PRIOR
        self._propose(scope, shape, rule)
        return self._settle(scope, shape, rule, pool, evidence)

    def bound(self, scope: str, shape: str, rule: Rule) -> float:
        """Return the share of cases in which a rule holds, at the least."""
        pool = self._pools.get((scope, rule))
        return pool.bound(shape) if pool is not None and shape in pool.shapes else 0.0

    @property
    def active(self) -> int:
        """The number of rules that act."""
        return sum(map(len, self._rules.values()))

    def _compare(
        self,
        scope: str,
        page: Fetched,
        other: Fetched,
        told: dict[tuple[str, Rule], tuple[bool, Fetched]],
        *,
        same: bool,
    ) -> None:
        rules = differences(page.parts, other.parts)
        if rules is None and (active := self._active.get(scope)):
            rules = differences(*(self.reduce(active, each.parts) for each in (page, other)))
        if not rules:
            return
        if not same:
            rules = self._suspects(scope, rules, page, other)
        for rule in rules:
            for shape in self._shapes_of(rule, page, other):
                if not same or (shape, rule) not in told:
                    told[shape, rule] = (same, other)
            if rule.kind == "parameter" and rule.value != ANY_VALUE:
                wider = rule._replace(value=ANY_VALUE)
                for shape in self._shapes_of(rule, page, other):
                    if not same or (shape, wider) not in told:
                        told[shape, wider] = (same, other)

    def _wonder(self, scope: str, page: Fetched, other: Fetched) -> None:
        """Count a case of which nobody can tell, where a single rule is at stake."""
        rules = differences(page.parts, other.parts)
        if rules is None or len(rules) != 1:
            return
        for rule in {rules[0], _wider(rules[0])}:
            pool = self._pools.get((scope, rule))
            for shape in self._shapes_of(rule, page, other) if pool is not None else ():
                if pool is not None and shape in pool.shapes:
                    pool.shapes[shape].add_unsure()

    def _shapes_of(self, rule: Rule, page: Fetched, other: Fetched) -> set[str]:
        """Return the shapes of those of two URLs that a rule takes something out of."""
        found = [each for each in (page, other) if changes(rule, each)]
        return {each.shape or self.shapes.of(each.parts) for each in found}

    def _suspects(
        self, scope: str, rules: tuple[Rule, ...], page: Fetched, other: Fetched
    ) -> tuple[Rule, ...]:
        """Return the rules to blame that two URLs of other contents differ by.

        A single one is to blame. Of several, the only one that does not act is; where all act, each
        may be wrong. Where a parameter has two values, the rules that take each of them out can't
        both be right.
        """
        acting = {rule for each in (page, other) for _, rule in self._acting_on(scope, each.parts)}
        blamed = rules
        if len(rules) > 1:
            idle = [rule for rule in rules if rule not in acting and _wider(rule) not in acting]
            blamed = tuple(idle) if len(idle) == 1 else () if idle else rules
        values = [
            Rule("parameter", rule.name, value)
            for rule in blamed
            if rule.kind == "parameter" and rule.value == ANY_VALUE
            for each in (page, other)
            for name, value in each.parts.query
            if name == rule.name
        ]
        claimed = [rule for rule in values if (scope, rule) in self._pools]
        return (*blamed, *(claimed if len(claimed) > 1 else ()))

    def _count(
        self, scope: str, shape: str, rule: Rule, pair: tuple[Fetched, Fetched], *, same: bool
    ) -> list[Change]:
        page, other = pair
        pool = self._pool(scope, rule)
        evidence = pool.add(shape, same=same)
        if same:
            evidence.note(page.content, _value_of(rule, pair), (page.url, other.url))
            pool.note(page.content)
            self._propose(scope, shape, rule)
        last = (page.url, other.url)
        changes = self._settle(scope, shape, rule, pool, evidence, last)
        if not same and EVERY in pool.shapes and shape != EVERY:
            pool.add(EVERY, same=False)
            changes += self._settle(scope, EVERY, rule, pool, pool.shapes[EVERY], last)
        if not same and pool.against == 1:  # what rested on all shapes together rests no more
            for each in list(pool.shapes):
                if each != shape:
                    changes += self._settle(scope, each, rule, pool, pool.shapes[each])
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
        everywhere = pool.shapes.get(EVERY)
        forbidden = everywhere is not None and everywhere.word == "forbidden"
        acts = not forbidden and pool.is_proven(rule, shape, self._least)
        rules = self._rules.get((scope, shape), set())
        if acts == (rule in rules):
            return []
        if acts:
            evidence.state = "active"
            self._rules[scope, shape] = rules | {rule}
        else:
            evidence.state = "dropped" if evidence.contradictions > 2 else "suspended"
            rules.discard(rule)
            if not rules:
                del self._rules[scope, shape]
        self._rebuild(scope, shape)
        shown = evidence.examples if acts or last is None else (last,)
        bound = pool.bound(shape)
        return [Change(scope, shape, rule, evidence.state, evidence, bound, shown)]

    def _rebuild(self, scope: str, shape: str) -> None:
        reductions = self._active.setdefault(scope, {})
        everywhere = self._rules.get((scope, EVERY), set())
        for each in {*reductions, EVERY} if shape == EVERY else {shape}:
            rules = self._rules.get((scope, each), set())
            if rules or (everywhere and each == EVERY):
                reductions[each] = Reduction.of(rules | everywhere)
            else:
                reductions.pop(each, None)
        if not reductions:
            del self._active[scope]

    def _pool(self, scope: str, rule: Rule) -> Pool:
        pool = self._pools.get((scope, rule))
        if pool is None:
            guessed = is_known(rule) or (EVERY, rule) in self._pools
            pool = self._pools[scope, rule] = Pool(prior=PRIOR if guessed else 0)
            if len(self._pools) > MOST_RULES:
                self._let_go()
        self._pools.move_to_end((scope, rule))
        return pool

    def _let_go(self) -> None:
        """Forget the rule that was not met for longest, and is not active."""
        for key, pool in self._pools.items():
            if not any(each.state == "active" or each.word for each in pool.shapes.values()):
                del self._pools[key]
                return

    def _propose(self, scope: str, shape: str, rule: Rule) -> None:
        """Compare URLs with those that differ by this rule: it speaks for itself once."""
        if rule.kind == "segment":
            self._segments[scope] = self._segments.get(scope, _NOTHING) | {rule.name}
        elif rule.kind == "place":
            self._places.setdefault((scope, shape), set()).add(int(rule.name))

    def _keys(self, scope: str, page: Fetched) -> tuple[int, ...]:
        """Return the groups of URLs that the URL of a page is compared with."""
        parts, shape = page.parts, page.shape
        path = self._path(scope, parts)
        query = tuple(sorted(parts.query))
        found = [(scope, path, query)]
        if query:
            names = dict.fromkeys(name for name, _ in query)
            if len(names) > 1:
                found.append((scope, path, ()))
            for name in list(names)[:_PARAMETERS]:
                pool = self._pools.get((scope, Rule("parameter", name, ANY_VALUE)))
                known = pool.shapes.get(shape) if pool is not None else None
                if known is None or not _is_hopeless(known):
                    rest = tuple(pair for pair in query if pair[0] != name)
                    found.append((scope, path, rest))
        places = self._places
        if places:
            found += [
                (scope, (*path[:place], "*", *path[place + 1 :]), query)
                for place in places.get((scope, shape), ())
                if place < len(path)
            ]
        return tuple(hash(key) for key in dict.fromkeys(found))

    def _path(self, scope: str, parts: Parts) -> tuple[str, ...]:
        """Return the path as far as it seldom fails to matter."""
        extra = self._segments.get(scope, _NOTHING)
        found = []
        for segment in parts.segments:
            bare = segment.partition(";")[0].lower()
            if bare not in extra and not OTHER_VIEW.match(bare):
                found.append(bare)
        if found and (found[-1] == "index" or found[-1].startswith(("index.", "default."))):
            found.pop()
        return tuple(found)

    def _siblings(self, keys: tuple[int, ...], url: str) -> list[Fetched]:
        found: dict[str, Fetched] = {}
        for key in keys:
            for other in self._groups.get(key, ()):
                if other.url != url:
                    found[other.url] = other
        return list(found.values())[:_PAIRS]

    def _remember(self, page: Fetched, keys: tuple[int, ...]) -> None:
        for key in keys:
            group = self._groups.setdefault(key, [])
            group.append(page)
            if len(group) > _GROUP:
                del group[0]
        self._ring.append((page, keys))
        if len(self._ring) > MOST_SEEN:
            oldest, its_keys = self._ring.popleft()
            for key in its_keys:
                group = self._groups.get(key, [])
                if oldest in group:
                    group.remove(oldest)
                if not group:
                    self._groups.pop(key, None)


def relation(page: Fetched, other: Fetched) -> bool | None:
    """Tell whether two pages have one content; None if that is not sure.

    They have not if their fingerprints are far apart, and of their words they share less than half:
    of a short page, a line more makes another fingerprint.
    """
    if page.content == other.content:
        return True
    if page.fingerprint is None or other.fingerprint is None or not (page.words and other.words):
        return None
    if hamming_distance(page.fingerprint, other.fingerprint) <= NEAR:
        return None
    return False if _shared(page.words, other.words) < SHARED else None


def _shared(words: bytes, others: bytes) -> float:
    """Estimate the Jaccard index of two sets by the least hashes of each.

    Source: Broder, On the resemblance and containment of documents (1997), section 3.
    """
    mine, theirs = (set(struct.unpack(f">{len(each) // 2}H", each)) for each in (words, others))
    least = sorted(mine | theirs)[:MOST_WORDS]
    common = mine & theirs
    return sum(word in common for word in least) / len(least)


def content_of(url: str) -> int:
    """Return the number of the content that the page of a URL has, if it is kept."""
    return mmh3.hash64(url, signed=False)[0]


def changes(rule: Rule, page: Fetched) -> bool:
    """Tell whether a rule takes anything out of a page's URL."""
    return reduction_by(rule).apply(page.parts) != page.parts


@lru_cache(maxsize=4096)
def reduction_by(rule: Rule) -> Reduction:
    """Return what one rule does."""
    return Reduction.of((rule,))


def _is_hopeless(evidence: Evidence) -> bool:
    return evidence.against >= _HOPELESS and evidence.support < evidence.against


def _wider(rule: Rule) -> Rule:
    """Return the rule for every value of a parameter."""
    return rule._replace(value=ANY_VALUE) if rule.kind == "parameter" else rule


def _value_of(rule: Rule, pair: tuple[Fetched, Fetched]) -> int:
    """Return a hash of the value that a parameter has in the URLs of a pair."""
    if rule.kind != "parameter":
        return 0
    values = [value for each in pair for name, value in each.parts.query if name == rule.name]
    return hash(tuple(values[:1]))

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
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import mmh3

from simhash_gate.fingerprints.claims import NAME_BYTES
from simhash_gate.fingerprints.hamming import hamming_distance
from simhash_gate.urls.evidence import PRIOR, Evidence, Pool, State, Word
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
SHARED, SHARED_BY_NAME = 1 / 2, 1 / 3
"""Two pages that share less of their words are of different contents: with other names, and with
the same. Of a short text, what the page says around it is much."""
ALIKE = 0.9
"""Two pages of one name that share so much of their words look like one in two views."""
LEAST = 0.9
"""A rule acts where this share of its cases holds, at the least."""
EVERY = "*"
"""In the place of a shape: URLs of every shape."""
_GROUP = 4
_PAIRS = 6
_PARAMETERS = 6
_HOPELESS = 20
_LOOKED_AT = 50
_MOST_SEGMENTS = 500
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

    `content` is a number that pages of one content share; `said` is its name and hashes of its
    words, as `name_and_words` has them, empty if they are not known.
    """

    url: str
    parts: Parts
    content: int
    fingerprint: int | None = None
    said: bytes = b""
    shape: str = ""


class Learner:
    """Rules of any number of scopes. `least` is the share that a rule must hold in, to act."""

    def __init__(self, least: float = LEAST) -> None:
        self._least = least
        self.shapes = Shapes()
        self._pools: OrderedDict[tuple[str, Rule], Pool] = OrderedDict()
        self._active: dict[str, dict[str, Reduction]] = {}
        self._everywhere: dict[str, Reduction] = {}
        self._rules: dict[tuple[str, str], set[Rule]] = {}
        self._groups: dict[int, list[Fetched]] = {}
        self._ring: deque[tuple[Fetched, tuple[int, ...]]] = deque()
        self._segments: dict[str, set[str]] = {}
        self._kept = 0
        self._places: dict[tuple[str, str], set[int]] = {}

    def observe(
        self,
        scope: str,
        url: str,
        kept: str | None = None,
        same: bool | None = None,
        *,
        fingerprint: int | None = None,
        said: bytes = b"",
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
        page = Fetched(url, parts, content, fingerprint, said, shape)
        told: dict[tuple[str, Rule], tuple[bool, Fetched]] = {}
        changes: list[Change] = []
        pairs: list[tuple[Fetched, bool]] = []
        if kept is not None and same is not None and kept != url:
            pairs.append((Fetched(kept, parts_of(kept), content_of(kept)), same))
        keys = self._keys(scope, page)
        for other in (*others, *self._siblings(keys, url)):
            found = relation(page, other)
            if found is not None:
                pairs.append((other, found))
            elif page.fingerprint is not None and other.fingerprint is not None:
                changes += self._wonder(scope, page, other)
        for other, found in pairs:
            self._compare(scope, page, other, told, same=found)
        self._remember(page, keys)
        for (shape, rule), (found, other) in told.items():
            changes += self._count(scope, shape, rule, (page, other), same=found)
        for other, found in pairs:
            if not found and (active := self._acts(scope)):
                changes += self._part(scope, active, page, other)
        return changes

    def _part(
        self, scope: str, active: dict[str, Reduction], page: Fetched, other: Fetched
    ) -> list[Change]:
        """Stop the rules by which two pages of other contents still have one canonical URL."""
        changes: list[Change] = []
        while page.parts != other.parts:
            if self.reduce(active, page.parts) != self.reduce(active, other.parts):
                break
            acting = {*self._acting_on(scope, page.parts), *self._acting_on(scope, other.parts)}
            for shape, rule in sorted(acting):
                changes += self._count(scope, shape, rule, (page, other), same=False)
            active = self._acts(scope)
        return changes

    def canonical(self, scope: str, url: str) -> str:
        """Return the URL without what does not matter: the same for URLs of one content."""
        active = self._acts(scope)
        return url.partition("#")[0] if not active else self.reduce(active, parts_of(url)).url

    def place(self, scope: str, url: str) -> tuple[str, str]:
        """Return the shape of a URL, and its canonical URL."""
        parts = parts_of(url)
        shape = self.shapes.of(parts)
        active = self._acts(scope)
        if not active:
            return shape, url.partition("#")[0]
        return shape, self.reduce(active, parts, shape).url

    def acts_on(self, scope: str) -> bool:
        """Tell whether any rule is active."""
        return bool(self._acts(scope))

    def _acts(self, scope: str) -> dict[str, Reduction]:
        """Return what rules do in a scope, by shape; where it has none, those for every scope."""
        return self._active.get(scope) or self._everywhere

    def reduce(self, active: dict[str, Reduction], parts: Parts, shape: str = "") -> Parts:
        """Return what the active rules of a scope leave of a URL."""
        met: list[Parts] = []
        while True:  # a shorter path may have another shape, with rules of its own
            reduction = active.get(shape or self.shapes.of(parts)) or active.get(EVERY)
            shape = ""
            reduced = reduction.apply(parts) if reduction is not None else parts
            if reduced == parts:
                return parts
            met.append(parts)
            if reduced in met:  # two hosts that each stand for the other: a user may write that
                return min(met[met.index(reduced) :])
            parts = reduced

    def acting_on(self, scope: str, url: str) -> list[tuple[str, Rule]]:
        """Return each rule that takes something out of a URL, with the shape that it acts on."""
        return self._acting_on(scope, parts_of(url))

    def _acting_on(self, scope: str, parts: Parts) -> list[tuple[str, Rule]]:
        found: dict[tuple[str, Rule], None] = {}
        active = self._acts(scope)
        met: list[Parts] = []
        while parts not in met:
            met.append(parts)
            shape = self.shapes.of(parts)
            reduction = active.get(shape) or active.get(EVERY, Reduction())
            own = self._rules.get((scope, shape), ())
            for rule in reduction.rules:
                if reduction_by(rule).apply(parts) != parts:
                    found[shape if rule in own else EVERY, rule] = None
            parts = reduction.apply(parts)
        return list(found)

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
        self.shapes.take_over(shape)
        pool = self._pool(scope, rule)
        known = pool.shapes.get(shape)
        if known is None:
            self._make_room(pool)
        if known is not None and known.seen:
            known.earlier, known.word = evidence.earlier, evidence.word
        else:
            pool.shapes[shape] = evidence
            evidence.state = known.state if known else evidence.state
            pool.against += evidence.contradictions - (known.contradictions if known else 0)
            pool.support += evidence.support - (known.support if known else 0)
            pool.note(evidence.contents, evidence.values)
        self._propose(scope, shape, rule)
        everywhere = (scope, shape) == (EVERY, EVERY)
        concerned = [each for each in self._pools if each[1] == rule] if everywhere else []
        changes: list[Change] = []
        for each in concerned or [(scope, rule)]:
            other = self._pools[each]
            if evidence.word == "guess":
                other.prior = PRIOR
            for name, its in other.shapes.items():  # a word for all of them concerns each
                if shape in (name, EVERY):
                    changes += self._settle(each[0], name, rule, other, its)
        if evidence.word == "forbidden":  # it may be an exception to a rule for every shape
            self._rebuild(scope, shape)
        return changes

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
        if rules is None and (active := self._acts(scope)):
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

    def _wonder(self, scope: str, page: Fetched, other: Fetched) -> list[Change]:
        """Count a case of which nobody can tell, where a single rule is at stake.

        Pages of one name with nearly the same words are no reason to doubt it.
        """
        changes: list[Change] = []
        rules = differences(page.parts, other.parts)
        if rules is None or len(rules) != 1 or _are_alike(page, other):
            return changes
        for rule in dict.fromkeys((rules[0], _wider(rules[0]))):
            pool = self._pools.get((scope, rule))
            for shape in self._shapes_of(rule, page, other) if pool is not None else ():
                if pool is not None and shape in pool.shapes:
                    evidence = pool.shapes[shape]
                    evidence.add_unsure()
                    changes += self._settle(scope, shape, rule, pool, evidence)
        return changes

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
        if shape not in pool.shapes:
            self._make_room(pool)
        evidence = pool.add(shape, same=same)
        if same:
            value = _value_of(rule, pair)
            evidence.note(page.content, value, (page.url, other.url))
            pool.note((page.content,), (value,))
            self._propose(scope, shape, rule)
        last = (page.url, other.url)
        changes = self._settle(scope, shape, rule, pool, evidence, last)
        return changes if same else changes + self._contradicted(scope, shape, rule, pool, last)

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
        above = self._pools.get((EVERY, rule)) if scope != EVERY else None
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
        forbidden = "forbidden" in (_word(pool), self._word_everywhere(rule))
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

    def _rebuild(self, scope: str, shape: str) -> None:
        """Make ready what rules do in a scope, after those of a shape have changed."""
        reductions = self._active.setdefault(scope, {})
        always = self._rules.get((EVERY, EVERY), set())
        everywhere = self._rules.get((scope, EVERY), set()) | always
        not_there = self._exceptions(scope, everywhere)
        for each in {*reductions, *not_there, EVERY} if shape == EVERY else {shape}:
            rules = self._rules.get((scope, each), set())
            if rules or each in not_there or (everywhere and each == EVERY):
                reductions[each] = Reduction.of(rules | everywhere - not_there.get(each, set()))
            else:
                reductions.pop(each, None)
        if not reductions or (scope != EVERY and everywhere == always and {*reductions} == {EVERY}):
            del self._active[scope]
        if (scope, shape) == (EVERY, EVERY):
            self._everywhere = {EVERY: Reduction.of(always)} if always else {}
            for each in [*self._active]:
                if each != EVERY:
                    self._rebuild(each, EVERY)

    def _exceptions(self, scope: str, everywhere: set[Rule]) -> dict[str, set[Rule]]:
        """Return the shapes on which rules for every shape do not act, with these."""
        found: dict[str, set[Rule]] = {}
        for rule in everywhere:
            pool = self._pools.get((scope, rule))
            for shape, evidence in pool.shapes.items() if pool is not None else ():
                if shape != EVERY and (evidence.word == "forbidden" or evidence.rests):
                    found.setdefault(shape, set()).add(rule)
        return found

    def _word_everywhere(self, rule: Rule) -> Word:
        """Return what was said of a rule for all sites."""
        pool = self._pools.get((EVERY, rule))
        return "" if pool is None else _word(pool)

    def _pool(self, scope: str, rule: Rule) -> Pool:
        pool = self._pools.get((scope, rule))
        if pool is None:
            guessed = is_known(rule) or self._word_everywhere(rule) == "guess"
            pool = self._pools[scope, rule] = Pool(prior=PRIOR if guessed else 0)
        self._pools.move_to_end((scope, rule))
        return pool

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

    def _propose(self, scope: str, shape: str, rule: Rule) -> None:
        """Compare URLs with those that differ by this rule: it speaks for itself once."""
        if rule.kind == "segment":
            known = self._segments.setdefault(scope, set())
            if len(known) < _MOST_SEGMENTS:
                known.add(rule.name)
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

    They have not if their fingerprints are far apart, and they share too few of their words: of a
    short page, a line more makes another fingerprint.
    """
    if page.content == other.content:
        return True
    if page.fingerprint is None or other.fingerprint is None or not (page.said and other.said):
        return None
    if hamming_distance(page.fingerprint, other.fingerprint) <= NEAR:
        return None
    few = SHARED_BY_NAME if _have_one_name(page, other) else SHARED
    return False if _shared(page.said, other.said) < few else None


def _have_one_name(page: Fetched, other: Fetched) -> bool:
    name = page.said[:NAME_BYTES]
    return any(name) and name == other.said[:NAME_BYTES]


def _are_alike(page: Fetched, other: Fetched) -> bool:
    return _have_one_name(page, other) and _shared(page.said, other.said) >= ALIKE


def _shared(said: bytes, other: bytes) -> float:
    """Estimate the Jaccard index of two sets of words by the least hashes of each.

    Source: Broder, On the resemblance and containment of documents (1997), section 3.
    """
    mine, theirs = _words(said), _words(other)
    least = sorted(mine | theirs)[:MOST_WORDS]
    common = mine & theirs
    return sum(word in common for word in least) / len(least)


@lru_cache(maxsize=1024)
def _words(said: bytes) -> frozenset[int]:
    """Return the hashes of words in what a page said."""
    hashes = said[NAME_BYTES:]
    return frozenset(struct.unpack(f">{len(hashes) // 2}H", hashes))


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


def _word(pool: Pool) -> Word:
    """Return what was said of a rule for all shapes."""
    everywhere = pool.shapes.get(EVERY)
    return "" if everywhere is None else everywhere.word


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

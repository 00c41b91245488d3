"""The rules that act, by scope and shape: what they leave of a URL, and which of them do it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import lru_cache
from typing import TYPE_CHECKING

from simhash_gate.urls.first_values import FirstValues
from simhash_gate.urls.parts import Shapes, parts_of
from simhash_gate.urls.rules import ANY_VALUE, Reduction, Rule, differences, reduction_by

if TYPE_CHECKING:
    from simhash_gate.urls.parts import Parts, Query

Reasons = tuple[tuple[str, Rule], ...]
"""Rules, each with the shape that it acts on."""
EVERY = "*"
"""In the place of a shape: URLs of every shape. In that of a scope: all sites."""


class ActiveRules(ABC):
    """Rules of any number of scopes. Where a scope has none, those for every scope act."""

    def __init__(self) -> None:
        self.shapes = Shapes()
        self._active: dict[str, dict[str, Reduction]] = {}
        self._everywhere: dict[str, Reduction] = {}
        self._rules: dict[tuple[str, str], set[Rule]] = {}
        self._first = FirstValues()

    @abstractmethod
    def _holds_later(self, scope: str, rule: Rule) -> bool:
        """Tell whether a rule for all values is known to hold for more than one of a page."""

    @abstractmethod
    def _holds_bare(self, scope: str, rule: Rule) -> bool:
        """Tell whether a rule is known to hold between URLs with the parameter and without."""

    @abstractmethod
    def _holds_beside(self, scope: str, rule: Rule, names: frozenset[str]) -> bool:
        """Tell whether a rule is known to hold for URLs that have these parameters as well."""

    @abstractmethod
    def _exceptions(self, scope: str, everywhere: set[Rule]) -> dict[str, set[Rule]]:
        """Return the shapes on which rules for every shape do not act, with these."""

    def canonical(self, scope: str, url: str) -> str:
        """Return the URL without what does not matter: the same for URLs of one content."""
        active = self._acts(scope)
        return url.partition("#")[0] if not active else self.reduce(active, parts_of(url)).url

    def place(self, scope: str, url: str) -> tuple[str, str]:
        """Note a URL that is asked for; return its shape, and its canonical URL."""
        parts = parts_of(url)
        shape = self.shapes.of(parts)
        active = self._acts(scope)
        reduced = self.reduce(active, parts, shape) if active else parts
        if parts.query:
            self._first.later(scope, parts, reduced)
        return shape, reduced.url if active else url.partition("#")[0]

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
        parts = parts_of(url)
        if self.reduce(self._acts(scope), parts) == parts:  # of hosts in a circle, one stays
            return []
        return self._acting_on(scope, parts)

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
                if takes_from(rule, parts):
                    found[shape if rule in own else EVERY, rule] = None
            parts = reduction.apply(parts)
        return list(found)

    def rules_between(self, scope: str, url: str, other: str) -> Reasons:
        """Return the rules that make two URLs the same, each with the shape that it acts on."""
        one, two = parts_of(url), parts_of(other)
        mine, theirs = self._acting_on(scope, one), self._acting_on(scope, two)
        wanted = set(differences(one, two) or ())
        moved = {each for each in {*mine} ^ {*theirs} if each[1].kind == "path"}
        found = {
            (shape, rule)
            for shape, rule in (*mine, *theirs)
            if (shape, rule) in moved
            or (_differ_in(rule.name, one, two) if rule.is_about_values else rule in wanted)
            or (moved and rule.kind != "path" and not rule.is_about_values)
        }
        return tuple(sorted(found or {*mine, *theirs}))

    def reasons(self, scope: str, url: str, other: str) -> Reasons:
        """Return the rules by which another URL can stand for one, with their shapes; () if none.

        A page that was asked for with another value of a parameter before is another case than the
        first value: a rule for all values must have held in such cases. So are URLs with a
        parameter that those did not have by which the rule was learned, and two of which only one
        has the parameter that the rule is about.
        """
        active = self._acts(scope)
        one, two = parts_of(url), parts_of(other)
        reduced = self.reduce(active, one)
        if not active or one == two or reduced != self.reduce(active, two):
            return ()
        found = self.rules_between(scope, url, other)
        for _, rule in found:
            if rule.is_about_values:
                names = beside(rule.name, one, two)
                if not self._holds_beside(scope, rule, names):
                    return ()
                if is_bare(rule, one, two) and not self._holds_bare(scope, rule):
                    return ()
        unknown = [
            rule.name
            for _, rule in found
            if (rule.kind, rule.value) == ("parameter", ANY_VALUE)
            and not self._holds_later(scope, rule)
        ]
        for parts in (one, two) if unknown else ():
            if not self._first.later(scope, parts, reduced).isdisjoint(unknown):
                return ()
        return found

    @property
    def active(self) -> int:
        """The number of rules that act."""
        return sum(map(len, self._rules.values()))

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


def beside(parameter: str, one: Parts, other: Parts) -> frozenset[str]:
    """Return the other parameters of those of two URLs that have one."""
    mine, theirs = _names_in(one.query), _names_in(other.query)
    if parameter not in mine:
        return theirs - {parameter}
    return mine - {parameter} if parameter not in theirs else (mine | theirs) - {parameter}


def _differ_in(parameter: str, one: Parts, other: Parts) -> bool:
    """Tell whether a parameter has other values in one of two URLs, or is in one alone."""
    mine, theirs = ([v for name, v in each.query if name == parameter] for each in (one, other))
    return mine != theirs


def is_bare(rule: Rule, one: Parts, other: Parts) -> bool:
    """Tell whether one of two URLs has not the parameter that a rule for all values is about."""
    if rule.value != ANY_VALUE:
        return False
    return (rule.name in _names_in(one.query)) is not (rule.name in _names_in(other.query))


@lru_cache(maxsize=2048)
def _names_in(query: Query) -> frozenset[str]:
    return frozenset(name for name, _ in query)


def wider(rule: Rule) -> Rule:
    """Return the rule for every value of a parameter."""
    if not rule.is_about_values or rule.value == ANY_VALUE:
        return rule
    return Rule("parameter", rule.name, ANY_VALUE)


def takes_from(rule: Rule, parts: Parts) -> bool:
    """Tell whether a rule takes anything out of a URL."""
    kind, name, value = rule
    if kind == "parameter":
        if value == ANY_VALUE:
            return name in _names_in(parts.query)
        return (name, value) in parts.query
    if kind == "host":
        return parts.host == name != value
    if kind == "scheme":
        return parts.scheme != "https"
    return reduction_by(rule).apply(parts) != parts

"""What pairs of pages tell of rules: which of them speak for a rule, and which against it."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from simhash_gate.urls.active_rules import ActiveRules, takes_from, wider
from simhash_gate.urls.parts import mask
from simhash_gate.urls.rules import ANY_VALUE, Rule, differences, reduction_by

if TYPE_CHECKING:
    from simhash_gate.urls.fetched import Fetched

    Findings = dict[tuple[str, Rule], tuple[bool, tuple[Fetched, Fetched]]]

MOST_ALIKE = 2
"""Of pages of one content, a page is compared with so many at most: more say little that is new."""


class PairsCompared(ActiveRules):
    """The rules that act, and what a page tells of these and of others."""

    @abstractmethod
    def _is_claimed(self, scope: str, rule: Rule) -> bool:
        """Tell whether any page speaks for a rule; pages that speak against it claim nothing."""

    def _told_by(self, scope: str, page: Fetched, pairs: list[tuple[Fetched, bool]]) -> Findings:
        """Return what pairs of a page with others tell of each rule on a shape, and by which."""
        told: Findings = {}
        for other in [other for other, same in pairs if same][:MOST_ALIKE]:
            if told and all(self._acts_on(scope, *each) for each in told):
                break
            self._compare(scope, page, other, told, same=True)
        for other in [other for other, same in pairs if not same]:
            self._compare(scope, page, other, told, same=False)
        return told

    def _acts_on(self, scope: str, shape: str, rule: Rule) -> bool:
        return rule in self._rules.get((scope, shape), ())

    def _compare(
        self,
        scope: str,
        page: Fetched,
        other: Fetched,
        told: Findings,
        *,
        same: bool,
    ) -> None:
        rules, moved = self._differ(scope, page, other)
        if not rules:
            return
        if not same:
            rules = self._suspects(scope, rules, page, other)
        for rule in (*rules, *values_of(rules, page, other)):
            broad = wider(rule)
            pair = moved if rule.kind == "path" else (page, other)
            for shape in shapes_of(rule, *pair):
                # What is known of all values says no more if it is known of some of them.
                known = same and self._acts_on(scope, shape, broad)
                for each in (broad,) if known or broad is rule else (rule, broad):
                    if not same or (shape, each) not in told:
                        told[shape, each] = (same, pair)

    def _differ(
        self, scope: str, page: Fetched, other: Fetched
    ) -> tuple[tuple[Rule, ...] | None, tuple[Fetched, Fetched]]:
        """Return the rules that two URLs differ by, and the pages by URLs that show those of paths.

        `/index.php?title=A&of=B` is two rules from `/wiki/A/B`. If `/index.php?title=X` is known to
        be `/wiki/X`, it is one.
        """
        rules = differences(page.parts, other.parts)
        active = self._acts(scope)
        if not active or (rules is not None and len(rules) < 2):
            return rules, (page, other)
        moved = self._moved(scope, page), self._moved(scope, other)
        if moved[0] is not page or moved[1] is not other:
            by = differences(*(each.parts for each in moved)) or ()
            if any(rule.kind == "path" for rule in by) and (rules is None or len(by) < len(rules)):
                return by, moved
        if rules is None:
            rules = differences(*(self.reduce(active, each.parts) for each in (page, other)))
        return rules, (page, other)

    def _moved(self, scope: str, page: Fetched) -> Fetched:
        """Return a page by the path that one of its parameters says, if a rule knows of it."""
        rules = self._rules.get((scope, page.shape), ()) if page.parts.query else ()
        for rule in sorted([rule for rule in rules if rule.kind == "path"]):
            parts = reduction_by(rule).apply(page.parts)
            if parts != page.parts:
                return page._replace(parts=parts, shape=self.shapes.of(parts))
        return page

    def _suspects(
        self, scope: str, rules: tuple[Rule, ...], page: Fetched, other: Fetched
    ) -> tuple[Rule, ...]:
        """Return the rules to blame that two URLs of other contents differ by.

        A single one is to blame. Of several, the only one that does not act is. Where a parameter
        has two values, the rules that take each of them out can't both be right.
        """
        blamed = rules
        if len(rules) > 1:
            acting = {
                rule for each in (page, other) for _, rule in self._acting_on(scope, each.parts)
            }
            idle = [
                rule
                for rule in rules
                if acting.isdisjoint((rule, wider(rule), *values_of((rule,), page, other)))
            ]
            blamed = tuple(idle) if len(idle) == 1 else ()
        values = [
            Rule("parameter", rule.name, value)
            for rule in blamed
            if rule.kind == "parameter" and rule.value == ANY_VALUE
            for each in (page, other)
            for name, value in each.parts.query
            if name == rule.name
        ]
        claimed = [rule for rule in values if self._is_claimed(scope, rule)]
        return (*blamed, *(claimed if len(claimed) > 1 else ()))


def shapes_of(rule: Rule, page: Fetched, other: Fetched) -> tuple[str, ...]:
    """Return the shapes of those of two URLs that a rule takes something out of."""
    if takes_from(rule, page.parts):
        if page.shape == other.shape or not takes_from(rule, other.parts):
            return (page.shape,)
        return (page.shape, other.shape)
    return (other.shape,) if takes_from(rule, other.parts) else ()


def values_of(rules: tuple[Rule, ...], page: Fetched, other: Fetched) -> list[Rule]:
    """Return a rule for each parameter that has two numbers, codes or texts in the URLs."""
    found = []
    for rule in rules:
        if rule.kind == "parameter" and rule.value == ANY_VALUE:
            masks = [
                {mask(value) for name, value in each.parts.query if name == rule.name}
                for each in (page, other)
            ]
            if masks[0] == masks[1] and len(masks[0]) == 1 and min(masks[0]).startswith("{"):
                found.append(Rule("value", rule.name, min(masks[0])))
    return found

"""Requests that were skipped by rules, so that they can be sent after all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simhash_gate.plugin.parked import Parked
from simhash_gate.urls.active_rules import EVERY
from simhash_gate.urls.parts import whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from simhash_gate.plugin.parked import Belief, ParkedRequests
    from simhash_gate.urls.active_rules import Reasons
    from simhash_gate.urls.rules import Rule


@dataclass(eq=False)
class Skipped(Parked):
    """A request that was skipped, and the visit that stands for it, with its URL.

    `rules` make the two URLs the same, each with the shape that it acts on. It is of an `earlier`
    part of a job if that skipped it.
    """

    scope: str
    visit: int
    stand_in: str
    rules: Reasons
    earlier: bool = False


def stands(visit: int) -> Belief:
    """Return the belief that the page of a visit stands for those of other URLs."""
    return "rule", visit


def take_by_rule(
    waiting: ParkedRequests,
    scope: str,
    shape: str,
    rule: Rule,
    why: str,
    *,
    shape_of: Callable[[str], str],
    reasons: Callable[[Skipped], Reasons],
) -> list[Skipped]:
    """Return what was skipped by a rule on URLs of a shape; it waits no more.

    What there are other `reasons` to skip now is left, with these. The scope may be that of all
    sites. The requests may have been skipped before the shape was parted.
    """
    wanted = {(shape, rule), (whole(shape), rule)}
    parted = whole(shape) != shape
    found: list[Skipped] = []
    for skipped in waiting.of_kind("rule"):
        if scope not in (skipped.scope, EVERY) or wanted.isdisjoint(skipped.rules):
            continue
        if parted and shape not in map(shape_of, (skipped.request.url, skipped.stand_in)):
            continue
        if now := reasons(skipped):
            skipped.rules = now
        else:
            waiting.remove(skipped)
            found.append(skipped)
    for belief in {skipped.belief for skipped in found}:
        waiting.take(belief, why, most=0)
    return found


def sample(waiting: ParkedRequests, scope: str, rule: Rule, count: int) -> list[Skipped]:
    """Return some requests that were skipped by a rule; they wait no more.

    They are spread evenly, with the last one: a site may have changed just before.
    """
    found: list[Skipped] = [
        skipped
        for skipped in waiting.of_kind("rule")
        if skipped.scope == scope and any(rule == each for _, each in skipped.rules)
    ]
    count = min(count, len(found))
    taken = [found[(n + 1) * len(found) // count - 1] for n in range(count)]
    for skipped in taken:
        waiting.remove(skipped)
    return taken

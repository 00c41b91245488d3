"""Pairs of URLs that teach a learner, and what it made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simhash_gate.urls.learner import Learner
from simhash_gate.urls.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simhash_gate.urls.evidence import Evidence
    from simhash_gate.urls.learner import Change

SITE = "example.com"
HOME = f"https://{SITE}"
SHAPE = f"{SITE}/a/{{number}}"
X, PRINT = Rule("parameter", "x", "*"), Rule("segment", "print", "-1")
ENOUGH = 35
"""So many cases without a contradiction have a bound of 0.9."""
TITLE = Rule("path", "title", "/wiki/*")
WIKI = [f"/wiki/{chr(97 + n % 26) * 3}-{n}" for n in range(100)]
SCRIPTED = [f"/index.php?title={path.removeprefix('/wiki/')}" for path in WIKI]
"""A page of a wiki under the path of its script, beside that under its own."""


def teach(learner: Learner, pairs: Iterable[tuple[str, str]], *, same: bool = True) -> list[Change]:
    """Fetch the second URL of each pair, then the first, which is the same page or not."""
    changes = []
    for url, kept in pairs:
        changes += learner.observe(SITE, HOME + kept)
        changes += learner.observe(SITE, HOME + url, HOME + kept, same)
    return changes


def pairs_by(form: str, plain: str, start: int = 0, count: int = ENOUGH) -> list[tuple[str, str]]:
    """Return pairs of URLs of different pages, from number `start` on."""
    return [
        (form.format(n=n, m=n + 7), plain.format(n=n, m=n + 7)) for n in range(start, start + count)
    ]


def evidence(learner: Learner, rule: Rule, shape: str = "", scope: str = SITE) -> Evidence:
    (found,) = (
        each
        for where, its_shape, its, each in learner.evidence(scope)
        if its == rule and shape in ("", its_shape)
    )
    return found


def mixed(form: str, plain: str, count: int = 2 * ENOUGH) -> list[tuple[str, str]]:
    """Return pairs of URLs in an order that is not that of their numbers."""
    found = pairs_by(form, plain, 100, count)
    return found[::2] + found[1::2]


def cut() -> tuple[Learner, list[Change]]:
    """Return a learner of two rules, of which one fails for a newer page; and what it said."""
    learner = Learner()
    teach(learner, mixed("/a/{n}?x={m}", "/a/{n}"))
    teach(learner, mixed("/a/{n}?y={m}", "/a/{n}"))
    return learner, teach(learner, [("/a/900?x=2", "/a/900?x=1")], same=False)

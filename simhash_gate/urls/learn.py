"""What a verdict tells of the URLs of two pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from simhash_gate.urls.learner import Change, Learner

UNSURE = frozenset({"", "repeats"})
FEWEST_WORDS = 20


class Told(NamedTuple):
    """The URL of the page that a page was compared with, and what came of it; None if not sure."""

    kept: str | None
    same: bool | None


def told_by(outcome: str, kept: str | None, differs: str, words: int) -> Told | None:
    """Return what a verdict tells of two URLs; None where a page was compared with nothing.

    `differs` is what a closer look found; `words` is the length of the page.
    """
    if outcome in ("duplicate", "unchanged"):
        return Told(kept, same=True)
    if words < FEWEST_WORDS or outcome not in ("new", "near"):
        return None
    if outcome == "near":
        return Told(kept, same=None if differs in UNSURE else False)
    return Told(None, same=None)


def learn_line(learner: Learner, scope: str, line: Mapping[str, Any]) -> list[Change]:
    """Learn from one line of a verdict log; return what changed. A broken line tells nothing."""
    url, outcome = line.get("url"), line.get("outcome")
    if not isinstance(url, str) or not isinstance(outcome, str):
        return []
    told = told_by(
        outcome, line.get("matched_url"), line.get("differs") or "", line.get("words") or 0
    )
    if told is None:
        return []
    fingerprint = line.get("fingerprint")
    return learner.observe(
        scope, url, *told, fingerprint=int(fingerprint, 16) if fingerprint else None
    )

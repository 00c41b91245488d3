"""What the gate says of one page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from simhash_gate.gate.policy import Policy

if TYPE_CHECKING:
    from simhash_gate.page.page import Page
    from simhash_gate.stores.base import Match, Record

Outcome = Literal["new", "near", "duplicate", "unchanged", "skipped", "error"]
NotCompared = Literal["", "few_words", "no_sketch", "many_alike", "unreadable"]
Differs = Literal["", "names", "offers", "fields", "texts", "repeats"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome for one page, with all that it rests on.

    `match` is the remembered page that was found and its distance; `record` is what was remembered
    of this page, if anything. `reason` says the outcome in words. `audited` tells that a duplicate
    went to the spider for its items to be compared with those of the match. `not_compared` says
    what kept a page that passed from being compared with all that is like it: `few_words` of its
    own, `no_sketch` of a kept page to verify by, `many_alike` that are other pages; `unreadable`.
    `differs` says in what a page that passed differs from the match, though it is as near;
    with `repeats`, what they have in common is what the site repeats.
    """

    outcome: Outcome
    reason: str
    policy: Policy = Policy()
    page: Page | None = None
    match: Match | None = None
    record: Record | None = None
    audited: bool = False
    not_compared: NotCompared = ""
    differs: Differs = ""

    @property
    def rejected(self) -> bool:
        """Whether the policy's action applies: the page has been seen."""
        revisited = self.outcome == "unchanged" and self.record is None
        return self.outcome == "duplicate" or (revisited and self.policy.revisit == "drop")

    @property
    def title(self) -> str:
        """The page's title; empty for a page that was not read."""
        return self.page.title if self.page else ""

    @property
    def markdown(self) -> str:
        """The page's Markdown; empty for a page that was not read."""
        return self.page.markdown if self.page else ""

    @property
    def fingerprint(self) -> int | None:
        """The page's fingerprint; None for a page that was not read or has no text."""
        return self.page.fingerprint if self.page else None

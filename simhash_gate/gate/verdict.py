"""What the gate says of one page, and its line in a verdict log."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import printable
from simhash_gate.fingerprints.hamming import to_hex
from simhash_gate.gate.policy import Action, Policy

if TYPE_CHECKING:
    from simhash_gate.compare.contradictions import Differs
    from simhash_gate.history.texts import KeptPage
    from simhash_gate.history.versions import Version
    from simhash_gate.page import Page
    from simhash_gate.stores.base import Match, Record

Answered = Literal["blocked", "soft_404"]
Outcome = (
    Literal["new", "near", "updated", "rewritten", "duplicate", "unchanged", "skipped", "error"]
    | Answered
)
NotCompared = Literal["", "few_words", "many_alike", "unreadable"]
Unpaid = Literal["", "nothing", "less", "code", "again", "errback"]


class Meaning(NamedTuple):
    """What an outcome says of a response.

    A `kept` page is remembered, and later pages are compared with it. A `revisit` was compared with
    what the page itself had said before. If it is no `page`, the server answered in place of one.
    If it was not `judged`, nothing is known of it.
    """

    kept: bool = False
    revisit: bool = False
    page: bool = True
    judged: bool = True

    @property
    def changed(self) -> bool:
        """Whether the page says something else than at an earlier visit."""
        return self.kept and self.revisit


OUTCOMES: Mapping[str, Meaning] = {
    "new": Meaning(kept=True),
    "near": Meaning(kept=True),
    "updated": Meaning(kept=True, revisit=True),
    "rewritten": Meaning(kept=True, revisit=True),
    "duplicate": Meaning(),
    "unchanged": Meaning(revisit=True),
    "blocked": Meaning(page=False),
    "soft_404": Meaning(page=False),
    "error": Meaning(judged=False),
    "skipped": Meaning(judged=False),
}
"""All outcomes, in the order in which tables show them."""
_BEFORE_LINKS = "-*#0123456789. !"
VERDICT_KEY = "simhash_gate_verdict"
"""Where the gate leaves its verdict in the meta of a request, for the spider."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome for one page, with all that it rests on.

    `match` is the remembered page that was found and its distance; `record` is what was remembered
    of this page, if anything. `reason` says the outcome in words. `not_compared` says what kept a
    page that passed from being compared with all that is like it: `few_words` of its own,
    `many_alike` that are other pages; `unreadable`. `differs` says in what a page that passed
    differs from the match, though it is as near; with `repeats`, what they have in common is what
    the site repeats; with `carried`, only their requests differ. `previous` is what this page was
    when it was seen before, with its `fingerprint`, `title` and `time`. `kept` is what a store has
    kept of the text of the page that was found, if it has. A copy `follows` so many links that no
    page of the crawl had before it. It passes if it is `unpaid`: the page that it is like gave
    `nothing`; the `code` of its callback has changed since; what came in an earlier crawl shall
    come `again`; an `errback` has sent it again. If that page gave `less` than others, the items
    are held back unless they bring more. `canonical_url` is its URL without what makes no
    difference, "" if it was judged by a `Visit`.
    """

    outcome: Outcome
    reason: str
    policy: Policy = Policy()
    page: Page | None = None
    match: Match | None = None
    record: Record | None = None
    not_compared: NotCompared = ""
    differs: Differs | Literal[""] = ""
    previous: Version | None = None
    kept: KeptPage | None = None
    follows: int = 0
    unpaid: Unpaid = ""
    canonical_url: str = ""

    @property
    def means(self) -> Meaning:
        """What the outcome says of the response."""
        return OUTCOMES[self.outcome]

    def __post_init__(self) -> None:
        """Keep what pages say of themselves from forging lines where the reason is logged."""
        object.__setattr__(self, "reason", printable(self.reason))

    @property
    def rejected(self) -> bool:
        """Whether an action applies: the page has been seen, or is none."""
        if self.unpaid and self.unpaid != "less":
            return False
        if self.outcome == "blocked":
            return self.policy.blocked == "drop"
        revisited = self.outcome == "unchanged" and self.record is None
        is_copy = self.outcome in ("duplicate", "soft_404")
        return is_copy or (revisited and self.policy.revisit != "pass")

    @property
    def action(self) -> Action:
        """What happens to the page if it is rejected: "drop", "tag" or "links".

        Dropped, it would be dropped with links that nobody has followed: so those that no other
        page had, or that it did not have at its last visit, are followed in any case.
        """
        policy = self.policy
        if policy.action not in ("drop", "discard"):
            return policy.action
        if self.outcome != "unchanged":
            return "links" if self.follows or self.unpaid == "less" else "drop"
        return "links" if policy.revisit == "links" or self.has_other_links else "drop"

    @property
    def held(self) -> bool:
        """Whether nothing of the page reaches the feeds."""
        return self.rejected and self.action != "tag"

    @property
    def has_other_links(self) -> bool:
        """Whether the page links to other addresses than at the last visit, as far as is known."""
        before = self.previous.links if self.previous else 0
        return 0 != before != (self.page.links if self.page else 0) != 0

    @property
    def title(self) -> str:
        """The page's title; empty for a page that was not read."""
        return self.page.title if self.page else ""

    @property
    def markdown(self) -> str:
        """The page's Markdown; empty for a page that was not read."""
        return self.page.markdown if self.page else ""

    @property
    def listing(self) -> bool:
        """Whether the page leads to others: a third of its lines, as of teasers, are links."""
        lines = list(filter(None, self.markdown.split("\n")))
        links = sum(map(_is_link, lines))
        return bool(self.page and self.page.listing) or 1 < links >= len(lines) / 3

    @property
    def fingerprint(self) -> int | None:
        """The page's fingerprint; None for a page that was not read or has no text."""
        return self.page.fingerprint if self.page else None


def _is_link(line: str) -> bool:
    """Tell if a line of Markdown is a link, as an entry of a list or a heading may be."""
    label, between, target = line.rpartition("](")
    starts = label.lstrip(_BEFORE_LINKS).startswith("[")
    return bool(between) and starts and target.endswith(")") and " " not in target


def verdict_of(response: Any) -> Verdict | None:
    """Return the verdict on a Scrapy response; None where none was given, as with the gate off."""
    if not hasattr(response, "request"):
        raise TypeError(f"expected a response of Scrapy, not {response!r:.80}")
    request = response.request
    return request.meta.get(VERDICT_KEY) if request else None


def line_of(
    verdict: Verdict,
    *,
    url: str,
    dropped: bool,
    size: int,
    id: Any = None,  # noqa: A002 - the key's name
    at: float | None = None,
) -> dict[str, Any]:
    """Return the line of the verdict on one response, as `replay` and the log of a crawl have it.

    `size` is that of the body in bytes; `dropped` says whether it went no further; `at` is the Unix
    time of the verdict, None where no crawl was on. Of a page that was visited before,
    `previous_time` says when it was last seen so.
    """
    page, policy, fingerprint = verdict.page, verdict.policy, verdict.fingerprint
    kept = verdict.match.record if verdict.match else None
    return {
        "id": id,
        "url": without_credentials(url),
        **({"canonical_url": verdict.canonical_url} if verdict.canonical_url else {}),
        "outcome": verdict.outcome,
        "distance": verdict.match.distance if verdict.match else None,
        "matched_url": kept.url if kept else None,
        "fingerprint": None if fingerprint is None else to_hex(fingerprint),
        "reason": verdict.reason,
        "differs": verdict.differs or None,
        "title": page.title if page else None,
        "words": page.words if page else None,
        "matched_title": kept.title if kept else None,
        "matched_words": kept.words if kept else None,
        "threshold": policy.threshold,
        "near": policy.near,
        "dropped": dropped,
        "bytes": size,
        **({"previous_time": verdict.previous.last_seen} if verdict.previous else {}),
        "time": at,
    }


def encode(line: Mapping[str, Any]) -> bytes:
    """Return a line of JSON Lines, in UTF-8, with its end."""
    text = json.dumps(line, ensure_ascii=False)
    return (text if text.isprintable() else json.dumps(line)).encode() + b"\n"

"""`simhash-gate compare`: two pages side by side, as the gate sees them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from simhash_gate.common.complaints import why
from simhash_gate.fingerprints.features import cosine, jaccard
from simhash_gate.fingerprints.hamming import band, hamming_distance
from simhash_gate.offline.claimed import claims_of, marked, side_by_side
from simhash_gate.offline.fingerprint import describe
from simhash_gate.offline.replay import judge, open_gate
from simhash_gate.pipeline import read_closely
from simhash_gate.sources.entry import Entry, read_body

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simhash_gate.common.complaints import Complain
    from simhash_gate.gate.policy import Policy
    from simhash_gate.gate.verdict import Verdict
    from simhash_gate.offline.claimed import Claimed
    from simhash_gate.pipeline import Reading
    from simhash_gate.settings import Settings

CONTEXT = 5  # words around a change


class Side(NamedTuple):
    """One of the two pages."""

    entry: Entry
    reading: Reading


class Change(NamedTuple):
    """Words that only one of two texts has, and the words around them."""

    before: Sequence[str]
    removed: Sequence[str]
    added: Sequence[str]
    after: Sequence[str]

    def as_text(self) -> str:
        """Return it as a person reads it: what only A has in red, what only B has in green."""
        gone, come = (" ".join(only) or None for only in (self.removed, self.added))
        parts = [" ".join(self.before), marked(gone, come), " ".join(self.after)]
        return " ".join(filter(None, parts))


@dataclass(frozen=True)
class Comparison:
    """Two pages and how near they are.

    `distance` is in bits, None where a page has no fingerprint; `verdict` is the gate's on `b`
    after `a`; `cosine` and `jaccard`, 0 to 1, are those of the features that were hashed;
    `fields` tells that the user has selectors of fields that must agree.
    """

    a: Side
    b: Side
    policy: Policy
    verdict: Verdict
    distance: int | None
    cosine: float
    jaccard: float
    changes: list[Change]
    claimed: list[Claimed]
    fields: bool

    def as_json(self, *, markdown: bool) -> dict[str, Any]:
        """Return all of it as JSON can say it."""

        def said(side: Side) -> dict[str, Any]:
            page = side.reading.page
            known = {"path": side.entry.path, "url": side.entry.url}
            known |= describe(page, fields=self.fields)
            return known | {"markdown": page.markdown} if markdown else known

        return {
            "distance": self.distance,
            "band": self._band,
            "outcome": self.verdict.outcome,
            "reason": self.verdict.reason,
            "differs": self.verdict.differs or None,
            "cosine": round(self.cosine, 4),
            "jaccard": round(self.jaccard, 4),
            "a": said(self.a),
            "b": said(self.b),
            "claims": [claimed._asdict() for claimed in self.claimed if claimed.differs],
            "changes": [change._asdict() for change in self.changes],
        }

    def as_text(self, *, markdown: bool) -> Iterator[str]:
        """Yield the lines that a person reads."""
        near = "none: a page has no fingerprint"
        if self.distance is not None:
            limits = f"threshold {self.policy.threshold}, near {self.policy.near}"
            near = f"{self.distance} of 64 bits: {self._band} ({limits})"
        yield click.style(f"distance  {near}", bold=True)
        yield f"the gate  {self.verdict.outcome}: {self.verdict.reason}"
        yield f"shingles  cosine {self.cosine:.3f}, Jaccard {self.jaccard:.3f}"
        for name, side in (("A", self.a), ("B", self.b)):
            page = describe(side.reading.page, fields=False)
            yield ""
            yield click.style(f"{name}  {side.entry.path}", bold=True)
            yield f"   title        {page['title']}"
            yield f"   words        {page['words']}"
            yield f"   fingerprint  {page['fingerprint'] or 'none: ' + page['reason']}"
            if markdown:
                lines = side.reading.page.markdown.splitlines()
                yield from ["", *(f"   {line}".rstrip() for line in lines)]
        yield ""
        yield from self._claims_as_text()
        nothing = "no word of the text differs"
        yield click.style("words that differ" if self.changes else nothing, bold=True)
        for change in self.changes:
            yield f"   {change.as_text()}"

    def _claims_as_text(self) -> Iterator[str]:
        for kind, title in (("names", "names"), ("offered", "offers"), ("fields", "fields")):
            claimed = [each for each in self.claimed if each.kind == kind]
            if claimed:
                said = "differ" if any(each.differs for each in claimed) else "agree"
                yield click.style(f"{title} {said}", bold=True)
                yield from (f"   {each.as_text()}" for each in claimed)
                yield ""

    @property
    def _band(self) -> str | None:
        if self.distance is None:
            return None
        return band(self.distance, self.policy.threshold, self.policy.near)


def read_sides(
    pages: Sequence[tuple[str, str]], settings: Settings, complain: Complain
) -> list[Side]:
    """Read the pages at paths, with their URLs; one that can't be read is left out."""
    sides = []
    for path, url in pages:
        try:
            body = read_body(path, settings.max_bytes)
        except OSError as error:
            complain(path, why(error))
            continue
        if body is None:
            complain(path, f"larger than {settings.max_bytes} bytes")
            continue
        # One scope: the pages are compared, wherever they came from.
        entry = Entry(path, path=path, url=url, scope="", request=path)
        sides.append(Side(entry, read_closely(body, url=url, options=settings.options)))
    return sides


def compare(a: Side, b: Side, settings: Settings) -> Comparison:
    """Compare two pages under the policy of the second one's URL."""
    first, second = a.reading.page.fingerprint, b.reading.page.fingerprint
    with open_gate(replace(settings, store="memory:")) as gate:
        judge(gate, settings, a.entry, a.reading.page)
        verdict = judge(gate, settings, b.entry, b.reading.page)
    return Comparison(
        a,
        b,
        settings.policies.site_of(b.entry.url).policy,
        verdict,
        None if first is None or second is None else hamming_distance(first, second),
        cosine(a.reading.features, b.reading.features),
        jaccard(a.reading.features, b.reading.features),
        list(changes(a.reading.words, b.reading.words)),
        list(side_by_side(claims_of(a.reading.page), claims_of(b.reading.page))),
        bool(settings.options.compare),
    )


def changes(a: Sequence[str], b: Sequence[str]) -> Iterator[Change]:
    """Yield what differs between two texts, given as words, in order."""
    for tag, start, end, b_start, b_end in SequenceMatcher(None, a, b).get_opcodes():
        if tag != "equal":
            before, after = a[max(0, start - CONTEXT) : start], a[end : end + CONTEXT]
            yield Change(before, a[start:end], b[b_start:b_end], after)

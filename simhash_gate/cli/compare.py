"""`simhash-gate compare`: two pages side by side, as the gate sees them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from simhash_gate.cli.console import Console
from simhash_gate.cli.options import as_json, with_settings
from simhash_gate.common.wording import complaining
from simhash_gate.fingerprints.features import cosine, jaccard
from simhash_gate.fingerprints.hamming import band, hamming_distance
from simhash_gate.offline.differences import (
    Change,
    Claim,
    changes,
    page_as_json,
    side_by_side,
    sketch_of,
)
from simhash_gate.offline.replay import judge, open_gate
from simhash_gate.pipeline import read_closely
from simhash_gate.sources import Entry, read_body

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simhash_gate.common.wording import Complain
    from simhash_gate.gate.policy import Policy
    from simhash_gate.gate.verdict import Verdict
    from simhash_gate.pipeline import Reading
    from simhash_gate.settings import Settings


@click.command(epilog="Example: simhash-gate compare a.html b.html --url-b https://example.com/b")
@click.argument("a")
@click.argument("b")
@click.option("--url-a", metavar="URL", default="", help="The URL of A.")
@click.option(
    "--url-b", metavar="URL", default="", help="The URL of B. Its domain decides the policy."
)
@click.option("--markdown", is_flag=True, help="Also show the Markdown of each page.")
@as_json
@with_settings
def compare(
    settings: Settings, a: str, b: str, url_a: str, url_b: str, markdown: bool, as_json: bool
) -> int:
    """Show how near two HTML files are, and what differs.

    The verdict is the one that the gate reaches on B after A.
    """
    console = Console()
    one = _read_side(a, url_a, settings, console.complain)
    other = _read_side(b, url_b, settings, console.complain)
    if one and other:
        found = _compare(one, other, settings)
        if as_json:
            console.write(found.as_json(markdown=markdown))
        else:
            console.show(found.as_text(markdown=markdown))
    return console.status()


class Side(NamedTuple):
    """One of the two pages."""

    entry: Entry
    reading: Reading


@dataclass(frozen=True)
class PageComparison:
    """Two pages and how near they are.

    `distance` is in bits, None if a page has no fingerprint. `verdict` is that of the gate on `b`
    after `a`. `cosine` and `jaccard`, 0 to 1, are those of the features that were hashed. `fields`
    tells that the user has selectors of fields that must agree.
    """

    a: Side
    b: Side
    policy: Policy
    verdict: Verdict
    distance: int | None
    cosine: float
    jaccard: float
    changes: list[Change]
    claims: list[Claim]
    fields: bool

    def as_json(self, *, markdown: bool) -> dict[str, Any]:
        """Return an object of JSON."""

        def said(side: Side) -> dict[str, Any]:
            page = side.reading.page
            known = {"path": side.entry.path, "url": side.entry.url}
            known |= page_as_json(page, fields=self.fields)
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
            "claims": [claim._asdict() for claim in self.claims if claim.differs],
            "changes": [change._asdict() for change in self.changes],
        }

    def as_text(self, *, markdown: bool) -> Iterator[str]:
        """Yield lines of text."""
        near = "none: a page has no fingerprint"
        if self.distance is not None:
            limits = f"threshold {self.policy.threshold}, near {self.policy.near}"
            near = f"{self.distance} of 64 bits: {self._band} ({limits})"
        yield click.style(f"distance  {near}", bold=True)
        yield f"the gate  {self.verdict.outcome}: {self.verdict.reason}"
        yield f"shingles  cosine {self.cosine:.3f}, Jaccard {self.jaccard:.3f}"
        for name, side in (("A", self.a), ("B", self.b)):
            page = page_as_json(side.reading.page, fields=False)
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
            claims = [claim for claim in self.claims if claim.kind == kind]
            if claims:
                said = "differ" if any(claim.differs for claim in claims) else "agree"
                yield click.style(f"{title} {said}", bold=True)
                yield from (f"   {claim.as_text()}" for claim in claims)
                yield ""

    @property
    def _band(self) -> str | None:
        if self.distance is None:
            return None
        return band(self.distance, self.policy.threshold, self.policy.near)


def _read_side(path: str, url: str, settings: Settings, complain: Complain) -> Side | None:
    """Read the page at a path; None if it can't be read."""
    with complaining(complain, path):
        body = read_body(path, settings.max_bytes)
        if body is None:
            raise ValueError(f"larger than {settings.max_bytes} bytes")
        # One scope: the pages are compared, wherever they came from.
        entry = Entry(path, path=path, url=url, scope="", request=path)
        return Side(entry, read_closely(body, url=url, options=settings.options))
    return None


def _compare(a: Side, b: Side, settings: Settings) -> PageComparison:
    """Compare two pages under the policy of the second one's URL."""
    first, second = a.reading.page.fingerprint, b.reading.page.fingerprint
    with open_gate(replace(settings, store="memory:")) as gate:
        judge(gate, settings, a.entry, a.reading.page)
        verdict = judge(gate, settings, b.entry, b.reading.page)
    return PageComparison(
        a,
        b,
        settings.policies.site_of(b.entry.url).policy,
        verdict,
        None if first is None or second is None else hamming_distance(first, second),
        cosine(a.reading.features, b.reading.features),
        jaccard(a.reading.features, b.reading.features),
        list(changes(a.reading.words, b.reading.words)),
        list(side_by_side(sketch_of(a.reading.page), sketch_of(b.reading.page))),
        bool(settings.options.compare),
    )

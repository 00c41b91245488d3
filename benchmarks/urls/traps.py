"""What the trap shield would hold back in stored crawls, and how much of it says something new.

`python -m benchmarks.urls.traps CRAWL...` follows the links of stored pages, site by site: the last
link first as Scrapy does, and the first one first. Pages that no link leads to come last, each as
if it had been found on the page before, which is the hardest on it.
"""

from __future__ import annotations

import sys
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from benchmarks.speed.measure import say, table
from benchmarks.urls.truth import STRICT
from simhash_gate import Page
from simhash_gate.fingerprints.sample import Sample, read_sample
from simhash_gate.gate.policy import scope_of
from simhash_gate.identity.address import Address, address_of
from simhash_gate.identity.traps import TracedRequest, TrapShield
from simhash_gate.offline.replay import judge, open_gate
from simhash_gate.plugin.trap_shield import offers_of
from simhash_gate.settings import read_settings
from simhash_gate.sources.open import open_pages
from simhash_gate.sources.read_pages import read_pages


class Stored(NamedTuple):
    """A page of a stored crawl, and whether the gate let it pass."""

    address: Address
    scope: str
    passed: bool
    title: str
    sample: Sample
    offers: tuple[tuple[str, str], ...]
    targets: list[Address]


def load(sources: Sequence[str]) -> dict[str, list[Stored]]:
    """Return the pages of each site."""
    settings = read_settings(STRICT)
    found: defaultdict[str, list[Stored]] = defaultdict(list)
    pages = open_pages(sources, lambda *_: None, settings.max_bytes, lambda _: None)
    with open_gate(settings) as gate:
        for entry, page in read_pages(pages.entries, settings):
            verdict = judge(gate, settings, entry, page)
            if not isinstance(page, Page) or verdict.outcome in ("skipped", "error"):
                continue
            scope = scope_of(entry.url, "domain")
            targets = [
                address_of(url)
                for url in dict.fromkeys(page.targets.split("\n"))
                if scope_of(url, "domain") == scope
            ]
            address, passed = address_of(entry.url), verdict.outcome != "duplicate"
            sample, offers = read_sample(page.sample), offers_of(page)
            found[scope].append(Stored(address, scope, passed, page.title, sample, offers, targets))
    return found


def crawl(pages: list[Stored], *, last_first: bool, linked: bool) -> Iterator[tuple[Stored, bool]]:
    """Yield each page of a site, and whether the shield holds it back in the end."""
    shield, scope = TrapShield(), pages[0].scope
    waiting = {} if not linked else {page.address: page for page in pages[1:]}
    rest = deque(pages if not linked else ())
    queue: deque[tuple[Stored, TracedRequest | None]] = deque([(pages[0], None)] if linked else ())
    held: dict[Address, Stored] = {}
    before: TracedRequest | None = None
    while queue or rest or waiting:
        if queue:
            page, parent = queue.pop() if last_first else queue.popleft()
        else:
            if not rest:
                rest.append(waiting.pop(next(iter(waiting))))
            page, parent = rest.popleft(), before
        visit = shield.ask(page.address, scope, parent.as_origin if parent else None)
        if visit.held:
            held[page.address] = page
            continue
        shield.judged(
            visit, scope, passed=page.passed, title=page.title, sample=page.sample,
            offers=page.offers,
        )  # fmt: skip
        yield page, False
        before = visit
        for target in page.targets:
            shield.found(visit, target, scope)
            if target in waiting:
                queue.append((waiting.pop(target), visit))
            elif target in held and not visit.leads_into_trap:
                queue.append((held.pop(target), None))
    yield from ((page, True) for page in held.values())


def main(sources: Sequence[str]) -> int:
    """Print a row for each order, and the sites of which pages are held back."""
    sites = load(sources)
    rows = []
    for title, last_first, linked in (
        ("by links, the last one first", True, True),
        ("by links, the first one first", False, True),
        ("each found on the page before", False, False),
    ):
        total = held = lost = 0
        for scope, pages in sites.items():
            done = [*crawl(pages, last_first=last_first, linked=linked)]
            kept = [page for page, is_held in done if is_held]
            new = [page for page in kept if page.passed]
            total += sum(page.passed for page in pages)
            held, lost = held + len(kept), lost + len(new)
            if kept:
                shown = ", ".join(page.address.url for page in (new or kept)[:2])
                say(f"{title}: {scope}: {len(kept)} held back, {len(new)} new, such as {shown}")
        told = {"contents": total, "held back": held, "contents lost": lost}
        rows.append({"order": title, **told, "share": f"{lost / total:.2%}"})
    print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

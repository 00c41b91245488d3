"""What the gate did against what the site knows. Pure arithmetic: no Scrapy, no gate, no site."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

TRUE_UPDATE = 0.10
"""The share of its words that must change before a new version counts as a true update."""

WORD = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+")


class Skips(NamedTuple):
    """What was not fetched: what the gate counted, and what each such request would have shown.

    A request that was fetched after all is none of `contents`.
    """

    avoided: int = 0
    probes: int = 0
    contents: Sequence[str] = ()


NO_SKIPS = Skips()


class Served(NamedTuple):
    """One response of the site; `serve` counts from 1 over the site's life.

    `article`, `product` and `offer` are ids, empty on pages of something else. A product's is its
    number (SKU), which every variant has for itself; an offer is a product, variant and price.
    `content` is the same for all pages that show the same, blank where nobody can tell; `trap` is
    whether there is no end to such pages.
    """

    serve: int
    path: str
    status: int
    html: bool
    article: str
    version: int
    product: str
    offer: str = ""
    content: str = ""
    trap: bool = False


class Truth(NamedTuple):
    """What a site knows: articles, products, how far versions are apart, what it served."""

    articles: list[str]
    products: list[str]
    changed: dict[str, float]
    log: list[Served]


class Score(NamedTuple):
    """The closing figures of a crawl. `caught` is 1 when there were no duplicates to catch.

    None stands for what one of several crawls can't know: others may have delivered it.

    `avoidable` are the requests after the first `warmup` pages that a crawler which knows the site
    would not have sent: what they show was delivered anyway. `fetches_avoided` and `probes` are
    what the gate counted. `trap_full` is whether the site had to end a trap that the crawl did not
    leave.
    """

    articles: int
    lost: int | None
    products: int
    products_lost: int | None
    fetched: int
    duplicates: int
    duplicates_delivered: int
    caught: float
    updates: int
    updates_dropped: int | None
    offers: int
    offers_lost: int | None
    pages_per_second: float
    fetches_avoided: int
    avoidable: int
    warmup: int
    probes: int
    trap_fetches: int
    trap_full: bool


def words(text: str) -> list[str]:
    """Return the words of a text; a Chinese character is a word."""
    return WORD.findall(text)


def changed_fraction(before: Sequence[str], after: Sequence[str]) -> float:
    """Return 1 - LCS / length of the longer, over words: 0 for equal texts, 1 for unrelated ones.

    The longest common subsequence is counted in the bits of one integer (Hyyrö, Bit-parallel
    LCS-length computation revisited, 2004).
    """
    longer = max(len(before), len(after))
    if not longer:
        return 0.0
    positions: dict[str, int] = {}
    for i, word in enumerate(before):
        positions[word] = positions.get(word, 0) | 1 << i
    ones = (1 << len(before)) - 1
    row = ones
    for word in after:
        common = row & positions.get(word, 0)
        row = ((row + common) | (row - common)) & ones
    return 1 - (len(before) - row.bit_count()) / longer


def score(
    known: Truth,
    delivered: Collection[int],
    *,
    dropped: Collection[int] = (),
    seconds: float,
    alone: bool = True,
    skips: Skips = NO_SKIPS,
    warmup: int = 0,
) -> Score:
    """Judge one crawl by what the site knows and the serve numbers that reached a callback.

    A page is a duplicate if what it shows was delivered before: this version of an article, or this
    offer. An offer is lost if a page of it was `dropped`, and none was delivered.

    A crawl that is not `alone` shares the site with others; the log is what it had of it.

    `changed["article a b"]` with a < b is the fraction of words by which two versions differ.
    """
    entries = sorted(known.log)
    pages = [entry for entry in entries if entry.status == 200 and entry.html]
    received = [page for page in pages if page.serve in delivered]
    ever = {(page.article, page.version) for page in received}
    versions: dict[str, set[int]] = {}
    offers: set[str] = set()
    duplicates = duplicates_delivered = updates = updates_dropped = 0
    for page in pages:
        if page.offer:
            duplicates += page.offer in offers
            duplicates_delivered += page.offer in offers and page.serve in delivered
            if page.serve in delivered:
                offers.add(page.offer)
        if not page.article:
            continue
        had = versions.setdefault(page.article, set())
        if page.version in had:
            duplicates += 1
            duplicates_delivered += page.serve in delivered
        elif had and all(
            known.changed["{} {} {}".format(page.article, *sorted((page.version, other)))]
            >= TRUE_UPDATE
            for other in had
        ):
            updates += 1
            updates_dropped += (page.article, page.version) not in ever
        if page.serve in delivered:
            had.add(page.version)
    return Score(
        articles=len(known.articles),
        lost=len(set(known.articles) - {page.article for page in received}) if alone else None,
        products=len(known.products),
        products_lost=len(set(known.products) - {p.product for p in received}) if alone else None,
        fetched=len(pages),
        duplicates=duplicates,
        duplicates_delivered=duplicates_delivered,
        caught=round(1 - duplicates_delivered / duplicates, 4) if duplicates else 1.0,
        updates=updates,
        updates_dropped=updates_dropped if alone else None,
        offers=len({page.offer for page in pages if page.offer}),
        offers_lost=len({p.offer for p in pages if p.offer and p.serve in dropped} - offers)
        if alone
        else None,
        pages_per_second=round(len(pages) / seconds, 1) if seconds > 0 else 0.0,
        fetches_avoided=skips.avoided,
        avoidable=_avoidable(pages, delivered, skips.contents, warmup),
        warmup=warmup,
        probes=skips.probes,
        trap_fetches=sum(page.trap for page in pages),
        trap_full=any(entry.trap and entry.status != 200 for entry in entries),
    )


def _avoidable(
    pages: Iterable[Served], delivered: Collection[int], avoided: Iterable[str], warmup: int
) -> int:
    """Count the requests that showed, or would have shown, what was delivered anyway."""
    had: set[str] = set()
    count = 0
    for number, page in enumerate(pages):
        if page.content in had:
            count += number >= warmup
        elif page.content and page.serve in delivered:
            had.add(page.content)
    return count + sum(content in had for content in avoided)


def report(figures: Score, *, urls: bool = False) -> str:
    """Return the figures as a few lines of text; of a site whose `urls` are the matter, others."""
    caught = figures.duplicates - figures.duplicates_delivered
    after = f"after the first {figures.warmup} pages"
    end = "; FAILED: the site had to end it" if figures.trap_full else ""
    probed = f"{figures.probes} sent to test"
    updated = "delivered here or by others"
    if figures.updates_dropped is not None:
        kept = figures.updates - figures.updates_dropped
        updated = f"{kept} delivered, {figures.updates_dropped} dropped"
    lines = [
        ("pages fetched", figures.fetched, f"{figures.pages_per_second:g} a second"),
        ("articles", figures.articles, _lost(figures.lost)),
    ]
    if urls:
        lines += [
            ("avoidable", figures.avoidable, f"requests for what is known, {after}"),
            ("avoided", figures.fetches_avoided, f"requests not sent; {probed}"),
        ]
        if figures.trap_fetches:
            lines.append(("in the trap", figures.trap_fetches, f"pages fetched{end}"))
    else:
        lines += [
            ("products", figures.products, _lost(figures.products_lost)),
            ("offers", figures.offers, _lost(figures.offers_lost)),
            ("duplicates", figures.duplicates, f"{caught} not delivered ({figures.caught:.1%})"),
            ("true updates", figures.updates, updated),
        ]
    return rows(lines)


def rows(lines: Iterable[tuple[str, int, str]]) -> str:
    """Return figures with their names and remarks, below one another."""
    told = (f"  {name:<14}{count:>7}   {remark}" for name, count, remark in lines)
    return "\n".join(["What the gate did, against what the site knows:", *told])


def _lost(count: int | None) -> str:
    return "in all of the site" if count is None else f"{count} lost"

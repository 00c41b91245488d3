"""What the gate did against what the site knows. Pure arithmetic: no Scrapy, no gate, no site."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

TRUE_UPDATE = 0.10
"""The share of its words that must change before a new version counts as a true update."""

WORD = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+")


class Served(NamedTuple):
    """One response of the site; `serve` counts from 1 over the site's life.

    `article`, `product` and `offer` are ids, empty on pages of something else. A product's is its
    number (SKU), which every variant has for itself; an offer is a product, variant and price.
    `content` is the same for all pages that show the same, blank where nobody can tell.
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


class Truth(NamedTuple):
    """What a site knows: ids of articles and products, how far versions are apart, what it served.

    `changed["article a b"]` with a < b is the fraction of words by which two versions differ.
    """

    articles: list[str]
    products: list[str]
    changed: dict[str, float]
    log: list[Served]


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
    row = ones = (1 << len(before)) - 1
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
) -> dict[str, Any]:
    """Return the closing figures of a crawl from the serve numbers that reached a callback.

    A page is a duplicate if what it shows was delivered before: this version of an article, or this
    offer; `caught` is the share of them that was not delivered, 1 when there were none. An offer is
    lost if a page of it was `dropped`, and none was delivered. A crawl that is not `alone` shares
    the site with others; the log is what it had of it, and what others may have delivered is None.

    `avoidable` are the requests that a crawler which knows the site would not have sent: what they
    showed was delivered anyway.
    """
    entries = sorted(known.log)
    pages = [entry for entry in entries if entry.status == 200 and entry.html]
    received = [page for page in pages if page.serve in delivered]
    ever = {(page.article, page.version) for page in received}
    shown: set[object] = set()
    versions: dict[str, set[int]] = defaultdict(set)
    duplicates: list[Served] = []
    updates: list[Served] = []
    for page in pages:
        if not (page.article or page.offer):
            continue
        what, had = page.offer or (page.article, page.version), versions[page.article]
        if what in shown:
            duplicates.append(page)
        elif page.article and had:
            pairs = [sorted((page.version, other)) for other in had]
            changes = [known.changed[f"{page.article} {a} {b}"] for a, b in pairs]
            if min(changes) >= TRUE_UPDATE:
                updates.append(page)
        if page.serve in delivered:
            shown.add(what)
            had.add(page.version)
    copies = sum(page.serve in delivered for page in duplicates)
    lost = len(set(known.articles) - {page.article for page in received})
    products_lost = len(set(known.products) - {page.product for page in received})
    updates_dropped = sum((page.article, page.version) not in ever for page in updates)
    offers_lost = {page.offer for page in pages if page.serve in dropped} - shown - {""}
    return {
        "articles": len(known.articles),
        "lost": lost if alone else None,
        "products": len(known.products),
        "products_lost": products_lost if alone else None,
        "fetched": len(pages),
        "duplicates": len(duplicates),
        "duplicates_delivered": copies,
        "caught": round(1 - copies / len(duplicates), 4) if duplicates else 1.0,
        "updates": len(updates),
        "updates_dropped": updates_dropped if alone else None,
        "offers": len({page.offer for page in pages if page.offer}),
        "offers_lost": len(offers_lost) if alone else None,
        "pages_per_second": round(len(pages) / seconds, 1) if seconds > 0 else 0.0,
        "avoidable": _avoidable(pages, delivered),
    }


def _avoidable(pages: Iterable[Served], delivered: Collection[int]) -> int:
    """Count the requests that showed what was delivered before."""
    had: set[str] = set()
    count = 0
    for page in pages:
        count += page.content in had
        if page.content and page.serve in delivered:
            had.add(page.content)
    return count


def report(figures: dict[str, Any], *, urls: bool = False) -> str:
    """Return the figures as a few lines of text; of a site whose `urls` are the matter, others."""
    alone = figures["lost"] is not None

    def lost(key: str) -> str:
        return f"{{{key}}} lost" if alone else "in all of the site"

    lines = [
        ("pages fetched", "fetched", "{pages_per_second:g} a second"),
        ("articles", "articles", lost("lost")),
    ]
    if urls:
        return rows(figures, [*lines, ("avoidable", "avoidable", "requests for what is known")])
    kept = "{updates_kept} delivered, {updates_dropped} dropped"
    lines += [
        ("products", "products", lost("products_lost")),
        ("offers", "offers", lost("offers_lost")),
        ("duplicates", "duplicates", "{held} not delivered ({caught:.1%})"),
        ("true updates", "updates", kept if alone else "delivered here or by others"),
    ]
    held = figures["duplicates"] - figures["duplicates_delivered"]
    updates_kept = figures["updates"] - (figures["updates_dropped"] or 0)
    return rows({**figures, "held": held, "updates_kept": updates_kept}, lines)


def rows(figures: dict[str, Any], lines: Iterable[tuple[str, str, str]]) -> str:
    """Return figures below one another, each with a name and a remark, in which others may stand.

    A line is the name, the key of the figure, and the remark with the keys of others in braces.
    """
    shown = (f"  {name:<14}{figures[key]:>7}   {end.format(**figures)}" for name, key, end in lines)
    return "\n".join(["What the gate did, against what the site knows:", *shown])

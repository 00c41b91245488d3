"""The closing figures of a demonstration, for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.truth import Score


def report(figures: Score) -> str:
    """Return the figures as a few lines of text."""
    caught = figures.duplicates - figures.duplicates_delivered
    lines = [
        ("pages fetched", figures.fetched, f"{figures.pages_per_second:g} a second"),
        ("articles", figures.articles, _lost(figures.lost)),
        ("products", figures.products, _lost(figures.products_lost)),
        ("offers", figures.offers, _lost(figures.offers_lost)),
        ("duplicates", figures.duplicates, f"{caught} not delivered ({figures.caught:.1%})"),
        ("true updates", figures.updates, _updates(figures)),
    ]
    return rows(lines)


def report_urls(figures: Score) -> str:
    """Return the figures of a site whose URLs are the matter: it sells nothing, and has no news."""
    after = f"after the first {figures.warmup} pages"
    end = "; FAILED: the site had to end it" if figures.trap_full else ""
    lines = [
        ("pages fetched", figures.fetched, f"{figures.pages_per_second:g} a second"),
        ("articles", figures.articles, _lost(figures.lost)),
        ("avoidable", figures.avoidable, f"requests for what is known, {after}"),
        ("avoided", figures.fetches_avoided, f"requests not sent; {figures.probes} sent to test"),
    ]
    if figures.trap_fetches:
        lines.append(("in the trap", figures.trap_fetches, f"pages fetched{end}"))
    return rows(lines)


def rows(lines: Iterable[tuple[str, int, str]]) -> str:
    """Return figures with their names and remarks, below one another."""
    return "\n".join(["What the gate did, against what the site knows:", *map(_line, lines)])


def _line(row: tuple[str, int, str]) -> str:
    name, count, remark = row
    return f"  {name:<14}{count:>7}   {remark}"


def _lost(count: int | None) -> str:
    return "in all of the site" if count is None else f"{count} lost"


def _updates(figures: Score) -> str:
    if figures.updates_dropped is None:
        return "delivered here or by others"
    kept = figures.updates - figures.updates_dropped
    return f"{kept} delivered, {figures.updates_dropped} dropped"

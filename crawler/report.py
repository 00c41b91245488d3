"""The closing figures of a demonstration, for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.truth import Score


def report(figures: Score) -> str:
    """Return the figures as a few lines of text."""
    caught = figures.duplicates - figures.duplicates_delivered
    rows = [
        ("pages fetched", figures.fetched, f"{figures.pages_per_second:g} a second"),
        ("articles", figures.articles, _lost(figures.lost)),
        ("products", figures.products, _lost(figures.products_lost)),
        ("offers", figures.offers, _lost(figures.offers_lost)),
        ("duplicates", figures.duplicates, f"{caught} not delivered ({figures.caught:.1%})"),
        ("true updates", figures.updates, _updates(figures)),
    ]
    lines = [f"  {name:<14}{count:>7}   {remark}" for name, count, remark in rows]
    return "\n".join(["What the gate did, against what the site knows:", *lines])


def _lost(count: int | None) -> str:
    return "in all of the site" if count is None else f"{count} lost"


def _updates(figures: Score) -> str:
    if figures.updates_dropped is None:
        return "delivered here or by others"
    kept = figures.updates - figures.updates_dropped
    return f"{kept} delivered, {figures.updates_dropped} dropped"

"""The closing figures of a demonstration, for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.truth import Score


def report(figures: Score) -> str:
    """Return the figures as a few lines of text."""
    caught = figures.duplicates - figures.duplicates_delivered
    kept = figures.updates - figures.updates_dropped
    rows = [
        ("pages fetched", figures.fetched, f"{figures.pages_per_second:g} a second"),
        ("articles", figures.articles, f"{figures.lost} lost"),
        ("products", figures.products, f"{figures.products_lost} lost"),
        ("duplicates", figures.duplicates, f"{caught} not delivered ({figures.caught:.1%})"),
        ("true updates", figures.updates, f"{kept} delivered, {figures.updates_dropped} dropped"),
    ]
    lines = [f"  {name:<14}{count:>7}   {remark}" for name, count, remark in rows]
    return "\n".join(["What the gate did, against what the site knows:", *lines])

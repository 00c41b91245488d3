"""A year of crawls in a few lines, for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.report import rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.year.score import YearScore
    from crawler.year.visits import Day

OUTCOMES = ("new", "near", "updated", "rewritten", "duplicate", "unchanged", "skipped")


def week(days: Sequence[Day]) -> str:
    """Return what the crawls of a week counted, in one line."""
    told = []
    for outcome in OUTCOMES:
        count = sum(day.stats.get(f"simhash_gate/{outcome}", 0) for day in days)
        told += [f"{count} {outcome}"] if count else []
    first, last = days[0].number + 1, days[-1].number + 1
    return f"Days {first} to {last}: {', '.join(told)}"


def report(figures: YearScore) -> str:
    """Return the figures as a few lines of text."""
    unmodified = f"{figures.not_modified} answered that nothing has changed"
    small = f"{figures.small_updates_missed} of {figures.small_updates} smaller ones"
    return rows(
        [
            ("pages fetched", figures.fetches, unmodified),
            ("updates", figures.updates, f"{figures.updates_missed} missed, and {small}"),
            ("unchanged", figures.unchanged, f"{figures.unchanged_recognised:.1%} recognised"),
            ("redesigns", figures.redesigns, f"{figures.redesigns_reported} reported"),
            ("false alarms", figures.false_alarms, "reports of a redesign without cause"),
            ("articles", figures.articles, f"{figures.lost} lost"),
        ]
    )

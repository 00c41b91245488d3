"""What `simhash-gate tune` shows a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from simhash_gate.common.wording import how_many
from simhash_gate.offline.claimed import printable
from simhash_gate.report.names import ADVICE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simhash_gate.common.proportion import Interval
    from simhash_gate.tuning.threshold import Score
    from simhash_gate.tuning.tune import Labelled, ScopeTuning, Tuning

_MOST_SCOPES = 10
_BAR = 40  # characters


def as_text(tuning: Tuning) -> Iterator[str]:
    """Yield the lines: the largest scopes, what the labels tell, the settings to paste."""
    for scope in tuning.scopes[:_MOST_SCOPES]:
        yield from _scope(scope)
        yield ""
    left = len(tuning.scopes) - _MOST_SCOPES
    if left > 0:
        yield f"and {left} smaller scopes, which --json shows, and --scope, one at a time"
        yield ""
    if tuning.labelled:
        yield from labels_as_text(tuning.labelled)
        yield ""
    if any(scope.says_little for scope in tuning.scopes):
        yield ADVICE
        yield ""
    if tuning.is_store:
        yield (
            "A store has only the pages that were kept: distances up to the threshold that they "
            "were crawled with are missing."
        )
        yield ""
    yield click.style("settings", bold=True)
    yield tuning.block or "as they are"


def labels_as_text(labelled: Labelled) -> Iterator[str]:
    """Yield the table of thresholds, with 95 % intervals; the best is marked."""
    duplicates = how_many(labelled.duplicates, "duplicate")
    others = how_many(labelled.others, "other")
    yield click.style(f"labelled pairs: {duplicates}, {others}", bold=True)
    yield from _table(labelled.scores, labelled.best.threshold if labelled.suffice else None)
    if not labelled.suffice:
        yield "too few of either to choose a threshold by"


def _table(scores: Sequence[Score], chosen: int | None) -> Iterator[str]:
    yield "threshold  F1     precision             recall"
    for score in scores:
        mark = "*" if score.threshold == chosen else " "
        precision = _share(score.precision, score.precision_interval)
        recall = _share(score.recall, score.recall_interval)
        yield f"{score.threshold:>8}{mark}  {score.f1:.3f}  {precision}  {recall}".rstrip()


def _share(share: float | None, interval: Interval) -> str:
    if share is None:
        return f"{'–':20}"
    return f"{share:.3f} ({interval.low:.3f}–{interval.high:.3f})"


def _scope(tuned: ScopeTuning) -> Iterator[str]:
    scope, line = tuned.scope, tuned.suggestion.threshold
    looked_at = "" if scope.looked_at == len(scope.pages) else f", {scope.looked_at} looked at"
    pages = how_many(len(scope.pages), "page")
    name = printable(scope.name) or "(no URL)"
    yield click.style(f"{name}  {pages}{looked_at}", bold=True)
    yield from _histogram(scope.histogram, tuned.other_names, line)
    change = "as it is" if line == tuned.now else f"now {tuned.now}"
    yield click.style(f"threshold {line} ({change}): ", bold=True) + tuned.suggestion.reason
    yield from _others(tuned)
    for where, pairs in (("up to it", tuned.under), ("beyond it", tuned.beyond)):
        if pairs:
            yield f"next to the line, {where}:"
        for pair in pairs:
            yield from (f"  {text}" for text in pair.as_text())


def _others(tuned: ScopeTuning) -> Iterator[str]:
    """Yield how many of the near pages are other ones."""
    if tuned.named.others:
        yield f"by their titles, {tuned.named}"
    differ = ", ".join(
        f"other {what} in {pairs}" for what, pairs in tuned.closer.most_common() if what
    )
    if differ:
        yield f"of {how_many(tuned.closer.total(), 'near pair')} looked at closer: {differ}"


def _histogram(counts: Sequence[int], others: Sequence[int], line: int) -> Iterator[str]:
    last = max((distance for distance, number in enumerate(counts) if number), default=None)
    if last is None:
        yield "no page is near an earlier one"
        return
    yield "bits  pages, by the distance of the nearest earlier one"
    longest = max(counts)
    for distance in range(max(last, line) + 1):
        number = counts[distance]
        length = -(-number * _BAR // longest)
        other = f"  {others[distance]} of another name" if others[distance] else ""
        yield f"{distance:>4}  {number:>7}  {'█' * length}{other}".rstrip()
        if distance == line:
            yield f"{'':4}  {'-' * (_BAR + 9)}"

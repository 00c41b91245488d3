"""`simhash-gate tune`: reads a collection and labels, and shows thresholds."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import click

from simhash_gate.cli.console import Console, as_json, scope, with_console, with_settings
from simhash_gate.common.wording import how_many, printable
from simhash_gate.report.judged import ADVICE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simhash_gate.collection.neighbours import Scope
    from simhash_gate.settings import Settings
    from simhash_gate.tuning.threshold import Labelled, ScopeTuning, Score, Tuning


_MOST_SCOPES = 10
_BAR = 40  # characters


@click.command(epilog="Example: simhash-gate tune pages.jsonl --pairs labels.jsonl")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option(
    "--pairs",
    "labels_file",
    metavar="FILE",
    help="Choose the threshold by the labelled pairs in FILE. It is JSON Lines: "
    '{"a": URL, "b": URL, "duplicate": true}.',
)
@scope
@as_json
@with_settings
@with_console
def tune(
    settings: Settings,
    console: Console,
    sources: Sequence[str],
    labels_file: str | None,
    scope: str | None,
    as_json: bool,
) -> int:
    """Show how far apart the pages of all SOURCEs are, and suggest thresholds by labels.

    SOURCE is anything that `pairs` reads, such as a folder, a store, or the verdict log of a crawl.
    """
    from simhash_gate.sources.find import shown
    from simhash_gate.tuning.threshold import read_labels, unknown
    from simhash_gate.tuning.threshold import tune as suggested

    labels = read_labels(labels_file, console.complain) if labels_file else []
    if labels_file and not labels:
        console.complain_of_nothing(labels_file, "no labelled pair in it")
    complaints = console.complaints
    scopes = _collect(sources, settings, console, scope)
    if not scopes:
        where = f" in scope {scope!r}" if scope else ""
        console.complain_of_nothing(
            shown(*sources), f"no page with a fingerprint{where}", since=complaints
        )
        return console.status()
    missing = unknown(labels, scopes)
    if missing:
        console.complain(
            str(labels_file), f"pairs that are not two pages of {shown(*sources)}: {missing}"
        )
    tuning = suggested(sources, scopes, settings, labels)
    if as_json:
        console.write(tuning.as_json())
    else:
        console.show(_as_text(tuning))
    return console.status()


def _collect(
    sources: Sequence[str], settings: Settings, console: Console, only: str | None
) -> list[Scope]:
    """Read a collection, or the scope `only` of it.

    If there are several pipeline versions, the pages of the largest are taken, and the rest is
    complained of.
    """
    from simhash_gate.collection.neighbours import find_neighbours
    from simhash_gate.offline.members import Members
    from simhash_gate.sources.find import shown

    members = Members(settings, console.complain, console.say, watch=console.bar)
    pages = list(members.of(sources))
    versions = Counter(page.pipeline for page in pages)
    if len(versions) > 1:
        (taken, number), *_ = versions.most_common()
        console.complain(
            shown(*sources),
            f"left out {how_many(len(pages) - number, 'page')} of other pipeline versions than "
            f"{taken!r}, that of {how_many(number, 'page')}: fingerprints of two versions can't be "
            "compared",
        )
        pages = [page for page in pages if page.pipeline == taken]
    found = find_neighbours(pages, only)
    if found.repeated:
        console.say(f"left out {how_many(found.repeated, 'page')}: the same URL came before")
    return found.scopes


def _as_text(tuning: Tuning) -> Iterator[str]:
    """Yield the lines: the largest scopes, what the labels tell, the settings to paste."""
    for tuned in tuning.scopes[:_MOST_SCOPES]:
        yield from _scope(tuned)
        yield ""
    left = len(tuning.scopes) - _MOST_SCOPES
    if left > 0:
        yield f"{left} smaller scopes are left out: --json shows all, --scope shows one"
        yield ""
    if tuning.labelled:
        yield from _labels(tuning.labelled)
        yield ""
    if any(tuned.named.are_many for tuned in tuning.scopes):
        yield ADVICE
        yield ""
    if tuning.is_store:
        yield (
            "A store has only the pages that were kept. So distances up to the threshold of the "
            "crawl are missing."
        )
        yield ""
    yield click.style("settings", bold=True)
    yield tuning.block or "as they are"


def _labels(labelled: Labelled) -> Iterator[str]:
    """Yield the table of thresholds; the best is marked."""
    duplicates = how_many(labelled.duplicates, "duplicate")
    others = how_many(labelled.others, "other")
    yield click.style(f"labelled pairs: {duplicates}, {others}", bold=True)
    yield from _table(labelled.scores, labelled.best.threshold if labelled.suffice else None)
    if not labelled.suffice:
        yield "too few duplicates or others to choose a threshold"


def _table(scores: Sequence[Score], chosen: int | None) -> Iterator[str]:
    yield "threshold  F1     precision  recall"
    for score in scores:
        mark = "*" if score.threshold == chosen else " "
        precision = "–" if score.precision is None else f"{score.precision:.3f}"
        yield f"{score.threshold:>8}{mark}  {score.f1:.3f}  {precision:<9}  {score.recall:.3f}"


def _scope(tuned: ScopeTuning) -> Iterator[str]:
    scope, line = tuned.scope, tuned.suggestion.threshold
    looked_at = "" if scope.looked_at == len(scope.pages) else f", {scope.looked_at} looked at"
    pages = how_many(len(scope.pages), "page")
    name = printable(scope.name) or "(no URL)"
    yield click.style(f"{name}  {pages}{looked_at}", bold=True)
    yield from _histogram(scope.histogram, tuned.other_names, line)
    change = "as it is" if line == tuned.now else f"now {tuned.now}"
    yield click.style(f"threshold {line} ({change}): ", bold=True) + tuned.suggestion.reason
    if tuned.named.others:
        yield f"by their titles, {tuned.named}"
    for where, pairs in (("up to it", tuned.under), ("beyond it", tuned.beyond)):
        if pairs:
            yield f"next to the line, {where}:"
        for pair in pairs:
            for page, bits in ((pair.earlier, how_many(pair.distance, "bit")), (pair.page, "")):
                yield f"  {bits:>7}  {printable(page.name)}"
                yield f"           {printable(page.title)} ({how_many(page.words, 'word')})"


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

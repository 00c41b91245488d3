"""`simhash-gate tune`: reads a collection and labels, and shows thresholds."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence

import click

from simhash_gate.cli.console import Console, as_json, scope, with_console, with_settings
from simhash_gate.common.wording import how_many, printable
from simhash_gate.gate.policy import WHOLE_CRAWL
from simhash_gate.offline.members import Members
from simhash_gate.offline.thresholds import (
    Labelled,
    Scope,
    read_labels,
    scopes_of,
    suggest_thresholds,
    with_distances,
)
from simhash_gate.report.doubt import ADVICE
from simhash_gate.settings import Settings, read_settings
from simhash_gate.sources.find import names_store, shown
from simhash_gate.values import PREFIX, SettingsError

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
    labels = read_labels(labels_file, console.complain) if labels_file else []
    if labels_file and not labels:
        console.complain_of_nothing(
            labels_file, 'no labelled pair in it. Give lines "duplicate": true or false'
        )
    scopes = _collect(sources, settings, console, scope)
    if not scopes:
        where = f" in scope {scope!r}" if scope else ""
        console.complain_of_nothing(shown(*sources), f"no page with a fingerprint{where}")
        return console.status()
    if missing := set(labels) - {label for label, _ in with_distances(labels, scopes)}:
        nowhere = f"pairs that are not two pages of {shown(*sources)}: {len(missing)}"
        console.complain(str(labels_file), nowhere)
    every = suggest_thresholds(scopes, settings, labels)
    block = _block(scopes, settings.policies.default.threshold, every)
    if as_json:
        console.write(
            {
                "source": shown(*sources),
                "threshold": settings.policies.default.threshold,
                "labelled": every and every.as_json(),
                "scopes": [scope.as_json() for scope in scopes],
                "settings": block,
            }
        )
    else:
        console.show(_as_text(scopes, every, block, is_store=any(map(names_store, sources))))
    return console.status()


def _collect(
    sources: Sequence[str], settings: Settings, console: Console, only: str | None
) -> list[Scope]:
    """Read a collection, or the scope `only` of it.

    If there are several pipeline versions, the pages of the largest are taken, and the rest is
    complained of.
    """
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
    scopes, repeated = scopes_of(pages, only)
    if repeated:
        console.say(f"left out {how_many(repeated, 'page')}: the same URL came before")
    return scopes


def _block(scopes: Sequence[Scope], now: int, labelled: Labelled | None) -> str:
    lines, general = [], now
    whole = [scope for scope in scopes if scope.name in ("", WHOLE_CRAWL)]
    if whole:
        general = whole[0].suggested
    elif labelled and labelled.suffice:
        general = labelled.best.threshold
    if general != now:
        lines.append(f"SIMHASH_GATE_THRESHOLD = {general}")
    domains = [
        f'    {json.dumps(scope.name)}: {{"threshold": {scope.suggested}}},'
        for scope in scopes
        if scope.suggested != (general if scope.now == now else scope.now) and _is_domain(scope)
    ]
    if domains:
        head = "SIMHASH_GATE_DOMAINS = {  # beside what else you set for these domains"
        lines += [head, *domains, "}"]
    return "\n".join(lines)


def _is_domain(scope: Scope) -> bool:
    """Tell whether a setting can name this scope: a manifest gives scopes any name."""
    try:
        read_settings({f"{PREFIX}DOMAINS": {scope.name: {}}})
    except SettingsError:
        return False
    return True


def _as_text(
    scopes: Sequence[Scope], labelled: Labelled | None, block: str, *, is_store: bool
) -> Iterator[str]:
    for each in scopes[:_MOST_SCOPES]:
        yield from (*_scope(each), "")
    left = len(scopes) - _MOST_SCOPES
    if left > 0:
        yield f"{left} smaller scopes are left out: --json shows all, --scope shows one\n"
    if labelled:
        yield from (*_labels(labelled), "")
    if any(each.named.are_many for each in scopes):
        yield f"{ADVICE}\n"
    if is_store:
        yield (
            "A store has only the pages that were kept. So distances up to the threshold of the "
            "crawl are missing.\n"
        )
    yield click.style("settings", bold=True)
    yield block or "as they are"


def _labels(labelled: Labelled) -> Iterator[str]:
    duplicates = how_many(labelled.duplicates, "duplicate")
    others = how_many(labelled.others, "other")
    yield click.style(f"labelled pairs: {duplicates}, {others}", bold=True)
    yield "threshold  F1     precision  recall"
    for score in labelled.scores:
        mark = "*" if labelled.suffice and score == labelled.best else " "
        precision = "–" if score.precision is None else f"{score.precision:.3f}"
        yield f"{score.threshold:>8}{mark}  {score.f1:.3f}  {precision:<9}  {score.recall:.3f}"
    if not labelled.suffice:
        yield "too few duplicates or others to choose a threshold"


def _scope(scope: Scope) -> Iterator[str]:
    looked_at = "" if scope.looked_at == len(scope.pages) else f", {scope.looked_at} looked at"
    pages = how_many(len(scope.pages), "page")
    yield click.style(f"{printable(scope.name) or '(no URL)'}  {pages}{looked_at}", bold=True)
    yield from _histogram(scope.histogram, scope.other_names, scope.suggested)
    change = "as it is" if scope.suggested == scope.now else f"now {scope.now}"
    yield click.style(f"threshold {scope.suggested} ({change}): ", bold=True) + scope.reason
    if scope.named.others:
        yield f"by their titles, {scope.named}"
    for where, pairs in zip(("up to it", "beyond it"), scope.sides, strict=True):
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
    for distance in range(min(max(last, line), len(counts) - 1) + 1):
        number = counts[distance]
        length = -(-number * _BAR // longest)
        other = f"  {others[distance]} of another name" if others[distance] else ""
        yield f"{distance:>4}  {number:>7}  {'█' * length}{other}".rstrip()
        if distance == line:
            yield f"{'':4}  {'-' * (_BAR + 9)}"

"""`simhash-gate replay`: the gate of a crawl, over pages on disk."""

from __future__ import annotations

from contextlib import closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from simhash_gate.gate.judge import Gate
from simhash_gate.gate.verdict import Verdict, line_of
from simhash_gate.offline.console import refuse_stores
from simhash_gate.offline.store import live_run
from simhash_gate.options import pipeline_version
from simhash_gate.page import Page
from simhash_gate.report.summary import Summary
from simhash_gate.settings import SQLITE_DEFAULT
from simhash_gate.sources.open import open_pages, shown
from simhash_gate.sources.read_pages import read_pages
from simhash_gate.stores import StoreError
from simhash_gate.values import PREFIX, SettingsError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence

    from simhash_gate.common.wording import Complain
    from simhash_gate.offline.console import Console
    from simhash_gate.settings import Settings
    from simhash_gate.sources import Entry
    from simhash_gate.workers.pool import ReadError


def run(settings: Settings, console: Console, *, sources: Sequence[str]) -> int:
    """Print a line for each page, and a summary on stderr; return the exit status."""
    refuse_stores(sources)
    summary = Summary()
    pages = open_pages(sources, console.complain, settings.max_bytes, console.say)
    lines = _counted(replay(pages.entries, settings, console.complain), summary)
    outcomes = console.write_lines(lines, pages.total)
    if not outcomes:
        console.complain_of_nothing(shown(*sources), "no page in it")
    parts = [f"{number} {outcome}" for outcome, number in outcomes.most_common()]
    console.say(f"pages: {outcomes.total()} ({', '.join(parts) or 'none'})")
    for remark in summary.remarks():
        console.say(remark)
    return console.status()


def _counted(lines: Generator[dict[str, Any]], summary: Summary) -> Generator[dict[str, Any]]:
    """Yield each line, and count it in a summary."""
    with closing(lines):
        for line in lines:
            summary.add_line(line)
            yield line


def replay(
    entries: Iterable[Entry], settings: Settings, complain: Complain
) -> Generator[dict[str, Any]]:
    """Yield a line for each entry, in order. Complain of those that could not be judged.

    Raises `StoreError` if the store can't be opened, `SettingsError` if a replay can't use it.
    """
    with open_gate(settings) as gate:
        for entry, page in read_pages(entries, settings):
            verdict = judge(gate, settings, entry, page, visits=True)
            if verdict.outcome == "error":
                complain(entry.place, verdict.reason)
            yield line_of(
                verdict,
                url=entry.name,
                id=entry.id,
                dropped=verdict.rejected and verdict.action == "drop",
                size=len(entry.body),
            )


@contextmanager
def open_gate(settings: Settings) -> Iterator[Gate]:
    """Open the settings' store, in memory if they name none, for one run.

    The run has ended normally when the block has: after an error its pages don't count.
    """
    if settings.store == SQLITE_DEFAULT:
        raise SettingsError(
            f"{PREFIX}STORE = {SQLITE_DEFAULT!r}: only a crawl knows which file this is. "
            "Name the file: sqlite:///path"
        )
    with live_run(settings.store or "memory:") as (store, run):
        yield Gate(store, run=run, pipeline=pipeline_version(settings.options))


def judge(
    gate: Gate,
    settings: Settings,
    entry: Entry,
    page: Page | ReadError | None,
    *,
    visits: bool = False,
) -> Verdict:
    """Return the verdict on one entry, as a crawl would reach it.

    With `visits`, the times of an entry count: at another time, its URL was another crawl's visit.
    Without, all pages are those of one crawl, and no history of them is kept.
    """
    site = settings.policies.site_of(entry.url)
    policy = site.policy
    if page is None:
        return Verdict("skipped", entry.skipped, policy)
    if not isinstance(page, Page) or page.unreadable:
        reason = page.reason if isinstance(page, Page) else str(page)
        return Verdict("error", reason or "", policy)
    at = entry.time if visits and entry.visit else None
    if not visits:
        policy = replace(policy, history=0)
    elif at is not None:
        policy = replace(policy, revisit_after=policy.revisit_after or 0.0)
    try:
        return gate.judge(
            page,
            policy,
            url=entry.name,
            scope=site.scope if entry.scope is None else entry.scope,
            request=entry.key,
            at=at,
        )
    except StoreError as error:
        return Verdict("error", str(error), policy, page)

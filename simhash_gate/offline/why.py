"""Why the gate drops a page, or lets it pass: two pages compared, a response in `scrapy shell`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import click

from simhash_gate.common.urls import without_credentials
from simhash_gate.fingerprints.hamming import hamming_distance
from simhash_gate.gate.judge import is_duplicate_of
from simhash_gate.gate.policy import Policies, Policy
from simhash_gate.gate.verdict import Verdict, line_of, verdict_of
from simhash_gate.offline.replay import judge, open_gate
from simhash_gate.page import Page
from simhash_gate.pipeline import Reading, read_closely
from simhash_gate.report.explanation import Explanation, Side
from simhash_gate.report.judged import LoggedVerdict
from simhash_gate.settings import Settings, read_settings
from simhash_gate.sources import Entry
from simhash_gate.stores.base import Record
from simhash_gate.values import PREFIX

_IN_SHELL = (
    "To see which words differ: page = response, fetch the kept page, why(page, response)",
)


def compared(
    a: tuple[str, Reading], b: tuple[str, Reading], settings: Settings, url: str = ""
) -> Explanation:
    """Compare two named pages that were read: the verdict on B after A, in the domain of `url`."""
    policy = settings.policies.site_of(url).policy
    with open_gate(replace(settings, store="memory:")) as gate:
        # One scope: the pages are compared, wherever they came from.
        entries = [Entry(name, path=name, url=url, scope="", request=name) for name, _ in (a, b)]
        first = judge(gate, settings, entries[0], a[1].page)
        verdict = _logged(judge(gate, settings, entries[1], b[1].page), b[0])
    if None not in (bits := (a[1].page.fingerprint, b[1].page.fingerprint)):
        verdict = replace(verdict, distance=hamming_distance(*bits))  # type: ignore[arg-type]
    kept, page = (Side.read(name, read.page, read.lines) for name, read in (a, b))
    return Explanation(verdict, page, kept, policy, trial_of(first.record, b[1].page))


def _logged(verdict: Verdict, url: str) -> LoggedVerdict:
    action = verdict.action if verdict.rejected else "tag"
    line = line_of(verdict, url=url, dropped=action == "drop", size=0)
    return LoggedVerdict.of(line | {"held": action == "links"})


def trial_of(kept: Record | None, page: Page | None) -> Callable[[Policy], bool] | None:
    """Return what tells if a page would be a copy under a policy; None if too little is known."""
    if kept is None or page is None:
        return None
    return lambda policy: is_duplicate_of(kept, page, policy, kept.scope)


def why(response: Any, other: Any = None) -> None:
    """Print why the gate dropped a Scrapy response, or let it pass; for `scrapy shell`.

    With `other`, compare this response with it, whatever is remembered. Raises ValueError for a
    response that was not judged.
    """
    verdict = verdict_of(response)
    if other is None:
        if verdict is None:
            raise ValueError(f"the gate has not judged this response: is {PREFIX}ENABLED False?")
        judged = _logged(verdict, response.url)
        record = verdict.match.record if verdict.match else None
        page = Side.read(judged.url, verdict.page) if verdict.page else Side(judged.url)
        text = verdict.kept.markdown if verdict.kept else ""
        kept = Side.known(record.url, record, text) if record else None
        trial = trial_of(record, verdict.page)
        found = Explanation(judged, page, kept, verdict.policy, trial, hints=_IN_SHELL)
    else:
        settings = read_settings({})
        if verdict is not None:
            settings = replace(settings, policies=Policies(verdict.policy))
        a, b = (
            (without_credentials(each.url), read_closely(each.body, url=each.url))
            for each in (other, response)
        )
        found = compared(a, b, settings, url=response.url)
    for line in found.as_text():
        click.echo(line)

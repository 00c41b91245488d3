"""What looks wrong in the verdicts of a crawl, and what to do about it, the worst first."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from simhash_gate.common.urls import host_of
from simhash_gate.common.wording import how_many, shortened
from simhash_gate.gate.policy import registered_domain
from simhash_gate.report.doubt import ADVICE, MANY
from simhash_gate.report.judged import LoggedVerdict
from simhash_gate.report.summary import Summary
from simhash_gate.values import PREFIX

SWALLOWED = 20
"""So many copies of one kept page, at different addresses, may be copies of a block page."""
_NAMED = 3  # domains, reasons or pages that are named
_TITLE = 80  # characters
_MUCH = 0.05  # of the pages: with so many that have no text, something is wrong

_UNJUDGED = {
    "emory": "Give them more memory with `SIMHASH_GATE_MAX_BYTES`.",
    "store": "See whether the store answers. `SIMHASH_GATE_STORE_FAILURE = 'close'` stops a crawl "
    "that can't use its store.",
    "": "They passed. `simhash-gate fingerprint FILE` shows how one of them is read.",
}
_SKIPPED = {
    "too large": "Read larger pages with `SIMHASH_GATE_MAX_BYTES`.",
    "incomplete": "They passed unjudged. Fetch them again: see `DOWNLOAD_MAXSIZE`, "
    "`DOWNLOAD_FAIL_ON_DATALOSS` and `RETRY_TIMES` of Scrapy.",
}
_NO_PAGE = {
    "status": "Only responses of status 2xx are judged.",
    "not html": "Only HTML pages are judged.",
    "no callback": "It was not fetched for the spider, as robots.txt and media are not.",
    "meta": "Its request said so: meta['simhash_gate'] is False.",
}
_SETTING = re.compile(PREFIX + r"\w+")
_EMPTY = ("no text", "empty page")
_EMPTY_ADVICE = (
    "If the site writes its text by JavaScript, render its pages. Else name its article by "
    "`SIMHASH_GATE_EXTRACTOR`."
)


class Finding(NamedTuple):
    """Something that looks wrong: what, what to do, and the section of the report that shows it.

    Names of settings and commands stand between backticks.
    """

    message: str
    advice: str
    section: str


def findings(summary: Summary, offers: Iterable[LoggedVerdict] = ()) -> list[Finding]:
    """Return what looks wrong, the worst first; `offers` were dropped with another offer."""
    return [
        *_dropped(summary, offers),
        *_swallowed(summary),
        *_crawl_notes(summary, wrong=True),
        *_unjudged(summary),
        *_lost(summary),
    ]


def advice_on(outcome: str, reason: str) -> str:
    """Return what to do about pages that were not judged for a reason, "" for nothing."""
    if outcome == "error":
        return next(advice for part, advice in _UNJUDGED.items() if part in reason)
    kind = reason.partition(":")[0]
    return (_SKIPPED | _NO_PAGE).get(kind, _EMPTY_ADVICE if reason in _EMPTY else "")


def _dropped(summary: Summary, offers: Iterable[LoggedVerdict]) -> Iterator[Finding]:
    """Tell of pages, by domain, that were dropped although they say something else."""
    names = Counter({domain: tally.named.dropped for domain, tally in summary.domains.items()})
    for where, what, such_as in (
        (+names, "the title names something else than that of the kept page", "the `h1`"),
        (
            Counter(registered_domain(host_of(page.url)) for page in offers),
            "the text says another price or offer than that of the kept page",
            "the price",
        ),
    ):
        if not where:
            continue
        pages = how_many(where.total(), "page", ",")
        ranked = (f"{n:,} of {domain or '(no host)'}" for domain, n in where.most_common())
        stricter = f"name what tells them apart, such as {such_as}, in `SIMHASH_GATE_COMPARE`"
        if {crawl.settings.get(f"{PREFIX}VERIFY") for crawl in summary.crawls} == {"False"}:
            stricter = "set `SIMHASH_GATE_VERIFY = True`"
        yield Finding(
            f"{pages} dropped although {what}: {_listed(ranked, 'domain')}.",
            "Compare the first ones with their kept pages. If they are pages of their own, "
            f"{stricter}; for one domain, in `SIMHASH_GATE_DOMAINS`.",
            "duplicates",
        )


def _swallowed(summary: Summary) -> Iterator[Finding]:
    largest = summary.clusters.largest(1_000)
    found = [c for c in largest if c.copies.seen >= SWALLOWED and len(c.ends) >= MANY]
    if not found:
        return
    pages = sum(cluster.copies.seen for cluster in found)
    titles = _listed((f"“{shortened(c.kept.title or c.kept.url, _TITLE)}”" for c in found), "page")
    kept = how_many(len(found), "page", ",")
    yield Finding(
        f"{pages:,} pages at different addresses are duplicates of {kept}: {titles}.",
        "Open the kept pages. If one is a block page, a 'not found' page or a wall that asks for "
        "consent, slow the crawl down or render its pages, and crawl again. If the site has more "
        "to say, name its article by `SIMHASH_GATE_EXTRACTOR`.",
        "clusters",
    )


def _crawl_notes(summary: Summary, *, wrong: bool) -> Iterator[Finding]:
    for found in summary.notes:
        if found.wrong == wrong:
            yield Finding(found.message, _SETTING.sub(r"`\g<0>`", found.advice), "domains")


def notes(summary: Summary) -> list[Finding]:
    """Return what is worth knowing though nothing went wrong."""
    found = [
        f"{domain or '(no host)'} ({named.others:,} pages)"
        for domain, named in summary.of_many_names
        if named.others - named.dropped >= MANY  # what was dropped is a finding of its own
    ]
    crawl_notes = list(_crawl_notes(summary, wrong=False))
    if not found:
        return crawl_notes
    message = f"Pages with different names read alike, and passed, in {_listed(found, 'domain')}."
    return [*crawl_notes, Finding(message, _SETTING.sub(r"`\g<0>`", ADVICE), "domains")]


def _unjudged(summary: Summary) -> Iterator[Finding]:
    """Tell of errors, and of pages that were skipped though they should not be."""
    seen, checked = summary.total.outcomes, summary.total.checked
    if seen["error"]:
        reasons = summary.reasons_of("error")
        advice = {advice_on("error", reason): None for reason, _ in reasons[:_NAMED]}
        failed = f"{how_many(seen['error'], 'page', ',')} could not be judged: {_why(reasons)}."
        yield Finding(failed, " ".join(advice), "unjudged")
    reasons = summary.reasons_of("skipped")
    if reasons and not checked and not seen["kept"]:
        advice_on_all = "See that the crawl reached the site, and what it answered."
        message = f"No page was judged: all were skipped: {_why(reasons)}."
        yield Finding(message, advice_on_all, "unjudged")
        return
    for reason, pages in reasons:
        if reason in _SKIPPED:
            message = f"{how_many(pages, 'page', ',')} skipped: {reason}."
            yield Finding(message, _SKIPPED[reason], "unjudged")
    empty = sum(pages for reason, pages in reasons if reason in _EMPTY)
    if empty and empty >= _MUCH * (empty + checked):
        message = f"{how_many(empty, 'page', ',')} skipped, because no text was found."
        yield Finding(message, _EMPTY_ADVICE, "unjudged")


def _why(reasons: Iterable[tuple[str, int]]) -> str:
    return _listed((f"{shortened(reason, _TITLE)} ({n:,})" for reason, n in reasons), "reason")


def _lost(summary: Summary) -> Iterator[Finding]:
    missed, unusable = summary.missed, summary.unusable
    if missed:
        yield Finding(
            f"These figures lack {how_many(missed, 'verdict', ',')}: the disk was too slow to "
            "write them.",
            "Write `SIMHASH_GATE_VERDICTS` and `SIMHASH_GATE_REPORT` to a faster disk.",
            "figures",
        )
    if unusable:
        yield Finding(
            f"{how_many(unusable, 'input', ',')} could not be used, and can't be counted here.",
            "The messages of `simhash-gate report` name each place.",
            "figures",
        )


def _listed(items: Iterable[str], noun: str) -> str:
    """Return the first of some things, and how many more there are."""
    each = list(items)
    more = len(each) - _NAMED
    shown = ", ".join(each[:_NAMED])
    return f"{shown} and {how_many(more, f'more {noun}', ',')}" if more > 0 else shown

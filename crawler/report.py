"""The closing figures of a demonstration, for a person, and where the gate's own report is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from simhash_gate.common.wording import MissingExtraError
from simhash_gate.plugin.lines import fill_in
from simhash_gate.report.html import check_installed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy.settings import BaseSettings

    from crawler.truth import Score

SETTING = "SIMHASH_GATE_REPORT"
PLACE = ".scrapy/simhash_gate/%(name)s.html"


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


def settle_place(settings: BaseSettings, spider: str, *, unasked: bool) -> Path | None:
    """Return where the gate will write its report; None if it will not, or will refuse the setting.

    `unasked` sets a place where the settings name none, if the packages for it are installed.
    """
    asked = settings.get(SETTING) or (PLACE if unasked and _installed() else "")
    try:
        path = Path(fill_in(asked, spider)).absolute() if asked else None
    except (KeyError, TypeError, ValueError):
        return None
    if path:  # as a plain path: a time in it is that of the gate's start otherwise
        settings.set(SETTING, str(path).replace("%", "%%"), priority="cmdline")
    return path


def whereabouts(path: Path | None, since: float) -> str:
    """Return where the report is that was written `since` then, or how to get one.

    Blank if there was to be one and is none: the log says why.
    """
    wanted = "report of what was dropped, and why"
    if path is None and _installed():
        return f"For a {wanted}: -s {SETTING}=report.html"
    if path is None:
        return f"For a {wanted}: pip install -e '.[report]', and crawl again"
    written = path.exists() and path.stat().st_mtime >= since
    return f"The {wanted}: {path}" if written else ""


def _line(row: tuple[str, int, str]) -> str:
    name, count, remark = row
    return f"  {name:<14}{count:>7}   {remark}"


def _installed() -> bool:
    try:
        check_installed()
    except MissingExtraError:
        return False
    return True


def _lost(count: int | None) -> str:
    return "in all of the site" if count is None else f"{count} lost"


def _updates(figures: Score) -> str:
    if figures.updates_dropped is None:
        return "delivered here or by others"
    kept = figures.updates - figures.updates_dropped
    return f"{kept} delivered, {figures.updates_dropped} dropped"

"""What the gate warned of in a year of crawls, and what there was to warn of."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawler.site.year.plan import unix
from simhash_gate.history.notes import note_in
from simhash_gate.plugin.redesigns import NOTE as REDESIGN_NOTE
from simhash_gate.plugin.validator_trust import NOTE as VALIDATORS_NOTE
from simhash_gate.stores.base import SITE_NOTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawler.site.year.plan import Paper, Year
    from crawler.year.visits import Day
    from simhash_gate.stores import Store

REDESIGNS = "simhash_gate/redesigns"
WITHIN = 7
"""In how many days a redesign must be reported."""
DESERVED = {"stale": "wrong", "fresh": "useless"}
"""What the gate is to find of validators."""


class Notes(NamedTuple):
    """What the gate has noted of a newspaper by the end of a day.

    When it told of a redesign last (Unix time, 0 for never), and what it found of the validators.
    """

    redesign: float = 0.0
    validators: str = ""


class Alarms(NamedTuple):
    """The counts; each redesign is reported once, and a second report of it is a false alarm."""

    redesigns: int = 0
    redesigns_reported: int = 0
    wrong_validators: int = 0
    wrong_validators_reported: int = 0
    false_alarms: int = 0


def notes_of(store: Store, hosts: Iterable[str]) -> dict[str, Notes]:
    """Return what a store has noted of newspapers."""
    found = {}
    for host in hosts:
        notes = store.get(SITE_NOTES, host)
        trust = note_in(notes, VALIDATORS_NOTE).get(host, {}).get("http", {})
        told = note_in(notes, REDESIGN_NOTE).get(host, 0.0)
        found[host] = Notes(told, trust.get("state", ""))
    return found


def alarms(year: Year, days: Sequence[Day], *, revalidated: bool) -> Alarms:
    """Compare what the crawls of a year warned of with what the newspapers did.

    Where no conditions were sent, there is nothing to learn of validators. A server that is tried
    again after a while, and found wrong again, is reported with cause.
    """
    papers = list(year.papers.values())
    told = {
        host: {day.notes[host].redesign for day in days if host in day.notes} - {0.0}
        for host in (paper.host for paper in papers)
    }
    first, last = days[0].moment, days[-1].moment
    moved = [paper for paper in papers if paper.redesign and first < paper.redesign.at <= last]
    reported = sum(_is_reported(paper, told[paper.host]) for paper in moved)
    counted = sum(day.stats.get(REDESIGNS, 0) for day in days)
    found = {
        (host, notes.validators)
        for day in days
        for host, notes in day.notes.items()
        if notes.validators
    }
    deserved = {
        (paper.host, DESERVED[paper.validators])
        for paper in papers
        if revalidated and paper.validators in DESERVED
    }
    return Alarms(
        redesigns=len(moved),
        redesigns_reported=reported,
        wrong_validators=len(deserved),
        wrong_validators_reported=len(deserved & found),
        false_alarms=max(counted, sum(map(len, told.values()))) - reported + len(found - deserved),
    )


def _is_reported(paper: Paper, told: Iterable[float]) -> bool:
    """Tell whether one of the reports on a newspaper is that of its redesign."""
    at = paper.redesign.at if paper.redesign else 0.0
    return any(unix(at) <= moment <= unix(at + WITHIN) for moment in told)

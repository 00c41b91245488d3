"""`simhash-gate report`: verdicts from wherever they are, summed up."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simhash_gate.offline.replay import replay
from simhash_gate.offline.store import opened
from simhash_gate.report.summary import Summary
from simhash_gate.sources.jsonl import STDIN, count_lines, json_objects
from simhash_gate.sources.open import names_store, open_source, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from simhash_gate.common.complaints import Complain
    from simhash_gate.settings import Settings

LAST_LOGS = Path(".scrapy", "simhash_gate")
"""Where, in a Scrapy project, the log of the last crawl is looked for."""

_EXAMPLE = "those that `simhash-gate replay` prints"
_MOST_LOOKED_AT = 1 << 20

Line = tuple[str, dict[str, Any]]


class NoVerdictsError(Exception):
    """There is nothing to report on; the message says where it was looked for."""


def last_log() -> str:
    """Return the newest verdict log of the project that the working directory is in.

    Raises `NoVerdictsError`.
    """
    here = Path.cwd()
    for folder in (here, *here.parents):
        logs = sorted((folder / LAST_LOGS).glob("*.jsonl"), key=lambda path: path.stat().st_mtime)
        if logs:
            return str(logs[-1])
    raise NoVerdictsError(
        f"no verdict log in {LAST_LOGS}, here or above: name a SOURCE, or crawl with "
        f"SIMHASH_GATE_VERDICTS = '{LAST_LOGS}/%(name)s.jsonl'"
    )


def verdicts(
    source: str, settings: Settings, complain: Complain
) -> tuple[Iterator[Line], Callable[[], int | None]]:
    """Return the place and the line of each verdict, and what tells how many there are, if cheap.

    A store gives its kept pages; what holds no verdicts is replayed. Raises `StoreError`,
    `SettingsError` and `MissingExtraError`, when they are asked for.
    """
    if names_store(source):
        return _kept(source), lambda: None
    if source == STDIN or _is_log(source):
        return json_objects(source, complain, _EXAMPLE), lambda: count_lines(source)
    pages = open_source(source, complain, settings.max_bytes)
    lines = replay(pages.entries, settings, complain)
    return ((source, line) for line in lines), pages.total


def summarise(lines: Iterable[Line], complain: Complain) -> Summary:
    """Return the summary of verdicts; lines that are none are passed over."""
    summary = Summary()
    for place, line in lines:
        try:
            summary.add_line(line)
        except ValueError as error:
            complain(place, str(error))
    return summary


def _kept(url: str) -> Iterator[Line]:
    with opened(url) as store:
        for record in store.records():
            line = {"url": record.url, "title": record.title, "words": record.words}
            yield shown(url), line | {"outcome": "kept", "time": record.first_seen}


def _is_log(path: str) -> bool:
    """Tell whether the first object in a file is a line of a log, and not of a manifest."""
    try:
        with Path(path).open("rb") as file:
            head = file.read(_MOST_LOOKED_AT)
    except (OSError, ValueError):  # what reads the source will say so
        return False
    for line in head.splitlines():
        with suppress(ValueError, RecursionError):
            found = json.loads(line)
            if isinstance(found, dict):
                return "outcome" in found or "audit" in found
    return False

"""The verdict logs of several crawlers: found in a folder, and their figures as a table of text."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from simhash_gate.common.wording import how_many
from simhash_gate.report.changes import safe
from simhash_gate.report.fleet import total_of
from simhash_gate.report.tables import FLEET
from simhash_gate.sources.find import names_store
from simhash_gate.sources.jsonl import first_object

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from simhash_gate.report.fleet import Fleet

_OF_A_LOG = {"outcome", "audit"}
_SUFFIXES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
_LONGEST_NAME = 40


def is_folder(source: str) -> bool:
    """Tell whether a source is a folder."""
    return not names_store(source) and os.path.isdir(source)  # noqa: PTH112 - any name is asked for


def is_log(path: str) -> bool:
    """Tell whether a file is a verdict log."""
    return not first_object(path).keys().isdisjoint(_OF_A_LOG)


def logs_in(folder: str, say: Callable[[str], object]) -> list[str]:
    """Return the verdict logs in a folder, by name; `say` is told how many other files it has."""
    files = [Path(place, name) for place, _, names in os.walk(folder) for name in names]
    logs = [str(it) for it in sorted(files) if it.name.endswith(_SUFFIXES) and is_log(str(it))]
    if logs:
        others = len(files) - len(logs)
        more = f", {how_many(others, 'other file')} not read" if others else ""
        say(f"{folder}: {how_many(len(logs), 'verdict log')}{more}")
    return logs


def fleet_table(fleet: Fleet) -> Iterator[str]:
    """Yield what several crawlers did: a line for each, for all, and a few sentences."""
    rows = fleet.rows()
    cells = [
        [*(name.removesuffix(" #").lower() for name in FLEET), "log"],
        *([_cut(it.name), *_numbers(row), _cut(it.place)] for it, row in rows),
        ["all crawlers", *_numbers(total_of(row for _, row in rows)), ""],
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    last = len(widths) - 1
    for row in cells:
        aligned = (
            cell.rjust(widths[place]) if 0 < place < last else cell.ljust(widths[place])
            for place, cell in enumerate(row)
        )
        yield "  ".join(aligned).rstrip()
    yield from (safe(said) for said in fleet.sentences())


def _cut(name: str) -> str:
    return safe(name if len(name) <= _LONGEST_NAME else f"…{name[-_LONGEST_NAME:]}")


def _numbers(row: tuple[int, ...]) -> list[str]:
    return [f"{number:,}" for number in row]

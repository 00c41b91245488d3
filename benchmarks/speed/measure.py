"""Timings that hold on a shared machine: CPU time, rivals by turns, medians; and a table."""

from __future__ import annotations

import argparse
import gc
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")


class Timing(NamedTuple):
    """Medians over the rounds, in seconds: CPU time of all threads, and time on the clock."""

    cpu: float
    wall: float


def interleaved(rivals: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, Timing]:
    """Run all rivals by turns, so that what else the machine does hits each; return the medians."""
    taken: dict[str, list[Timing]] = {name: [] for name in rivals}
    for _ in range(rounds):
        for name, run in rivals.items():
            gc.collect()
            cpu, wall = time.process_time(), time.perf_counter()
            run()
            taken[name].append(Timing(time.process_time() - cpu, time.perf_counter() - wall))
    return {
        name: Timing(median(t.cpu for t in timings), median(t.wall for t in timings))
        for name, timings in taken.items()
    }


def table(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return rows as a table in Markdown: the first column to the left, the others to the right.

    Numbers get three digits that count, or all before the point.
    """
    lines = [*rows]
    columns = [*lines[0]] if lines else []
    cells = [columns, ["---", *["--:"] * (len(columns) - 1)]]
    cells += [[*map(_cell, row.values())] for row in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:#.3g}"
    return f"{value:,}" if isinstance(value, int) else value or ""


def options_of(
    doc: str | None, given: Sequence[str] | None, flags: Mapping[str, tuple[Any, ...]]
) -> argparse.Namespace:
    """Read the command line of the command that `doc` begins with.

    Of each flag or argument: its default, or its type if it has none; its help; and what else
    argparse is to know.
    """
    name = re.findall(r"`(python -m [\w.]+)", doc or "")[0]
    parser = argparse.ArgumentParser(prog=name, description=doc, allow_abbrev=False)
    for flag, (default, about, *more) in flags.items():
        known: dict[str, Any] = {"help": about, "type": default}
        if default is False:
            known = {"help": about, "action": "store_true"}
        elif isinstance(default, (tuple, list)):
            known = {"help": about, "default": default}
        elif not isinstance(default, type):
            known = {"help": f"{about} (%(default)s)", "type": type(default), "default": default}
        parser.add_argument(flag, **{**known, **(more[0] if more else {})})
    return parser.parse_args(given)


def those_there(rivals: Mapping[str, Callable[[], T]]) -> Iterator[tuple[str, T]]:
    """Yield those that can be made here, with their names; say what the others need."""
    for name, make in rivals.items():
        try:
            yield name, make()
        except ModuleNotFoundError as error:
            say(f"{name}: left out: needs {error.name}: pip install --group peers")


def say(line: str) -> None:
    """Tell how it goes, beside the results."""
    print(line, file=sys.stderr, flush=True)

"""Timings that hold on a shared machine: CPU time, rivals by turns, medians; a table, and JSON."""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple


class MissingError(Exception):
    """What a peer needs is not there; the message says how to get it."""


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


def markdown_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], others: str = "--:"
) -> str:
    """Return a table in Markdown: the first column to the left, the `others` to the right."""
    lines = [columns, ["---", *[others] * (len(columns) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def write_json(path: Path, figures: Mapping[str, Any], packages: Iterable[str] = ()) -> None:
    """Write figures, with the machine and the versions that they were measured on."""
    path.parent.mkdir(parents=True, exist_ok=True)
    machine = {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cores": os.cpu_count(),
        "versions": {name: _version(name) for name in packages},
    }
    path.write_text(json.dumps({"machine": machine, **figures}, indent=1) + "\n", "utf-8")
    say(f"wrote {path}")


@contextmanager
def plotting() -> Iterator[None]:
    """Where the block can't import what draws a plot, say so, and go on without one."""
    try:
        yield
    except ModuleNotFoundError as error:
        say(f"no plot: needs {error.name}: pip install --group peers")


def add_out(parser: argparse.ArgumentParser, files: str) -> None:
    """Let the user say which folder is for the files."""
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("build/speed"),
        metavar="DIR",
        help=f"for {files} (%(default)s)",
    )


def say(line: str) -> None:
    """Tell how it goes, beside the results."""
    print(line, file=sys.stderr, flush=True)


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None

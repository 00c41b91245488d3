"""`python -m benchmarks.speed.dedupe`: what `simhash-gate dedupe` costs beside reading the pages.

In turns, each in a process of its own: all pages of the sources are read with their Markdown and
nothing else; `dedupe` writes a corpus of them with 1, 2 and 4 page-reading processes. The corpora
must be the same.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.speed.measure import options_of, say, table
from simhash_gate.pipeline import read_page
from simhash_gate.settings import read_settings
from simhash_gate.sources.open import open_pages

WORKERS = (1, 2, 4)
READING = "reading"


class Run(NamedTuple):
    """Seconds of all processes and by the clock; the largest process in MiB; what came out."""

    cpu: float
    clock: float
    largest: float
    made: str = ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print the table; 1 if the corpora differ."""
    flags: dict[str, tuple[Any, ...]] = {
        "sources": ((), "of pages", {"nargs": "+"}),
        "--read": (False, argparse.SUPPRESS),
    }
    options = options_of(__doc__, arguments, flags)
    if options.read:
        _read(options.sources)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        runs = _measure(options.sources, Path(folder))
    rows = [
        {"": name, "CPU, s": run.cpu, "times reading": run.cpu / runs[READING].cpu}
        | {"clock, s": run.clock, "largest process, MiB": run.largest}
        for name, run in runs.items()
    ]
    print(table(rows))
    corpora = {run.made for name, run in runs.items() if name != READING}
    say(f"corpora that differ: {len(corpora) - 1}")
    return 0 if len(corpora) == 1 else 1


def _measure(sources: Sequence[str], folder: Path) -> dict[str, Run]:
    corpus = folder / "corpus.jsonl"
    read = [sys.executable, "-m", "benchmarks.speed.dedupe", "--read", *sources]
    write = [sys.executable, "-m", "simhash_gate.cli", "dedupe", *sources, "-o", str(corpus)]
    runs = {READING: _timed(read)}
    for workers in WORKERS:
        run = _timed([*write, "-s", f"SIMHASH_GATE_WORKERS={workers}"])
        made = hashlib.sha256(corpus.read_bytes()).hexdigest()
        runs[f"dedupe, {workers}"] = run._replace(made=made)
        corpus.unlink()
        say(f"{workers} processes: {run.cpu:.1f} s")
    return runs


def _timed(command: list[str]) -> Run:
    start = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise SystemExit(f"{command} failed")
    cpu = usage.ru_utime + usage.ru_stime
    return Run(cpu, time.monotonic() - start, usage.ru_maxrss / 1024)


def _read(sources: Sequence[str]) -> None:
    settings = read_settings({})
    pages = open_pages(sources, lambda *_: None, settings.max_bytes, lambda _: None)
    for entry in pages.entries:
        _ = read_page(entry.body, url=entry.url, encoding=entry.encoding).markdown


if __name__ == "__main__":
    sys.exit(main())

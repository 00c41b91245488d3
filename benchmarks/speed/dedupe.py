"""`python -m benchmarks.speed.dedupe`: what `simhash-gate dedupe` costs beside reading the pages.

In turns, each in a process of its own: all pages of the sources are read with their Markdown and
nothing else; `dedupe` writes a corpus of them with 1, 2 and 4 page-reading processes. The corpora
must be the same.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.speed.measure import add_out, markdown_table, say, write_json
from simhash_gate.pipeline import read_page
from simhash_gate.settings import read_settings
from simhash_gate.sources.open import open_pages

WORKERS = (1, 2, 4)
SITES = 100
WORDS = [f"{a}{b}{c}" for a in ("ba", "ne", "ri", "so", "tu") for b in "lmnprst" for c in "aeiou"]


class Run(NamedTuple):
    """Seconds of all processes and by the clock; the largest process in MiB; what came out."""

    cpu: float
    clock: float
    largest: float
    made: str = ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, write it; 1 if the corpora differ."""
    options = _options(arguments)
    if options.read:
        _read(options.sources)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        sources = options.sources
        if options.generate:
            sources = [str(Path(folder, "generated.jsonl"))]
            write_generated(Path(sources[0]), options.generate)
        runs = _measure(sources, Path(folder), options.rounds)
    reading = min(run.cpu for run in runs["reading"])
    rows = []
    for name, each in runs.items():
        best = min(each, key=lambda run: run.cpu)
        ratio = f"{best.cpu / reading:.2f}"
        rows.append((name, f"{best.cpu:.1f}", ratio, f"{best.clock:.1f}", f"{best.largest:.0f}"))
    heads = ("", "CPU, s", "times reading", "clock, s", "largest process, MiB")
    print(markdown_table(heads, rows))
    write_json(options.out / "dedupe.json", {**runs})
    corpora = {run.made for name, each in runs.items() if name != "reading" for run in each}
    say(f"corpora that differ: {len(corpora) - 1}")
    return 0 if len(corpora) == 1 else 1


def _measure(sources: Sequence[str], folder: Path, rounds: int) -> dict[str, list[Run]]:
    corpus = folder / "corpus.jsonl"
    read = [sys.executable, "-m", "benchmarks.speed.dedupe", "--read", *sources]
    write = [sys.executable, "-m", "simhash_gate.cli", "dedupe", *sources, "-o", str(corpus)]
    runs: dict[str, list[Run]] = {
        name: [] for name in ("reading", *(f"dedupe, {n}" for n in WORKERS))
    }
    for _ in range(rounds):
        runs["reading"].append(_timed(read))
        for workers in WORKERS:
            run = _timed([*write, "-s", f"SIMHASH_GATE_WORKERS={workers}"])
            with corpus.open("rb") as file:
                made = hashlib.file_digest(file, "sha256").hexdigest()
            runs[f"dedupe, {workers}"].append(run._replace(made=made))
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
    """Read all pages in this process, and make their Markdown."""
    settings = read_settings({})
    pages = open_pages(sources, lambda *_: None, settings.max_bytes, lambda _: None)
    for entry in pages.entries:
        _ = read_page(entry.body, url=entry.url, encoding=entry.encoding).markdown


def write_generated(path: Path, pages: int) -> None:
    """Write pages as JSON Lines; a fourth of them are copies of one that came before."""
    chance = random.Random(1)
    with path.open("w") as file:
        for number in range(pages):
            copied = chance.randrange(number) if number and number % 4 == 3 else number
            url = f"https://site{copied % SITES}.example/{number}"
            line = {"id": number, "url": url, "html": "".join(_html(copied, number))}
            file.write(json.dumps(line) + "\n")


def _html(article: int, page: int) -> Iterator[str]:
    chance = random.Random(article)

    def words(count: int) -> str:
        return " ".join(chance.choices(WORDS, k=count))

    yield f"<!doctype html><title>{words(6)} | Site</title>"
    yield f"<nav><a href=/>Home</a> <a href=/{page}>Today</a></nav><main><h1>{words(6)}</h1>"
    yield f"<time>12:{page % 60:02}</time>"
    for _ in range(chance.randint(4, 12)):
        yield f"<p>{words(chance.randint(30, 80)).capitalize()}.</p>"
    yield "</main><footer>All rights reserved</footer>"


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed.dedupe", description=__doc__)
    parser.add_argument("sources", nargs="*", metavar="SOURCE")
    parser.add_argument("--generate", type=int, metavar="N", help="pages to generate")
    parser.add_argument("--rounds", type=int, default=1, metavar="N")
    parser.add_argument("--read", action="store_true", help=argparse.SUPPRESS)
    add_out(parser, "dedupe.json")
    options = parser.parse_args(arguments)
    if not options.sources and not options.generate:
        options.generate = 1000
    return options


if __name__ == "__main__":
    sys.exit(main())

"""`python -m benchmarks FOLDER`: all that can be measured on public pages, in one table.

FOLDER has `text`, `pairs`, `sites` and `captures`; `--fetch` fetches public ones into it. Each row
of the table comes from one command, which `--list` prints and which can be run alone. All takes
about an hour on two cores.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import NamedTuple

from benchmarks.quality.archives import fetch
from benchmarks.speed.measure import options_of, say, table

ROOT = Path(__file__).parents[1]
METHODS = {
    "the gate": ("**simhash_gate**, verdict", "**simhash_gate**"),
    "trafilatura": ("trafilatura",),
    "resiliparse": ("resiliparse",),
    "readability, markdownify": ("plain recipe", "markdownify on readability"),
    "SimHash, 3 bits": ("SimHash of the whole page",),
    "hash": ("hash of the whole page",),
}
"""Columns of the table, by what the rows of a command begin with."""


class Part(NamedTuple):
    """A command, the folder that it needs, and what the columns of its table are called here."""

    command: str
    needs: str
    figures: Mapping[str, str]


PARTS = {
    "changes": Part(
        "benchmarks.changes --quick",
        "text",
        {"inside": "changes of the content that are seen", "outside": "and beside the content"},
    ),
    "sites": Part(
        "benchmarks.quality --set sites",
        "sites",
        {"copies found": "copies found on whole sites", "wrongly dropped": "wrong drops"},
    ),
    "pairs": Part(
        "benchmarks.quality --set pairs",
        "pairs",
        {"P": "duplicates, precision", "R": "duplicates, recall"},
    ),
    "own": Part(
        "benchmarks.quality --set own",
        "sites",
        {"own words": "own words of a page that are read", "of what": "words of its site"},
    ),
    "text": Part(
        "benchmarks.quality --set text",
        "text",
        {"F1": "main content, F1 of the words", "CPU ms": "CPU ms a page"},
    ),
    "markdown": Part(
        "benchmarks.markdown", "text", {"words": "pages whose Markdown has all words"}
    ),
    "captures": Part(
        "benchmarks.quality.captures",
        "captures",
        {
            "same": "unchanged captures that are called so",
            "changed ≥": "and of those that changed",
        },
    ),
    "spiders": Part("benchmarks.reliability.spiders", "", {}),
    "scrapy": Part("benchmarks.reliability.scrapy_own_tests", "", {}),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the commands, print the table and what else they say; 1 if one has failed."""
    options = options_of(
        __doc__,
        arguments,
        {
            "folder": (Path, "of the pages", {"nargs": "?", "default": Path("build/pages")}),
            "--fetch": (False, "fetch public pages first, some GB"),
            "--list": (False, "print the commands only"),
            "--only": (",".join(PARTS), "which, by commas"),
        },
    )
    if options.fetch:
        fetch(Path(__file__).with_name("quality") / "archives.json", options.folder)
    rows, others, failed = list[dict[str, str]](), list[str](), False
    for name in options.only.split(","):
        part = PARTS[name]
        folder = options.folder / part.needs
        command = f"{part.command} FOLDER/{part.needs}" if part.needs else part.command
        if options.list:
            print(f"python -m {command}")
            continue
        if not folder.exists():
            say(f"{name}: left out: no {folder}")
            continue
        began = _cpu()
        own = [word.replace("FOLDER", str(options.folder.absolute())) for word in command.split()]
        run = [sys.executable, "-m", *own]
        done = subprocess.run(run, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
        say(f"{name}: {_cpu() - began:.0f} s of CPU")
        failed |= done.returncode != 0
        others += [] if part.figures else [f"\n`{command}`\n\n{done.stdout}"]
        rows += [
            {"": about, **cells, "`python -m`": f"`{command}`"}
            for column, about in part.figures.items()
            if (cells := figures(done.stdout, column))
        ]
    if not options.list:
        git = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
        commit = subprocess.run(git, stdout=subprocess.PIPE, text=True, check=False).stdout.strip()
        print(f"{datetime.now(timezone.utc):%Y-%m-%d}, commit {commit}\n\n{table(rows)}")
        print(*others, sep="\n")
    return int(failed)


def figures(printed: str, column: str) -> dict[str, str]:
    """Return a column of a table that a command has printed, by method; a dash where one has none.

    The column is the first whose name begins so.
    """
    lines = [line.strip("| ").split(" | ") for line in printed.splitlines() if line[:1] == "|"]
    head = lines[0] if lines else []
    place = next((at for at, name in enumerate(head) if name.startswith(column)), None)
    if place is None:
        return {}
    found = dict[str, str]()
    for method, names in METHODS.items():
        own = (row[place] for name in names for row in lines[2:] if row[0].startswith(name))
        found[method] = next(own, "–")
    return found


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main())

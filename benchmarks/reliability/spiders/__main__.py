"""`python -m benchmarks.reliability.spiders`: what everyday spiders miss with the gate.

Each spider crawls its site with the gate and without it: a first time, a second time when nothing
has changed, and then, for each kind of change, when each page has one such change. A change counts
if the spider's items of a page are others without the gate. It is seen if they come with it.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

from benchmarks.reliability.spiders.edits import KINDS
from benchmarks.reliability.spiders.rounds import SPIDERS, Tally, run
from benchmarks.speed.measure import options_of, say, table


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table, what was missed, and a line of JSON; return 1 if a first crawl lost items."""
    flags: dict[str, tuple[Any, ...]] = {
        "--seed": (1, "of the demonstration and of all changes"),
        "--articles": (24, "of the demonstration"),
        "--spiders": (",".join(SPIDERS), "by commas"),
        "--kinds": (",".join(KINDS), "of changes, by commas"),
        "--named": (False, "fields that reading leaves out are named in SIMHASH_GATE_COMPARE"),
        "--workers": (os.cpu_count() or 1, "processes"),
    }
    given = options_of(__doc__, arguments, flags)
    began = time.monotonic()
    groups: list[list[str]] = [[] for _ in range(given.workers)]
    placed: dict[str, list[str]] = {}
    for name in given.spiders.split(","):  # those that share a store stay together
        placed.setdefault(SPIDERS[name].beside or name, min(groups, key=len)).append(name)
    tallies: dict[str, Tally] = {}
    how = given.seed, given.named, given.articles, given.kinds.split(",")
    with ProcessPoolExecutor(given.workers, get_context("spawn")) as pool:
        for done in [pool.submit(run, group, *how) for group in groups if group]:
            tallies.update(done.result())
    counts, changes, missed = Counter[str](), Counter[str](), Counter[str]()
    for name, tally in sorted(tallies.items()):
        counts.update(tally.counts)
        changes.update(tally.changes)
        missed.update(kind for kind, _ in tally.misses)
        of_all = f"{len(tally.misses)} of {tally.changes.total()} changes"
        say(f"{name}: {of_all} missed, {dict(tally.counts)}")
        for kind, miss in tally.misses:
            print(f"{name}, {kind}, {miss}")
    rows = ((kind, count, count - missed[kind]) for kind, count in changes.items())
    print(
        table({"kind": k, "changes": n, "seen": s, "%": f"{100 * s / n:.1f}"} for k, n, s in rows)
    )
    total = {"changes": changes.total(), "missed": missed.total()}
    seconds = round(time.monotonic() - began)
    print(
        json.dumps({"spiders": len(tallies), "seed": given.seed, **counts, **total, "s": seconds})
    )
    return 1 if counts["lost"] or counts["doubled"] else 0


if __name__ == "__main__":
    sys.exit(main())

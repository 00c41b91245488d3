"""`python -m benchmarks.speed.revisit`: what a visit costs that is not the first, beside the first.

A page is read and judged against a SQLite store; CPU time of this process, in milliseconds a page.
The first visits keep the pages; then a run finds them unchanged, and another finds each changed.
Ratios are of the same round, medians over the rounds. The other half of the pages is visited for
the first time in each of these runs too, so that what else the machine does falls on both alike.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from statistics import mean, median
from typing import TYPE_CHECKING

from benchmarks.speed.measure import markdown_table
from benchmarks.speed.page_set import load
from simhash_gate import read_page
from simhash_gate.gate.judge import Gate
from simhash_gate.stores import open_store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simhash_gate.stores import Store

PAGES, ROUNDS = 190, 5
KINDS = ("first visit", "unchanged", "updated")
CHANGE = b"</p><p>A sentence stands here that nobody has read in this place before.</p>"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print a table."""
    options = _options(arguments)
    bodies = load(options.pages, options.count)
    rounds = [_round(bodies) for _ in range(options.rounds)]
    ratios = {kind: median(each[kind] / each[KINDS[0]] for each in rounds) for kind in KINDS}
    rows = [
        (kind, f"{median(each[kind] for each in rounds):.2f}", f"{ratios[kind]:.3f}")
        for kind in KINDS
    ]
    print(markdown_table(("visit", "ms a page", "of a first visit"), rows))
    return 0


def _round(bodies: list[bytes]) -> dict[str, float]:
    """Return the mean milliseconds a page of each kind of visit."""
    times: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(f"sqlite:///{folder}/pages.sqlite")
        try:
            _visits(store, "keeps", [(bodies, 0, False, "keeps")], times)
            _visits(
                store, "same", [(bodies, 0, False, KINDS[1]), (bodies, 1, False, KINDS[0])], times
            )
            changed = [(bodies, 0, True, KINDS[2]), (bodies, 2, False, KINDS[0])]
            _visits(store, "changed", changed, times)
        finally:
            store.close()
    return {kind: 1000 * mean(times[kind]) for kind in KINDS}


def _visits(
    store: Store,
    run: str,
    parts: list[tuple[list[bytes], int, bool, str]],
    times: dict[str, list[float]],
) -> None:
    """Visit the pages of each part in turns, in a run of its own."""
    store.begin(run)
    gate = Gate(store, run=run, pipeline="1")
    for place in range(len(parts[0][0])):
        for bodies, site, change, kind in parts:
            body = bodies[place]
            if change:
                body = body.replace(b"</p>", CHANGE, 1)
            url = f"https://{site}.example/{place}"
            start = time.process_time()
            gate.judge(read_page(body, url=url), url=url, scope=f"{site}.example")
            times[kind].append(time.process_time() - start)
    store.end(run)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="?", type=Path, help="a folder of HTML; else made ones")
    parser.add_argument("--count", type=int, default=PAGES)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    raise SystemExit(main())

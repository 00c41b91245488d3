"""`python -m benchmarks.reliability`: rounds of random crawls and faults, and one line of JSON."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from benchmarks.reliability.demo import DemoRound, random_demo
from benchmarks.reliability.plan import STORES, random_plan
from benchmarks.reliability.rounds import Outcome, Round, run_round
from benchmarks.speed.measure import options_of, say


def main(arguments: Sequence[str] | None = None) -> int:
    """Run rounds; return 1 if anything was lost, kept twice or unsound."""
    flags: dict[str, tuple[Any, ...]] = {
        "--rounds": (10, "how many rounds"),
        "--seed": (1, "of all that happens"),
        "--round": (int, "this round alone"),
        "--stores": (tuple(STORES), "by commas (all)", {"type": _stores}),
        "--demo": (False, "interrupt the demonstration instead"),
        "--keep": (Path, "a folder to keep the files of the rounds in"),
        "--at-once": (2, "rounds at one time"),
    }
    given = options_of(__doc__, arguments, flags)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    began = time.monotonic()
    totals = Counter(rounds=0, lost=0, kept_twice=0, unsound=0)
    counts: Counter[str] = Counter()
    wrong = []

    def run(number: int) -> tuple[int, float, Outcome]:
        start = time.monotonic()
        keep = given.keep and given.keep / f"{given.seed}-{number}"
        if given.demo:
            plan = random_demo(given.seed, number, given.stores)
            outcome = run_round(plan, lambda folder: DemoRound(plan, folder).run(), keep)
        else:
            own = random_plan(given.seed, number, given.stores)
            outcome = run_round(own, lambda folder: Round(own, folder).run(), keep)
        return number, time.monotonic() - start, outcome

    with ThreadPoolExecutor(given.at_once) as workers:
        numbers = range(given.rounds) if given.round is None else [given.round]
        waiting = [workers.submit(run, number) for number in numbers]
        try:
            for done in as_completed(waiting):
                number, taken, outcome = done.result()
                totals["rounds"] += 1
                for kind in ("lost", "kept_twice", "unsound"):
                    totals[kind] += len(getattr(outcome, kind))
                counts.update(outcome.counts)
                wrong += [] if outcome.balanced else [number]
                said = "balanced" if outcome.balanced else "NOT BALANCED"
                say(f"round {number}: {said}, {taken:.1f} s, {dict(outcome.counts)}")
        finally:
            # Rounds that are under way come to their end, and clean up.
            workers.shutdown(cancel_futures=True)
    line = {**totals, "seed": given.seed, "seconds": round(time.monotonic() - began, 1)}
    figures = {name.replace(" ", "_"): count for name, count in sorted(counts.items())}
    print(json.dumps({**line, "not_balanced": sorted(wrong), **figures}))
    return 1 if wrong else 0


def _stores(value: str) -> tuple[str, ...]:
    names = tuple(value.split(","))
    if not set(names) <= STORES.keys():
        raise argparse.ArgumentTypeError(f"{value}: takes {', '.join(STORES)}")
    return names


if __name__ == "__main__":
    sys.exit(main())

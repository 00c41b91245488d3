"""`python -m benchmarks.reliability`: rounds until the time is over, and one line of JSON."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.reliability.demo import random_demo, run_demo
from benchmarks.reliability.plan import STORES, random_plan
from benchmarks.reliability.rounds import run_round


class Rounds:
    """Runs the rounds of a seed, some at one time, and sums up what they came to."""

    def __init__(self, given: argparse.Namespace) -> None:
        self._given = given
        self._numbers = iter(range(given.rounds) if given.round is None else [given.round])
        self._began = time.monotonic()
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._totals: Counter[str] = Counter(rounds=0, lost=0, kept_twice=0, unsound=0)
        self._counts: Counter[str] = Counter()
        self.not_balanced: list[int] = []

    def run(self) -> None:
        """Run all, or as many as the time allows."""
        with ThreadPoolExecutor(self._given.at_once) as workers:
            try:
                for done in [workers.submit(self._work) for _ in range(self._given.at_once)]:
                    done.result()
            finally:
                # Rounds that are under way come to their end, and clean up.
                self._over.set()

    def line(self) -> dict[str, Any]:
        """Return what they came to."""
        return {
            **self._totals,
            "seed": self._given.seed,
            "seconds": round(time.monotonic() - self._began, 1),
            "not_balanced": sorted(self.not_balanced),
            **{name.replace(" ", "_"): count for name, count in sorted(self._counts.items())},
        }

    def _work(self) -> None:
        given = self._given
        while not self._over.is_set() and time.monotonic() - self._began < given.seconds:
            with self._lock:
                number = next(self._numbers, None)
            if number is None:
                return
            start = time.monotonic()
            keep = given.keep and given.keep / f"{given.seed}-{number}"
            if given.demo:
                outcome = run_demo(random_demo(given.seed, number, given.stores), keep=keep)
            else:
                plan = random_plan(given.seed, number, given.stores)
                outcome = run_round(plan, keep=keep)
            with self._lock:
                self._totals["rounds"] += 1
                for kind in ("lost", "kept_twice", "unsound"):
                    self._totals[kind] += len(getattr(outcome, kind))
                self._counts.update(outcome.counts)
                if not outcome.balanced:
                    self.not_balanced.append(number)
                said = "balanced" if outcome.balanced else "NOT BALANCED"
                taken = time.monotonic() - start
                print(
                    f"round {number}: {said}, {taken:.1f} s, {dict(outcome.counts)}",
                    file=sys.stderr,
                    flush=True,
                )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run rounds; return 1 if anything was lost, kept twice or unsound."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.reliability", description=__doc__, allow_abbrev=False
    )
    parser.add_argument("--seconds", type=float, help="begin no round after so many seconds")
    parser.add_argument("--rounds", type=int, help="how many rounds (10, if nothing is said)")
    parser.add_argument("--seed", type=int, default=1, help="of all that happens (1)")
    parser.add_argument("--round", type=int, help="this round alone")
    parser.add_argument("--stores", type=_stores, default=tuple(STORES), help="by commas (all)")
    parser.add_argument("--demo", action="store_true", help="interrupt the demonstration instead")
    parser.add_argument("--keep", type=Path, help="a folder to keep the files of the rounds in")
    parser.add_argument("--at-once", type=int, default=2, help="rounds at one time (2)")
    given = parser.parse_args(arguments)
    if given.rounds is None:
        given.rounds = 10 if given.seconds is None else sys.maxsize
    if given.seconds is None:
        given.seconds = float("inf")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    rounds = Rounds(given)
    rounds.run()
    print(json.dumps(rounds.line()))
    return 1 if rounds.not_balanced else 0


def _stores(value: str) -> tuple[str, ...]:
    names = tuple(value.split(","))
    if not set(names) <= STORES.keys():
        raise argparse.ArgumentTypeError(f"{value}: takes {', '.join(STORES)}")
    return names


if __name__ == "__main__":
    sys.exit(main())

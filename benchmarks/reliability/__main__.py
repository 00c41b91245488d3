"""`python -m benchmarks.reliability`: rounds until the time is over, and one line of JSON."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.reliability.plan import STORES, random_plan
from benchmarks.reliability.rounds import run_round
from benchmarks.reliability.stores import Servers

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run rounds; return 1 if anything was lost, kept twice or unsound."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.reliability", description=__doc__, allow_abbrev=False
    )
    parser.add_argument("--seconds", type=float, help="begin no round after so many seconds")
    parser.add_argument("--rounds", type=int, help="how many rounds (10, if nothing is said)")
    parser.add_argument("--seed", type=int, default=1, help="of all that happens (1)")
    parser.add_argument("--round", type=int, help="this round alone")
    parser.add_argument("--stores", default=",".join(STORES), help="which, by commas (all)")
    parser.add_argument("--keep", type=Path, help="a folder to keep the files of the rounds in")
    parser.add_argument("--at-once", type=int, default=2, help="rounds at one time (2)")
    given = parser.parse_args(arguments)
    stores = tuple(given.stores.split(","))
    if not set(stores) <= STORES.keys():
        parser.error(f"--stores: takes {', '.join(STORES)}")
    most = given.rounds or (10 if given.seconds is None else sys.maxsize)
    numbers = iter(range(most) if given.round is None else [given.round])
    began = time.monotonic()
    totals: Counter[str] = Counter(rounds=0, lost=0, kept_twice=0, unsound=0)
    counts: Counter[str] = Counter()
    failed: list[int] = []
    lock = threading.Lock()

    def work(servers: Servers) -> None:
        while given.seconds is None or time.monotonic() - began < given.seconds:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            start = time.monotonic()
            keep = given.keep and given.keep / f"{given.seed}-{number}"
            outcome = run_round(random_plan(given.seed, number, stores), servers, keep=keep)
            seconds = time.monotonic() - start
            with lock:
                totals["rounds"] += 1
                totals["lost"] += len(outcome.lost)
                totals["kept_twice"] += len(outcome.kept_twice)
                totals["unsound"] += len(outcome.unsound)
                counts.update(outcome.counts)
                if not outcome.balanced:
                    failed.append(number)
                said = "balanced" if outcome.balanced else "NOT BALANCED"
                told = f"round {number}: {said}, {seconds:.1f} s, {dict(outcome.counts)}"
                print(told, file=sys.stderr, flush=True)

    with (
        tempfile.TemporaryDirectory(prefix="simhash-gate-servers-") as folder,
        closing(Servers(Path(folder))) as servers,
        ThreadPoolExecutor(given.at_once) as workers,
    ):
        for done in [workers.submit(work, servers) for _ in range(given.at_once)]:
            done.result()
    line = {
        **totals,
        "seed": given.seed,
        "seconds": round(time.monotonic() - began, 1),
        "not_balanced": sorted(failed),
        **{name.replace(" ", "_"): count for name, count in sorted(counts.items())},
    }
    print(json.dumps(line))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

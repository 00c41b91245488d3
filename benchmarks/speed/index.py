"""`python -m benchmarks.speed.index`: near fingerprints, one by one and in pairs."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchmarks.speed.index_peers import (
    RADIUS,
    Fingerprints,
    Take,
    duckdb_pairs,
    faiss_index,
    numpy_pairs,
    pypi_simhash,
)
from benchmarks.speed.measure import (
    OUT,
    interleaved,
    options_of,
    plotting,
    say,
    table,
    those_there,
)
from simhash_gate import HammingIndex, near_duplicate_pairs

LOOKUP = "look up one and insert it"
LISTED = "list pairs"
NUMPY, DUCKDB = "numpy, four blocks joined", "DuckDB, four blocks joined"


Row = dict[str, Any]
"""What one contender took for a task: CPU time for each fingerprint, and for the whole."""


class Sizes(NamedTuple):
    """How many fingerprints each part has; peers get no more than `most_for_peers`, 0 for none."""

    stored: tuple[int, ...]
    lookups: int
    pairs: tuple[int, ...]
    most_for_peers: int
    rounds: int


FULL = Sizes(tuple(10**n for n in range(3, 8)), 2_000, (1_000_000, 10_000_000), 1_000_000, 3)


def main(arguments: Sequence[str] | None = None, sizes: Sizes | None = None) -> int:
    """Measure, print the table, and plot it."""
    flags: dict[str, tuple[Any, ...]] = {
        "--no-peers": (False, "leave out all that has to be installed"),
        "--pairs": (float, "how many fingerprints to find pairs among, such as 1e8"),
        "--out": OUT,
    }
    options = options_of(__doc__, arguments, flags)
    sizes = sizes or FULL
    sizes = sizes._replace(pairs=(int(options.pairs),)) if options.pairs else sizes
    sizes = sizes._replace(most_for_peers=0) if options.no_peers else sizes
    rows = [*lookups(sizes), *pairs(sizes)]
    memory = {size: bytes_each(size) for size in sizes.stored}
    print(table(rows))
    print("\nBytes a fingerprint:", ", ".join(f"{n:,}: {each:.0f}" for n, each in memory.items()))
    with plotting():
        from benchmarks.speed.plots import draw_lines, drawn

        with drawn(options.out / "index-growth.svg") as (axis,):
            looked = [row for row in rows if row["task"] == LOOKUP]
            points = [(row["with"], row["fingerprints"], row["µs of CPU each"]) for row in looked]
            labels = {"xlabel": "fingerprints stored", "ylabel": f"µs of CPU to {LOOKUP}"}
            draw_lines(axis, points, **labels, xscale="log", yscale="log")
    return 0


def lookups(sizes: Sizes) -> Iterator[Row]:
    """Look up a fingerprint and insert it, then the next."""
    for size in sizes.stored:
        values = fingerprints(size)
        fresh = fingerprints(sizes.lookups * sizes.rounds, seed=1)
        rivals: dict[str, Callable[[], Take]] = {"HammingIndex": lambda: _index(values)}  # noqa: B023
        if size <= min(100_000, sizes.most_for_peers):  # 700 bytes each, a minute for a million
            rivals["PyPI simhash"] = lambda: pypi_simhash(values)  # noqa: B023
        if size <= sizes.most_for_peers:
            rivals["faiss IndexBinaryMultiHash"] = lambda: faiss_index(values)  # noqa: B023
        turns = {name: _turn(take, fresh, sizes.rounds) for name, take in those_there(rivals)}
        yield from _timed(LOOKUP, size, turns, sizes)


def pairs(sizes: Sizes) -> Iterator[Row]:
    """Find all pairs within three bits: a tenth of the fingerprints is near another one."""
    for size in sizes.pairs:
        spread = fingerprints(size)
        spread[: size // 10] = flipped(spread[size // 10 :][: size // 10], np.random.default_rng(3))
        rivals: dict[str, Callable[[], object]] = {LISTED: partial(near_duplicate_pairs, spread)}
        if size <= max(sizes.most_for_peers, 10_000):
            distinct = np.unique(spread)
            ours = len(near_duplicate_pairs(distinct, RADIUS).i)
            peers = {NUMPY: lambda: numpy_pairs(distinct) == ours}  # noqa: B023
            if sizes.most_for_peers:
                peers[DUCKDB] = lambda: duckdb_pairs(distinct) == ours  # noqa: B023
            for name, agrees in those_there(peers):
                assert agrees, f"{name} finds another number of pairs"
                peer = numpy_pairs if name == NUMPY else duckdb_pairs
                rivals[name] = partial(peer, spread)
        yield from _timed("pairs", size, rivals, sizes)


def bytes_each(size: int) -> float:
    """Return what an index takes for each of so many fingerprints, inserted at once."""
    values = fingerprints(size)
    tracemalloc.start()
    index = HammingIndex()
    index.insert_bulk(values)
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return taken / size


def fingerprints(size: int, seed: int = 0) -> Fingerprints:
    """Return random fingerprints; with the same seed, the same."""
    return np.random.default_rng(seed).integers(0, 2**64, size, dtype=np.uint64)


def flipped(values: Fingerprints, random: np.random.Generator) -> Fingerprints:
    """Return the values with one to three bits flipped in each."""
    flips = random.integers(1, RADIUS + 1, len(values))
    bits = np.uint64(1) << random.integers(0, 64, (RADIUS, len(values)), dtype=np.uint64)
    bits[np.arange(RADIUS)[:, None] >= flips] = 0
    return values ^ np.bitwise_or.reduce(bits)


def _timed(
    task: str, size: int, rivals: Mapping[str, Callable[[], object]], sizes: Sizes
) -> Iterator[Row]:
    each = sizes.lookups if task == LOOKUP else size
    for name, taken in interleaved(rivals, sizes.rounds).items():
        row = {"task": task, "fingerprints": size, "with": name, "CPU s": taken.cpu}
        yield row | {"µs of CPU each": 1e6 * taken.cpu / each, "s on the clock": taken.wall}
    say(f"{task}: {size:,} done")


def _turn(take: Take, fresh: Fingerprints, rounds: int) -> Callable[[], object]:
    """Return what takes the next portion of the new fingerprints, the same for every rival."""
    portions = iter(np.split(fresh, rounds))
    return lambda: [take(value) for value in next(portions).tolist()]


def _index(values: Fingerprints) -> Take:
    index = HammingIndex()
    index.insert_bulk(values)

    def take(value: int) -> None:
        index.find_first(value)
        index.insert(value)

    return take


if __name__ == "__main__":
    sys.exit(main())

"""`python -m benchmarks.speed.index`: near fingerprints, one by one and in pairs."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.speed.measure import interleaved, options_of, say, table, those_there
from simhash_gate import HammingIndex, near_duplicate_pairs

Fingerprints = NDArray[np.uint64]
Take = Callable[[int], object]

RADIUS = 3
LOOKUP = "look up one and insert it"
LISTED = "list pairs"


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
    """Measure, and print the table."""
    flags: dict[str, tuple[Any, ...]] = {
        "--no-peers": (False, "leave out all that has to be installed"),
        "--pairs": (float, "how many fingerprints to find pairs among, such as 1e8"),
    }
    options = options_of(__doc__, arguments, flags)
    sizes = sizes or FULL
    sizes = sizes._replace(pairs=(int(options.pairs),)) if options.pairs else sizes
    sizes = sizes._replace(most_for_peers=0) if options.no_peers else sizes
    rows = [*lookups(sizes), *pairs(sizes)]
    memory = {size: bytes_each(size) for size in sizes.stored}
    print(table(rows))
    print("\nBytes a fingerprint:", ", ".join(f"{n:,}: {each:.0f}" for n, each in memory.items()))
    return 0


def lookups(sizes: Sizes) -> Iterator[Row]:
    """Look up a fingerprint and insert it, then the next."""
    for size in sizes.stored:
        values = fingerprints(size)
        fresh = fingerprints(sizes.lookups * sizes.rounds, seed=1)
        rivals: dict[str, Callable[[], Take]] = {"HammingIndex": lambda: _index(values)}  # noqa: B023
        if size <= min(100_000, sizes.most_for_peers):  # 700 bytes each, a minute for a million
            rivals["PyPI simhash"] = lambda: _pypi_simhash(values)  # noqa: B023
        if size <= sizes.most_for_peers:
            rivals["faiss IndexBinaryMultiHash"] = lambda: _faiss_index(values)  # noqa: B023
        turns = {name: _turn(take, fresh, sizes.rounds) for name, take in those_there(rivals)}
        yield from _timed(LOOKUP, size, turns, sizes)


def pairs(sizes: Sizes) -> Iterator[Row]:
    """Find all pairs within three bits: a tenth of the fingerprints is near another one."""
    for size in sizes.pairs:
        spread = fingerprints(size)
        spread[: size // 10] = flipped(spread[size // 10 :][: size // 10], np.random.default_rng(3))
        rivals = {LISTED: partial(near_duplicate_pairs, spread)}
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


def _pypi_simhash(values: Fingerprints) -> Take:
    """Return what looks one up and inserts it: the `simhash` package's own index."""
    from simhash import Simhash, SimhashIndex

    index = SimhashIndex([(str(value), Simhash(value)) for value in values.tolist()], k=RADIUS)

    def take(value: int) -> None:
        index.get_near_dups(Simhash(value))
        index.add(str(value), Simhash(value))

    return take


def _faiss_index(values: Fingerprints) -> Take:
    """The same by multi-index hashing over four tables of 16 bits."""
    import faiss

    faiss.omp_set_num_threads(1)
    index: Any = faiss.IndexBinaryMultiHash(64, 4, 16)
    index.add(np.ascontiguousarray(values).view(np.uint8).reshape(-1, 8))

    def take(value: int) -> None:
        row = np.array([value], np.uint64).view(np.uint8).reshape(-1, 8)
        index.range_search(row, RADIUS + 1)
        index.add(row)

    return take


if __name__ == "__main__":
    sys.exit(main())

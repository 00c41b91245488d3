"""`python -m benchmarks.speed.index`: near fingerprints, one by one, in bulk and in pairs."""

from __future__ import annotations

import argparse
import sys
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from benchmarks.speed.measure import (
    MissingError,
    add_out,
    interleaved,
    markdown_table,
    plotting,
    say,
    write_json,
)
from benchmarks.speed.peers.lookup import RADIUS, Faiss, PypiSimhash
from benchmarks.speed.peers.pairs import DuckDb, NumpyBlocks, PairsPeer
from benchmarks.speed.peers.seomoz import Seomoz
from simhash_gate import HammingIndex, near_duplicate_pairs
from simhash_gate.stores import open_store
from simhash_gate.stores.base import Record, Window

Fingerprints = NDArray[np.uint64]

PACKAGES = ("numpy", "simhash", "faiss-cpu", "duckdb")
LOOKUP = "look up one and insert it"
LISTED = "list pairs"
MOST_RECORDS = 1_000_000  # more would fill the memory of the machine


class Sizes(NamedTuple):
    """How many fingerprints each part has; peers get no more than `most_for_peers`, 0 for none."""

    stored: tuple[int, ...]
    lookups: int
    bulk: int
    pairs: tuple[int, ...]
    most_for_peers: int
    rounds: int


FULL = Sizes(
    stored=(1_000, 10_000, 100_000, 1_000_000, 10_000_000),
    lookups=2_000,
    bulk=1_000_000,
    pairs=(1_000_000, 10_000_000),
    most_for_peers=1_000_000,
    rounds=3,
)
QUICK = Sizes((1_000, 10_000, 100_000), 500, 100_000, (100_000,), 100_000, 3)


class Row(NamedTuple):
    """What one contender took for a task: CPU time for each fingerprint, and for the whole."""

    task: str
    size: int
    name: str
    microseconds: float
    cpu_seconds: float
    wall_seconds: float


def main(arguments: Sequence[str] | None = None, sizes: Sizes | None = None) -> int:
    """Measure, print the table, write figures and plot."""
    options = _options(arguments)
    sizes = sizes or (QUICK if options.quick else FULL)
    if options.pairs:
        sizes = sizes._replace(pairs=options.pairs)
    if options.no_peers:
        sizes = sizes._replace(most_for_peers=0)
    rows = [*lookups(sizes), *bulk(sizes), *pairs(sizes)]
    memory = {size: bytes_each(size) for size in sizes.stored}
    print(_table(rows))
    print("\nBytes a fingerprint:", ", ".join(f"{n:,}: {each:.0f}" for n, each in memory.items()))
    figures = {"rows": [row._asdict() for row in rows], "bytes": memory}
    write_json(options.out / "index.json", figures, PACKAGES)
    with plotting():
        from benchmarks.speed.plots import save_growth

        points = [(row.name, row.size, row.microseconds) for row in rows if row.task == LOOKUP]
        path = options.out / "index-growth.svg"
        save_growth(points, path, "fingerprints stored", f"µs of CPU to {LOOKUP}")
        say(f"wrote {path}")
    return 0


def lookups(sizes: Sizes) -> Iterator[Row]:
    """Look up a fingerprint and insert it, then the next."""
    for size in sizes.stored:
        values = fingerprints(size)
        fresh = fingerprints(sizes.lookups * sizes.rounds, seed=1)
        rivals = {"HammingIndex": _index_turn(values)}
        if size <= MOST_RECORDS:
            rivals["memory store"] = _store_turn(values, fresh)
        for peer in (PypiSimhash, Faiss):
            if size <= min(peer.most, sizes.most_for_peers):
                try:
                    rivals[peer.title] = _peer_turn(peer(values))
                except MissingError as missing:
                    say(f"{peer.title}: left out: {missing}")
        yield from _timed(LOOKUP, size, _in_turns(rivals, fresh, sizes.rounds), sizes)


def bulk(sizes: Sizes) -> Iterator[Row]:
    """Do an array at once with an index of as many; half of them have a near one there."""
    stored = fingerprints(sizes.bulk)
    batch = fingerprints(sizes.bulk, seed=1)
    batch[::2] = flipped(stored[::2], np.random.default_rng(2))
    index = HammingIndex()
    index.insert_bulk(stored)
    # One after the other, so that the index is the same again after each round.
    rivals: dict[str, Callable[[], object]] = {
        "find_first_bulk": lambda: index.find_first_bulk(batch),
        "find_all_bulk": lambda: index.find_all_bulk(batch),
        "insert_bulk": lambda: index.insert_bulk(batch),
    }
    both = np.concatenate((stored, batch))
    rivals |= {
        f"{peer.title}, find_all of both": partial(peer.count, both, RADIUS)
        for peer in _there([Seomoz] if sizes.most_for_peers else [])
    }
    yield from _timed("bulk, against as many", sizes.bulk, rivals, sizes)


def pairs(sizes: Sizes) -> Iterator[Row]:
    """Find all pairs within three bits: a tenth of the fingerprints is near another one."""
    peers = _there([NumpyBlocks, DuckDb, Seomoz] if sizes.most_for_peers else [NumpyBlocks])
    for size in sizes.pairs:
        random = np.random.default_rng(3)
        spread = fingerprints(size)
        spread[: size // 10] = flipped(spread[size // 10 :][: size // 10], random)
        rivals: dict[str, Callable[[], object]] = {LISTED: partial(near_duplicate_pairs, spread)}
        if size <= max(sizes.most_for_peers, 10_000):
            _agree(peers, spread)
            rivals |= {peer.title: partial(peer.count, spread, RADIUS) for peer in peers}
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
    task: str, size: int, rivals: dict[str, Callable[[], object]], sizes: Sizes
) -> Iterator[Row]:
    each = sizes.lookups if task == LOOKUP else size
    for name, taken in interleaved(rivals, sizes.rounds).items():
        yield Row(task, size, name, 1e6 * taken.cpu / each, taken.cpu, taken.wall)
    say(f"{task}: {size:,} done")


def _in_turns(
    rivals: dict[str, Callable[[int], None]], fresh: Fingerprints, rounds: int
) -> dict[str, Callable[[], object]]:
    """Give every rival the same new fingerprints, others in each round."""

    def turn(take: Callable[[int], None]) -> Callable[[], object]:
        portions = iter(np.split(fresh, rounds))

        def run() -> None:
            for value in next(portions).tolist():
                take(value)

        return run

    return {name: turn(take) for name, take in rivals.items()}


def _index_turn(values: Fingerprints) -> Callable[[int], None]:
    index = HammingIndex()
    index.insert_bulk(values)

    def take(value: int) -> None:
        index.find_first(value)
        index.insert(value)

    return take


def _store_turn(values: Fingerprints, fresh: Fingerprints) -> Callable[[int], None]:
    store, window = open_store("memory:"), Window(pages=2 * len(values) + 1_000_000)
    store.begin("run")

    def record(value: int) -> Record:
        return Record("scope", "", f"{value:x}", value, value, 100, "", "1", "run", 0.0, 0.0)

    for value in values.tolist():
        store.check_and_add(record(value), None, window=window)
    records = {value: record(value) for value in fresh.tolist()}

    def take(value: int) -> None:
        store.check_and_add(records[value], RADIUS, window=window)

    finalize(take, store.close)
    return take


def _peer_turn(peer: PypiSimhash | Faiss) -> Callable[[int], None]:
    def take(value: int) -> None:
        peer.find(value)
        peer.insert(value)

    return take


def _there(kinds: Sequence[type[PairsPeer]]) -> list[PairsPeer]:
    found = []
    for kind in kinds:
        try:
            found.append(kind())
        except MissingError as missing:
            say(f"{kind.title}: left out: {missing}")
    return found


def _agree(peers: Sequence[PairsPeer], values: Fingerprints) -> None:
    """Raise AssertionError unless all find the same number of pairs of distinct values."""
    distinct = np.unique(values)
    found = {peer.title: peer.count(distinct, RADIUS) for peer in peers}
    found["near_duplicate_pairs"] = len(near_duplicate_pairs(distinct, RADIUS).i)
    assert len(set(found.values())) == 1, found


def _table(rows: Sequence[Row]) -> str:
    columns = ("task", "fingerprints", "with", "µs of CPU each", "CPU s", "s on the clock")
    return markdown_table(
        columns,
        [
            (task, f"{size:,}", name, f"{each:.3g}", f"{cpu:.3g}", f"{wall:.3g}")
            for task, size, name, each, cpu, wall in rows
        ],
    )


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed.index", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes: under a minute")
    add_out(parser, "the figures and the plot")
    parser.add_argument(
        "--no-peers", action="store_true", help="leave out all that has to be installed"
    )
    parser.add_argument(
        "--pairs",
        type=lambda text: tuple(int(float(size)) for size in text.split(",")),
        metavar="N,...",
        help="how many fingerprints to find pairs among, such as 1e8",
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())

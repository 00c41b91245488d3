"""`python -m benchmarks.speed.spark`: Spark on two cores, beside the function of `pairs`.

Each case runs in a process of its own, with a JVM of its own: pages that are read; and the near
pairs of millions of fingerprints in a Parquet file, a hundredth of them within 3 bits of another.
`stream_pairs` finds the pairs of the same file before; both must find as many.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.speed.measure import options_of, say, table
from benchmarks.speed.pages import load, renewed
from simhash_gate.collection.pairs import stream_pairs

MILLION = 1_000_000
CORES = 2
PAGES_OF_EACH = 20
_TICKS = os.sysconf("SC_CLK_TCK")
_GROUP_SIZE = 200
_SITES = 100


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print the tables; 1 if numbers of pairs differ."""
    flags: dict[str, tuple[Any, ...]] = {
        "--joins": ((1, 5, 10, 20), "millions of fingerprints", {"nargs": "*", "type": float}),
        "--pages": (Path, "a folder of .html files"),
        "--case": (str, argparse.SUPPRESS),
        "--data": (Path, argparse.SUPPRESS),
    }
    options = options_of(__doc__, arguments, flags)
    if options.case:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(_case(options.case, options.data, Path(folder))))
        return 0
    if not options.pages:
        say("name a folder of pages: --pages")
        return 2
    with tempfile.TemporaryDirectory() as folder:
        joins = {size: _join(int(size * MILLION), Path(folder)) for size in options.joins}
        pages = _pages(Path(folder), options.pages)
    heads = {"pairs": "pairs", "function, s": "function", "Spark, s": "wall", "CPU, s": "cpu"}
    print(
        table(
            {"millions": size, **{head: run[key] for head, key in heads.items()}}
            for size, run in joins.items()
        )
    )
    seconds = f"{pages['cpu']:.0f} s of CPU, {pages['wall']:.0f} s by the clock"
    print(f"\n{pages['pages']} pages of {pages['kb']:.0f} kB, {seconds}")
    read, judged = (pages["pages"] / pages[name] for name in ("cpu", "judged"))
    print(f"pages per second of a core: read {read:.0f}, judged {judged:.0f}")
    wrong = [str(size) for size, run in joins.items() if run["pairs"] != run["found"]]
    say(f"cases with another number of pairs: {', '.join(wrong) or 'none'}")
    return 1 if wrong else 0


def _join(size: int, folder: Path) -> dict[str, float]:
    path = folder / "fingerprints.parquet"
    fingerprints = made(size)
    order = np.random.default_rng(2).permutation(len(fingerprints))
    bits = fingerprints[order].view(np.int64)
    _write(path, MILLION, id=np.arange(len(bits)), fingerprint=bits)
    start = time.monotonic()
    portions: list[int] = []
    stream_pairs(fingerprints, 3, lambda one, _: portions.append(len(one)))
    seconds = time.monotonic() - start
    run = _apart("pairs", path)
    say(f"{size:,}: {run['wall']:.0f} s")
    return {"found": sum(portions), "function": seconds, **run}


def _pages(folder: Path, folder_of_pages: Path) -> dict[str, float]:
    bodies = load(folder_of_pages, 1000)
    rows = [renewed(body, number) for number in range(PAGES_OF_EACH) for body in bodies]
    urls = [f"https://site{number % _SITES}.com/{number}" for number in range(len(rows))]
    _write(folder / "pages.parquet", _GROUP_SIZE, id=range(len(rows)), url=urls, body=rows)
    size = sum(map(len, rows)) / 1000 / len(rows)
    return {"kb": size, **_apart("pages", folder / "pages.parquet")}


def made(size: int) -> np.ndarray:
    """Return fingerprints, the same for the same size."""
    chance = np.random.default_rng(1)
    found = chance.integers(0, 1 << 63, size, np.uint64, endpoint=True) * np.uint64(2)
    found |= chance.integers(0, 2, size, np.uint64)
    near = size // 100
    places = chance.integers(size // 10, size, near)
    found[-near:] = found[places] ^ (np.uint64(1) << chance.integers(0, 64, near, np.uint64))
    return found


def _write(path: Path, together: int, **columns: Any) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table(columns), path, row_group_size=together)


def _apart(name: str, data: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.speed.spark", "--case", name, "--data", str(data)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    run: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return run


def _case(name: str, data: Path, folder: Path) -> dict[str, float]:
    from simhash_gate.spark import dedupe, near_duplicates, read_pages

    spark = _session(folder, _GROUP_SIZE if name == "pages" else 10_000)
    df = spark.read.parquet(str(data))
    spark.range(1000).mapInArrow(lambda batches: batches, "id bigint").count()  # starts Python
    if name == "pages":
        read = str(folder / "read")
        cost = _cost(lambda: read_pages(df).write.parquet(read))
        pages = spark.read.parquet(read)
        judged = _cost(lambda: dedupe(pages).write.parquet(str(folder / "judged")))
        cost |= {"pages": df.count(), "judged": judged["cpu"]}
    else:
        found: list[int] = []
        pairs = near_duplicates(df, 3)
        cost = _cost(lambda: found.append(pairs.count()))
        cost["pairs"] = found[0]
    spark.stop()
    return cost


def _cost(run: Callable[[], object]) -> dict[str, float]:
    before, start = _cpu(), time.monotonic()
    run()
    return {"wall": time.monotonic() - start, "cpu": _cpu() - before}


def _session(folder: Path, together: int) -> Any:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "4g",
        "spark.local.dir": str(folder),
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(together),
        "spark.sql.shuffle.partitions": "64",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master(f"local[{CORES}]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _cpu() -> float:
    """Return the seconds of CPU of this process and all that it has started (Linux)."""
    parents: dict[int, int] = {}
    used: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        number = int(path.parent.name)
        parents[number] = int(fields[1])
        used[number] = sum(map(int, fields[11:15]))  # its own, and of children that have ended

    def is_ours(number: int) -> bool:
        while number not in (0, os.getpid()):
            number = parents.get(number, 0)
        return number != 0

    return sum(ticks for number, ticks in used.items() if is_ours(number)) / _TICKS


if __name__ == "__main__":
    sys.exit(main())

"""`python -m benchmarks.speed.spark`: Spark on two cores, beside the function of `pairs`.

Each case runs in a process of its own, with a JVM of its own: pages that are read; and the near
pairs of millions of fingerprints in a Parquet file, a hundredth of them within 3 bits of another.
`block`: a tenth of all agree in a block of 16 bits. `alike`: a tenth of all are the same. Before
each case, `stream_pairs` finds the pairs of the same file; both must find as many.
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

from benchmarks.speed.measure import OUT, options_of, say, table, write_json
from benchmarks.speed.pages import load, news, renewed
from simhash_gate.collection.pairs import stream_pairs

MILLION = 1_000_000
_TICKS = os.sysconf("SC_CLK_TCK")
_GROUP_SIZE = 200
_SITES = 100


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the tables, write the figures; 1 if numbers of pairs differ."""
    sizes = ("1", "5", "10", "10 block", "10 alike")
    flags: dict[str, tuple[Any, ...]] = {
        "--joins": (sizes, "millions of fingerprints, and which are heavy", {"nargs": "*"}),
        "--pages": (Path, "a folder of .html files"),
        "--pages-of-each": (20, "0 reads none"),
        "--cores": (2, "of the machine"),
        "--local": (Path(tempfile.gettempdir()), "for what Spark writes"),
        "--case": (str, argparse.SUPPRESS),
        "--data": (str, argparse.SUPPRESS),
        "--out": OUT,
    }
    options = options_of(__doc__, arguments, flags)
    if options.case:
        print(json.dumps(_case(options.case, Path(options.data), options.cores, options.local)))
        return 0
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(dir=options.local) as folder:
        for name in options.joins:
            figures[name] = _join(name, Path(folder), options)
        if options.pages_of_each:
            figures["pages"] = _pages(Path(folder), options)
    joins = {name: run for name, run in figures.items() if name != "pages"}
    heads = ("pairs", "function, s", "Spark, s", "CPU, s", "shuffled, MB", "rows shuffled")
    keys = ("pairs", "function", "wall", "cpu", "mb", "rows")
    told = (
        (name, zip(heads, map(run.__getitem__, keys), strict=True)) for name, run in joins.items()
    )
    print(table({"": name, **dict(cells)} for name, cells in told))
    if "pages" in figures:
        pages = figures["pages"]
        each = pages["pages"] / pages["cpu"]
        seconds = f"{pages['cpu']:.0f} s of CPU, {pages['wall']:.0f} s by the clock"
        print(f"\n{pages['pages']} pages of {pages['kb']:.0f} kB, {seconds}")
        judged = pages["pages"] / pages["judged"]
        print(f"pages per second of a core: read {each:.0f}, judged {judged:.0f}")
    write_json(options.out / "spark.json", figures, ("pyspark", "pyarrow", "numpy"))
    wrong = [name for name, run in joins.items() if run["pairs"] != run["found"]]
    say(f"cases with another number of pairs: {', '.join(wrong) or 'none'}")
    return 1 if wrong else 0


def _join(name: str, folder: Path, options: argparse.Namespace) -> dict[str, float]:
    size, _, heavy = name.partition(" ")
    path = folder / "fingerprints.parquet"
    fingerprints = made(int(float(size) * MILLION), heavy)
    order = np.random.default_rng(2).permutation(len(fingerprints))
    bits = fingerprints[order].view(np.int64)
    _write(path, MILLION, id=np.arange(len(bits)), fingerprint=bits)
    start = time.monotonic()
    # Of equal fingerprints, Spark is asked for those with the first alone.
    compared = np.unique(fingerprints) if heavy == "alike" else fingerprints
    portions = [len(fingerprints) - len(compared)]
    stream_pairs(compared, 3, lambda one, _: portions.append(len(one)))
    seconds = time.monotonic() - start
    run = _apart(name, path, options)
    say(f"{name}: {run['wall']:.0f} s")
    return {"found": sum(portions), "function": seconds, **run}


def _pages(folder: Path, options: argparse.Namespace) -> dict[str, float]:
    bodies = load(options.pages, 1000) if options.pages else news(1000)
    rows = [renewed(body, number) for number in range(options.pages_of_each) for body in bodies]
    urls = [f"https://site{number % _SITES}.com/{number}" for number in range(len(rows))]
    _write(folder / "pages.parquet", _GROUP_SIZE, id=range(len(rows)), url=urls, body=rows)
    size = sum(map(len, rows)) / 1000 / len(rows)
    return {"kb": size, **_apart("pages", folder / "pages.parquet", options)}


def made(size: int, heavy: str = "") -> np.ndarray:
    """Return fingerprints, the same for the same arguments."""
    chance = np.random.default_rng(1)
    found = chance.integers(0, 1 << 63, size, np.uint64, endpoint=True) * np.uint64(2)
    found |= chance.integers(0, 2, size, np.uint64)
    if heavy == "block":
        found[: size // 10] &= ~np.uint64(0xFFFF)
    if heavy == "alike":
        found[: size // 10] = found[0]
    near = size // 100
    places = chance.integers(size // 10, size, near)
    found[-near:] = found[places] ^ (np.uint64(1) << chance.integers(0, 64, near, np.uint64))
    return found


def _write(path: Path, together: int, **columns: Any) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table(columns), path, row_group_size=together)


def _apart(name: str, data: Path, options: argparse.Namespace) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.speed.spark", "--case", name, "--data", str(data)]
    command += ["--cores", str(options.cores), "--local", str(options.local)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    run: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return run


def _case(name: str, data: Path, cores: int, local: Path) -> dict[str, float]:
    from simhash_gate.spark import dedupe, near_duplicates, read_pages

    log = Path(tempfile.mkdtemp(dir=local))
    spark = _session(cores, local, log, _GROUP_SIZE if name == "pages" else 10_000)
    df = spark.read.parquet(str(data))
    spark.range(1000).mapInArrow(lambda batches: batches, "id bigint").count()  # starts Python
    alike = name.endswith("alike")
    if name == "pages":
        read = str(log / "read")
        cost = _cost(lambda: read_pages(df).write.parquet(read))
        pages = spark.read.parquet(read)
        judged = _cost(lambda: dedupe(pages).write.parquet(str(log / "judged")))
        cost |= {"pages": df.count(), "judged": judged["cpu"]}
    else:
        found: list[int] = []
        pairs = near_duplicates(df, 3, all_copies=not alike)
        cost = _cost(lambda: found.append(pairs.count()))
        cost["pairs"] = found[0]
    spark.stop()
    shuffled, rows = _shuffled(log)
    return {**cost, "mb": shuffled / 1e6, "rows": rows}


def _cost(run: Callable[[], object]) -> dict[str, float]:
    before, start = _cpu(), time.monotonic()
    run()
    return {"wall": time.monotonic() - start, "cpu": _cpu() - before}


def _session(cores: int, local: Path, log: Path, together: int) -> Any:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    (log / "events").mkdir()
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "4g",
        "spark.eventLog.dir": (log / "events").as_uri(),
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.local.dir": str(local),
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(together),
        "spark.sql.shuffle.partitions": "64",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master(f"local[{cores}]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _shuffled(log: Path) -> tuple[int, int]:
    """Return the bytes and rows that were written to be shuffled, as Spark's event log tells."""
    size = rows = 0
    for path in (log / "events").rglob("*"):
        for line in path.read_text("utf-8").splitlines() if path.is_file() else ():
            event = json.loads(line) if line.startswith("{") else {}
            if event.get("Event") == "SparkListenerTaskEnd":
                written = event["Task Metrics"]["Shuffle Write Metrics"]
                size += written["Shuffle Bytes Written"]
                rows += written["Shuffle Records Written"]
    return size, rows


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

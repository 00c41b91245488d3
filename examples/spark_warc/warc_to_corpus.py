"""WARC files in, a corpus of Markdown without near-duplicates out.

spark-submit warc_to_corpus.py OUT FILE...
"""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyarrow import RecordBatch
from pyspark.sql import SparkSession

from simhash_gate.sources import File
from simhash_gate.sources.warc import warc
from simhash_gate.spark import dedupe, read_pages

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_BYTES = 10 * 1024 * 1024
RESPONSE = "id string, url string, body binary, encoding string, skipped string"
KEPT = ("id", "url", "title", "words", "fingerprint", "markdown")


def responses(batches: Iterable[RecordBatch]) -> Iterator[RecordBatch]:
    """Yield the responses of the WARC files that a task has, a hundred at a time."""
    rows = (row for batch in batches for path in batch["path"].to_pylist() for row in of_file(path))
    while some := list(islice(rows, 100)):
        columns = [[row[place] for row in some] for place in range(5)]
        yield RecordBatch.from_arrays(
            [*map(as_array, columns, ("string", "string", "binary", "string", "string"))],
            names=["id", "url", "body", "encoding", "skipped"],
        )


def as_array(values: list[Any], kind: str) -> Any:
    """Return a column, which may have nothing but None."""
    import pyarrow as pa

    return pa.array(values, pa.type_for_alias(kind))


def of_file(path: str) -> Iterator[tuple[Any, ...]]:
    """Yield the responses of one file. Its name and their order are their ids."""
    damaged: list[tuple[str, str]] = []
    name, number = Path(path).name, 0
    entries = warc(File(path, "warc"), lambda *told: damaged.append(told), MAX_BYTES)
    for number, entry in enumerate(entries, 1):
        yield f"{name}:{number:08}", entry.url, entry.body, entry.encoding, entry.skipped
    for place, why in damaged:
        number += 1
        yield f"{name}:{number:08}", "", b"", None, f"{place}: {why}"


def main(out: str, *files: str) -> None:
    """Read all files; write OUT/read, OUT/kept and OUT/others, all Parquet."""
    spark = SparkSession.builder.appName("WARC to corpus").getOrCreate()
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "200")
    paths = spark.createDataFrame([(str(Path(file).absolute()),) for file in files], "path string")
    found = paths.repartition(len(files)).mapInArrow(responses, RESPONSE)
    read_pages(found).write.parquet(f"{out}/read")  # each page is read once

    pages = spark.read.parquet(f"{out}/read")
    verdicts = dedupe(pages).localCheckpoint()
    kept = verdicts.where("kept").select("id")
    pages.select(*KEPT).join(kept, "id").orderBy("id").write.parquet(f"{out}/kept")
    others = verdicts.where("NOT kept").drop("kept").join(pages.select("id", "url"), "id")
    others.orderBy("id").write.parquet(f"{out}/others")

    copies = verdicts.where("original IS NOT NULL").count()
    total = pages.count()
    print(f"pages: {total}, kept: {kept.count()}, copies: {copies}")
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])

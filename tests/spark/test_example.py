"""The example of examples/, run by spark-submit as its README says."""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
import sys

from pyarrow import parquet

from tests.crawls.harness import ROOT, page
from tests.offline.test_replay_warc import record

EXAMPLE = ROOT / "examples/spark_warc"


def test_spark_submit_makes_the_corpus_of_the_command(apart, run, tmp_path) -> None:
    (tmp_path / "crawl").mkdir()
    files = {
        "a": [
            record(page(seed, noise=seed).body, url=f"https://example.com/{seed}")
            for seed in (1, 2)
        ],
        "b": [
            record(page(1, noise=7).body, url="https://www.example.com/copy"),
            record(page(2, noise=8).body, url="https://example.com/copy-2"),
            record(b"%PDF", "Content-Type: application/pdf", url="https://example.com/pdf"),
        ],
    }
    for name, records in files.items():
        packed = b"".join(map(gzip.compress, records))
        (tmp_path / "crawl" / f"{name}.warc.gz").write_bytes(packed)
    command = re.findall(r"^(spark-submit .*)$", (EXAMPLE / "README.md").read_text(), re.MULTILINE)
    shutil.copy(EXAMPLE / "warc_to_corpus.py", tmp_path)
    done = subprocess.run(
        ["bash", "-c", command[0]],
        cwd=tmp_path,
        env=apart,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() in (EXAMPLE / "README.md").read_text()
    kept = parquet.read_table(tmp_path / "corpus/kept").to_pylist()
    others = {row["id"]: row for row in parquet.read_table(tmp_path / "corpus/others").to_pylist()}

    told = run("dedupe", "crawl", "-o", "kept.parquet")
    assert told.status == 0, told.err
    expected = parquet.read_table(tmp_path / "kept.parquet").to_pylist()
    assert [row["url"] for row in kept] == [row["url"] for row in expected]
    assert [row["markdown"] for row in kept] == [row["markdown"] for row in expected]
    originals = {name: row["original"] for name, row in others.items()}
    assert originals == {
        "b.warc.gz:00000001": "a.warc.gz:00000001",
        "b.warc.gz:00000002": "a.warc.gz:00000002",
        "b.warc.gz:00000003": None,
    }
    assert others["b.warc.gz:00000003"]["reason"] == "not html"


def test_a_damaged_file_is_named_and_the_rest_is_read(tmp_path) -> None:
    sys.path.insert(0, str(EXAMPLE))
    try:
        from warc_to_corpus import of_file
    finally:
        sys.path.remove(str(EXAMPLE))
    whole = gzip.compress(record(page(1).body))
    (tmp_path / "cut.warc.gz").write_bytes(whole + whole[:-200])
    rows = list(of_file(str(tmp_path / "cut.warc.gz")))
    assert [row[0] for row in rows] == ["cut.warc.gz:00000001", "cut.warc.gz:00000002"]
    assert rows[0][2] == page(1).body
    assert "cut off" in rows[1][4]
    assert str(tmp_path / "cut.warc.gz") in rows[1][4]

"""What docs/spark.md shows, run with Spark."""

import re
import sys

import pyarrow as pa
import pytest
from pyarrow import parquet

import simhash_gate.spark
from simhash_gate.common.wording import MissingExtraError
from tests.crawls.harness import ROOT, page

DOCS = (ROOT / "docs/spark.md").read_text("utf-8")


def test_the_example_makes_a_corpus(spark, tmp_path) -> None:
    (code,) = re.findall(r"```py\n(.*?)```", DOCS, re.DOTALL)
    for name in ("archive", "read", "corpus"):
        assert f'"{name}"' in code
        code = code.replace(f'"{name}"', repr(str(tmp_path / name)))
    bodies = [page(seed, noise=noise).body for noise, seed in enumerate((1, 2, 1))]
    urls = [f"https://example.com/{number}" for number in range(3)]
    parquet.write_table(
        pa.table({"id": [10, 11, 12], "url": urls, "body": bodies}), tmp_path / "archive"
    )
    exec(compile(code, "spark.md", "exec"), {})
    rows = parquet.read_table(tmp_path / "corpus").sort_by("id").to_pylist()
    assert [(row["id"], row["url"]) for row in rows] == [(10, urls[0]), (11, urls[1])]
    assert all(row["markdown"].startswith("# ") for row in rows)


def test_a_missing_package_is_named_with_its_extra_and_so_is_a_name_that_is_not_there(
    monkeypatch,
) -> None:
    for package in ("pyspark", "pandas", "pyarrow"):
        with monkeypatch.context() as without:
            without.setitem(sys.modules, package, None)
            said = rf"{package}: pip install 'simhash-gate\[spark\]'"
            with pytest.raises(MissingExtraError, match=said):
                _ = simhash_gate.spark.dedupe
    with pytest.raises(AttributeError, match="no attribute 'near'"):
        _ = simhash_gate.spark.near

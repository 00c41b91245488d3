"""All functions over Spark Connect: from a client without a JVM of its own, to a real server."""

import json
import os
import subprocess
import sys
from importlib.metadata import version

import pytest

from tests.crawls.harness import ROOT

CODE = """
import json
from pyspark.sql import SparkSession
from simhash_gate.spark import clusters, dedupe, near_duplicates, read_pages

spark = SparkSession.builder.remote("{server}").getOrCreate()
assert "connect" in type(spark).__module__
df = spark.createDataFrame(
    [(1, 5, "a"), (2, 4, "a"), (3, -1, "a"), (4, 0, "a"), (5, 5, "b")],
    "id bigint, fingerprint bigint, scope string",
)
pairs = near_duplicates(df, 1)
rows = [("https://a.example/", b"<p>A worker bee lives six weeks in summer." * 4)]
pages = read_pages(spark.createDataFrame(rows * 2, "url string, body binary").selectExpr(
    "monotonically_increasing_id() AS id", "*"
))
print(json.dumps([
    sorted(map(tuple, pairs.collect())),
    sorted(map(tuple, clusters(pairs).collect())),
    sorted((row.id, row.original) for row in dedupe(df, 1).collect()),
    sorted(row.kept for row in dedupe(pages).collect()),
]))
spark.stop()
"""


@pytest.mark.skipif(
    version("pyspark") < "4", reason="PySpark brings the server of Spark Connect from 4.0 on"
)
def test_all_functions_work_over_spark_connect(spark) -> None:
    port = spark.conf.get("spark.connect.grpc.binding.port")
    done = subprocess.run(
        [sys.executable, "-c", CODE.replace("{server}", f"sc://127.0.0.1:{port}")],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == [
        [[1, 2, 1], [2, 4, 1]],
        [[1, 1], [2, 1], [4, 1]],
        [[1, None], [2, 1], [3, None], [4, None], [5, None]],
        [False, True],
    ]

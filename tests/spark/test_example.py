"""The example of examples/, run by spark-submit as its README says."""

import shutil
import subprocess

from pyarrow import parquet

from tests.crawls.harness import ROOT
from tests.examples.test_examples import COMMAND, EXAMPLES

EXAMPLE = EXAMPLES / "spark_warc"


def test_spark_submit_makes_the_corpus_of_the_command(apart, run, tmp_path) -> None:
    readme = (EXAMPLE / "README.md").read_text("utf-8")
    for name in ("rag_corpus", "spark_warc"):
        shutil.copytree(EXAMPLES / name, tmp_path / name)
    (tmp_path / "crawler").symlink_to(ROOT / "crawler")
    done = subprocess.run(
        ["bash", "-c", *COMMAND.findall(readme)],
        env=apart,
        cwd=tmp_path / "spark_warc",
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"```\n{done.stdout}```" in readme
    made = tmp_path / "spark_warc/corpus"
    kept = parquet.read_table(made / "kept").to_pylist()
    others = {row["url"]: row for row in parquet.read_table(made / "others").to_pylist()}

    told = run(
        "dedupe", "spark_warc/archive.warc.gz", "-o", "a.parquet", "--duplicates", "b.parquet"
    )
    assert told.status == 0, told.err
    expected = parquet.read_table(tmp_path / "a.parquet").to_pylist()
    left_out = parquet.read_table(tmp_path / "b.parquet").to_pylist()
    assert [row["url"] for row in kept] == [row["url"] for row in expected]
    assert [row["markdown"] for row in kept] == [row["markdown"] for row in expected]
    assert {url: row["reason"] for url, row in others.items()} == {
        row["url"]: row["reason"] for row in left_out
    }

"""`simhash-gate pairs` and `similar`: which pages are compared, and how they are written."""

import csv
import json
import tempfile

import pyarrow as pa
import pyarrow.parquet
import pytest

from simhash_gate.options import pipeline_version
from tests.crawls.harness import page
from tests.offline.command import files_up_to
from tests.offline.test_sources import fill_store


@pytest.fixture
def pages(tmp_path) -> None:
    """A folder with a page, a copy of it, and another page."""
    for name, answer in (
        ("a.html", page(1)),
        ("deep/copy.HTM", page(1, noise=2)),
        ("other.xhtml", page(2)),
    ):
        path = tmp_path / "pages" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(answer.body)


def test_a_list_of_fingerprints_gives_the_numbers_of_lines(run, tmp_path) -> None:
    (tmp_path / "list").write_text("00000000000000F0\n\n00000000000000f1\nnone\n0000000000000000\n")
    result = run("pairs", "list", "-k", "4")
    assert result.out == '{"a": 1, "b": 3, "distance": 1}\n{"a": 1, "b": 5, "distance": 4}\n'
    assert result.status == 1
    assert "list:4: not a fingerprint of 16 hex digits: 'none'" in result.err


def test_parquet_gives_the_numbers_of_rows_and_what_is_none_or_lacks_the_column_is_named(
    run, tmp_path
) -> None:
    values = pa.array([None, 1 << 63, 255, (1 << 63) + 1], pa.uint64())
    pa.parquet.write_table(pa.table({"fingerprint": values}), tmp_path / "bits.parquet")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1" * 10)
    pa.parquet.write_table(pa.table({"bits": [1]}), tmp_path / "other.parquet")
    assert run("pairs", "bits.parquet").lines == [{"a": 2, "b": 4, "distance": 1}]
    result = run("pairs", "bad.parquet", "other.parquet")
    assert result.status == 1
    assert "bad.parquet: no Parquet file: " in result.err
    assert "other.parquet: no column 'fingerprint'; there are bits" in result.err
    alone = run("pairs", "other.parquet").err
    assert alone.count("other.parquet: no column 'fingerprint'; there are bits") == 1


def test_a_file_of_parquet_with_pages_and_no_fingerprints_is_read(run, tmp_path) -> None:
    urls = ["https://example.com/a", "https://example.com/b"]
    columns = {"url": urls, "html": [page(1).body, page(1, noise=2).body]}
    pa.parquet.write_table(pa.table(columns), tmp_path / "pages.parquet")
    (pair,) = run("pairs", "pages.parquet").lines
    assert [pair["a"], pair["b"]] == urls


@pytest.mark.usefixtures("pages")
def test_sources_that_have_the_same_file_pair_it_with_none_of_itself(run, tmp_path) -> None:
    (tmp_path / "link").symlink_to("pages")
    for sources in (
        "pages/deep/../a.html link pages",
        "pages/a.html pages/deep/copy.HTM pages/other.xhtml pages/a.html link/a.html",
    ):
        result = run("pairs", *sources.split())
        (pair,) = result.lines
        assert {pair[name].rpartition("/")[2] for name in "ab"} == {"a.html", "copy.HTM"}
        assert result.err.endswith("pages: 3, pairs: 1\n")
        assert "sources named more than once are read once: " in result.err


def test_domains_are_compared_within_themselves_unless_across(run, manifest) -> None:
    hosts = ["a.com", "b.org", "www.a.com", "b.org"]
    path = manifest(
        *({"url": f"https://{h}/{n}", "fingerprint": "0" * 16} for n, h in enumerate(hosts))
    )

    def found(*options: str) -> list[str]:
        return [line["a"][-1] + line["b"][-1] for line in run("pairs", path, *options).lines]

    assert found() == ["02", "13"]
    assert found("--across") == ["01", "02", "03", "12", "13", "23"]
    assert found("-s", "SIMHASH_GATE_SCOPE=crawl") == found("--across")


@pytest.mark.usefixtures("pages")
def test_results_go_to_a_file_in_the_format_that_it_names(run, tmp_path) -> None:
    (row,) = run("pairs", "pages").lines
    for options in ("out.jsonl", "out.parquet", "out --format csv"):
        result = run("pairs", "pages", "-o", *options.split())
        assert (result.status, result.out) == (0, "")
    assert json.loads((tmp_path / "out.jsonl").read_text()) == row
    assert pa.parquet.read_table(tmp_path / "out.parquet").to_pylist() == [row]
    with (tmp_path / "out").open(newline="") as file:
        assert [*csv.DictReader(file)] == [{name: str(cell) for name, cell in row.items()}]
    files = {path.name for path in tmp_path.iterdir() if path.is_file()}
    assert files == {"out.jsonl", "out.parquet", "out"}


def test_pages_of_other_pipelines_are_not_compared_and_that_is_said(run, url, manifest) -> None:
    fill_store(url, ("u/1", 1, "9c1f"), ("u/2", 1, "9c1f"), ("u/3", 1, "77aa"))
    result = run("pairs", url)
    assert result.column("b") == ["u/2"]
    assert result.status == 1
    assert "pages of 2 pipeline versions (9c1f: 2, 77aa: 1); only those of the same" in result.err
    path = manifest(  # what has none has that of the settings
        {"path": "a", "fingerprint": "0" * 16},
        {"path": "b", "fingerprint": "0" * 16, "pipeline": pipeline_version()},
    )
    result = run("pairs", path)
    assert (result.status, len(result.lines)) == (0, 1)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (f"{'0' * 16}\n", "out.jsonl: File"),
        (f'{{"url": "{"u" * 200}", "fingerprint": "{"0" * 16}"}}\n', "temporary files in {tmp} (T"),
    ],
)
def test_a_file_that_can_not_grow_is_left_as_it_was(run, tmp_path, monkeypatch, line, said) -> None:
    (tmp_path / "list").write_text(line * 400)
    (tmp_path / "out.jsonl").write_text("before\n")
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    with files_up_to(1 << 16):
        result = run("pairs", "list", "-o", "out.jsonl")
    assert result.status == 1
    assert said.format(tmp=tmp_path / "tmp") in result.err
    assert (tmp_path / "out.jsonl").read_text() == "before\n"
    assert not [*(tmp_path / "tmp").iterdir()]
    assert not [path for path in tmp_path.iterdir() if "part" in path.name]


@pytest.fixture
def kept(manifest):
    """Pages at 0, 2, 5 and 64 bits from the first one, on two domains."""
    bits = {
        "https://a.com/0": 0,
        "https://b.org/5": 31,
        "https://b.org/2": 3,
        "https://a.com/-": -1,
    }
    return manifest(
        *(
            {"url": url, "fingerprint": f"{value % 2**64:016x}", "title": url[-1]}
            for url, value in bits.items()
        )
    )


def test_the_nearest_come_first_whatever_their_domain(run, kept) -> None:
    result = run("similar", kept, "0" * 16, "-k", "5")
    assert (result.status, result.err) == (0, "")
    assert result.column("distance") == [0, 2, 5]
    assert result.column("page") == ["https://a.com/0", "https://b.org/2", "https://b.org/5"]
    assert result.lines[1] | {"page": 0} == {
        "page": 0, "distance": 2, "title": "2", "fingerprint": f"{3:016x}"
    }  # fmt: skip
    # A page of the source is not like itself.
    assert run("similar", kept, "https://a.com/0").column("page") == ["https://b.org/2"]
    assert len(run("similar", kept, "https://a.com/0", "-k", "64").lines) == 3


def test_a_file_is_compared_with_the_pages_of_several_sources(run, tmp_path, write) -> None:
    write("pages/a.html", 1)
    write("pages/b.html", 2)
    write("mine.html", 1, noise=5)
    (tmp_path / "list").write_text(f"{1:016x}\n{0:016x}\n")
    assert run("similar", "pages", "list", "mine.html").column("page") == ["pages/a.html"]
    assert run("similar", "pages", "pages/a.html").lines == []
    assert run("similar", "list", "0" * 16).column("page") == [2, 1]


def test_a_page_that_is_nowhere_or_empty_is_named(run, tmp_path, kept) -> None:
    (tmp_path / "empty.html").write_text("<html></html>")
    for wanted, said in (
        ("https://a.com/none", "no page of the source has this URL"),
        ("none.html", "No such file"),
        ("empty.html", "no fingerprint"),
    ):
        result = run("similar", kept, wanted)
        assert (result.status, result.out) == (1, "")
        assert f"{wanted}: {said}" in result.err

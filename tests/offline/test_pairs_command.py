"""`simhash-gate pairs`: from every kind of source, in every format, whatever goes wrong."""

from __future__ import annotations

import csv
import gzip
import json
import os
import resource
import subprocess
from contextlib import closing
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet
import pytest

from simhash_gate.options import pipeline_version
from simhash_gate.stores import Record, open_store
from tests.crawls.harness import ROOT, Site, crawl, page
from tests.offline.command import COMMAND
from tests.offline.test_replay_http_cache import settings as cached_crawl
from tests.offline.test_replay_http_cache import site
from tests.offline.test_replay_warc import record

if TYPE_CHECKING:
    from pathlib import Path

A, COPY, OTHER = (page(1), page(1, noise=2), page(2))
URLS = [f"https://example.com/{name}" for name in ("a", "copy", "other")]
STORY = "\n\n".join(f"The {n}. paragraph says what only the {n}. one does." for n in range(30))


def html_folder(folder: Path) -> list[str]:
    for name, answer in (("a.html", A), ("deep/copy.HTM", COPY), ("other.xhtml", OTHER)):
        path = folder / "pages" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(answer.body)
    return ["pages"]


def html_files(folder: Path) -> list[str]:
    for name, answer in (("a.html", A), ("copy.php", COPY), ("other.html", OTHER)):
        (folder / name).write_bytes(answer.body)
    return ["a.html", "copy.php", "other.html"]


def texts(folder: Path) -> list[str]:
    (folder / "texts").mkdir()
    (folder / "texts/a.txt").write_text(STORY)
    (folder / "texts/copy.md").write_text(STORY.replace("\n", "\r\n"))
    (folder / "texts/other.txt").write_text("Nothing of the sort is said in <this> text. " * 5)
    return ["texts"]


def warc(folder: Path) -> list[str]:
    found = [record(x.body, url=url) for x, url in zip((A, COPY, OTHER), URLS, strict=True)]
    (folder / "crawl.warc.gz").write_bytes(b"".join(map(gzip.compress, found)))
    return ["crawl.warc.gz"]


def inline(folder: Path) -> list[str]:
    lines = [
        {"url": url, "html": answer.body.decode()}
        for url, answer in zip(URLS, (A, COPY, OTHER), strict=True)
    ]
    (folder / "pages.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return ["pages.jsonl"]


def manifest(folder: Path) -> list[str]:
    lines = [{"path": path} for path in html_files(folder)]
    (folder / "manifest.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return ["manifest.jsonl"]


def parquet(folder: Path) -> list[str]:
    table = pa.table({"fingerprint": pa.array([-8, -8, None, 5], pa.int64()), "url": [*URLS, "u"]})
    pa.parquet.write_table(table, folder / "kept.parquet")
    return ["kept.parquet"]


def parquet_of_digits(folder: Path) -> list[str]:
    digits = ["ffffffffffffffff", "f" * 15 + "e", "0" * 16]
    pa.parquet.write_table(pa.table({"fingerprint": digits, "url": URLS}), folder / "d.parquet")
    return ["d.parquet"]


def store(folder: Path) -> list[str]:
    fill(folder, *((url, bits, "v") for url, bits in zip(URLS, (7, 6, 255 << 40), strict=True)))
    return [f"sqlite:///{folder}/kept.sqlite"]


def fill(folder: Path, *pages: tuple[str, int, str]) -> None:
    with closing(open_store(f"sqlite:///{folder}/kept.sqlite")) as opened:
        opened.begin("monday")
        for url, bits, version in pages:
            kept = Record("example.com", url, url, bits, bits, 90, "Title", version, "monday", 1, 1)
            opened.check_and_add(kept, None)
        opened.end("monday")


@pytest.mark.parametrize(
    "source",
    [html_folder, html_files, texts, warc, inline, manifest, parquet, parquet_of_digits, store],
)
def test_the_pair_is_found_in_every_kind_of_source(run, tmp_path, source) -> None:
    result = run("pairs", *source(tmp_path))
    assert result.status == 0, result.err
    (pair,) = result.lines
    assert list(pair) == ["a", "b", "distance", "a_title", "b_title"]
    assert pair["distance"] <= 3
    assert "other" not in pair["a"] + pair["b"]
    assert "copy" in pair["b"]


def test_the_cache_of_a_crawl_is_told_from_a_folder_of_pages(run, tmp_path) -> None:
    with site().running() as running:
        crawl(tmp_path, running, "/a /copy /b", settings=cached_crawl(tmp_path))
    (pair,) = run("pairs", "cache/test").lines
    assert [pair["a"], pair["b"]] == [f"{running.url}/a", f"{running.url}/copy"]


def test_what_fingerprint_and_store_list_print_is_a_source(run, tmp_path) -> None:
    for name, command in (
        ("prints.jsonl", ["fingerprint", *html_folder(tmp_path)]),
        ("list.jsonl", ["store", "list", *store(tmp_path)]),
    ):
        (tmp_path / name).write_text(run(*command).out)
        (pair,) = run("pairs", name).lines
        assert "copy" in pair["b"]


def test_the_verdict_log_of_an_audited_crawl_is_a_source(run, tmp_path) -> None:
    routes = {"/a": page(1), "/copy": page(1, noise=2)}
    settings = {"SIMHASH_GATE_AUDIT": 1, "SIMHASH_GATE_VERDICTS": "verdicts.jsonl"}
    with Site(routes).running() as running:
        crawl(tmp_path, running, "/a /copy", settings=settings)
    assert '{"audit"' in (tmp_path / "verdicts.jsonl").read_text()
    (pair,) = run("pairs", "verdicts.jsonl").lines
    assert {pair["a"], pair["b"]} == {f"{running.url}/a", f"{running.url}/copy"}


def test_a_list_of_fingerprints_gives_the_numbers_of_lines(run, tmp_path) -> None:
    (tmp_path / "list").write_text("00000000000000F0\n\n00000000000000f1\nnone\n0000000000000000\n")
    result = run("pairs", "list", "-k", "4", "--memory", "1K")
    assert result.out == ('{"a": 1, "b": 3, "distance": 1}\n{"a": 1, "b": 5, "distance": 4}\n')
    assert result.status == 1
    assert "list:4: not a fingerprint of 16 hex digits: 'none'" in result.err


def test_parquet_without_names_gives_the_numbers_of_rows(run, tmp_path) -> None:
    values = pa.array([None, 1 << 63, 255, (1 << 63) + 1], pa.uint64())
    pa.parquet.write_table(pa.table({"fingerprint": values}), tmp_path / "bits.parquet")
    assert run("pairs", "bits.parquet").lines == [{"a": 2, "b": 4, "distance": 1}]


def test_several_sources_are_one_collection(run, tmp_path, write) -> None:
    write("first/a.html", 1)
    write("second/b.html", 1, noise=4)
    (tmp_path / "list").write_text(f"{'0' * 16}\n{'0' * 16}\n")
    pairs = [[line["a"], line["b"]] for line in run("pairs", "first", "second", "list").lines]
    assert pairs == [["first/a.html", "second/b.html"], ["list:1", "list:2"]]


@pytest.mark.parametrize(
    "sources",
    [
        ["pages", "pages"],
        ["pages", "pages/a.html", "./pages/deep"],
        ["pages/deep/../a.html", "link", "pages"],
        ["pages/a.html", "pages/deep/copy.HTM", "pages/other.xhtml", "pages/a.html", "link/a.html"],
    ],
)
def test_sources_that_have_the_same_file_pair_it_with_none_of_itself(
    run, tmp_path, sources: list[str]
) -> None:
    html_folder(tmp_path)
    (tmp_path / "link").symlink_to("pages")
    result = run("pairs", *sources)
    (pair,) = result.lines
    assert {os.path.basename(pair[name]) for name in "ab"} == {"a.html", "copy.HTM"}  # noqa: PTH119
    assert result.err.endswith("pages: 3, pairs: 1\n")
    assert "sources named more than once are read once: " in result.err


def test_what_a_folder_of_pages_does_not_give_is_read_beside_it(run, tmp_path) -> None:
    (source,) = html_folder(tmp_path)
    (tmp_path / "pages/page.php").write_bytes(page(1, noise=3).body)
    (warc_file,) = warc(tmp_path / "pages")
    result = run("pairs", source, "pages/page.php", f"pages/{warc_file}", "--across")
    assert result.err == (
        f"sources named more than once are read once: pages/{warc_file}\n"
        "pages: 3 HTML files, 1 WARC file, 1 other file not read\n"
        "pages: 7, pairs: 11\n"
    )


def test_domains_are_compared_within_themselves_unless_across(run, manifest) -> None:
    pages = [
        f"https://{host}/{n}" for n, host in enumerate(["a.com", "b.org", "www.a.com", "b.org"])
    ]
    path = manifest(*({"url": url, "fingerprint": "0" * 16} for url in pages))

    def found(*options: str) -> list[str]:
        return [line["a"][-1] + line["b"][-1] for line in run("pairs", path, *options).lines]

    assert found() == ["02", "13"]
    assert found("--across") == ["01", "02", "03", "12", "13", "23"]
    assert found("-s", "SIMHASH_GATE_SCOPE=crawl") == found("--across")


def test_a_chain_is_no_cluster(run, tmp_path) -> None:
    (tmp_path / "chain").write_text("".join(f"{(1 << n) - 1:016x}\n" for n in (0, 2, 4, 6)))
    assert run("pairs", "chain", "--clusters", "-k", "2").lines == [
        {"kept": 1, "page": 2, "distance": 2},
        {"kept": 3, "page": 4, "distance": 2},
    ]


@pytest.mark.parametrize("by_name", [True, False])
def test_results_go_to_a_file_in_the_format_that_it_names(run, tmp_path, by_name) -> None:
    html_folder(tmp_path)
    rows = [list(line.values()) for line in run("pairs", "pages").lines]
    columns = ["a", "b", "distance", "a_title", "b_title"]
    for form in ("jsonl", "csv", "parquet"):
        name = f"out.{form}" if by_name else "out"
        result = run("pairs", "pages", "-o", name, *(() if by_name else ("--format", form)))
        assert (result.status, result.out) == (0, "")
        if form == "csv":
            with (tmp_path / name).open(newline="") as file:
                assert [*csv.reader(file)] == [columns, [str(cell) for cell in rows[0]]]
        elif form == "parquet":
            table = pa.parquet.read_table(tmp_path / name)
            assert [list(row.values()) for row in table.to_pylist()] == rows
            assert table.column_names == columns
        else:
            assert json.loads((tmp_path / name).read_text()) == dict(
                zip(columns, rows[0], strict=True)
            )
    assert sorted(p.name for p in tmp_path.iterdir() if "part" in p.name) == []


def test_parquet_is_no_thing_for_a_terminal(run, tmp_path) -> None:
    html_folder(tmp_path)
    result = run("pairs", "pages", "--format", "parquet")
    assert (result.status, result.out) == (2, "")
    assert "-o FILE" in result.err


def test_without_pyarrow_parquet_is_refused_before_anything_is_read(run, tmp_path) -> None:
    html_folder(tmp_path)
    (tmp_path / "without/pyarrow").mkdir(parents=True)
    (tmp_path / "without/pyarrow/__init__.py").write_text("raise ImportError")
    path = f"{tmp_path}/without{os.pathsep}{ROOT}"
    for arguments in (["pages", "-o", "out.parquet"], ["kept.parquet"]):
        result = run("pairs", *arguments, PYTHONPATH=path)
        assert (result.status, result.out) == (1, "")
        assert result.err == (
            "Error: Parquet files need pyarrow: pip install 'simhash-gate[parquet]'\n"
        )


def test_pages_of_other_pipeline_versions_are_not_compared_and_that_is_said(run, tmp_path) -> None:
    fill(tmp_path, ("u/1", 1, "9c1f"), ("u/2", 1, "9c1f"), ("u/3", 1, "77aa"))
    result = run("pairs", f"sqlite:///{tmp_path}/kept.sqlite")
    assert result.column("b") == ["u/2"]
    assert result.status == 1
    assert "pages of 2 pipeline versions (9c1f: 2, 77aa: 1); only those of the same" in result.err


@pytest.mark.parametrize("command", ["pairs", "tune", "report"])
def test_the_store_of_a_crawl_has_to_be_named_in_full(run, command) -> None:
    result = run(command, "sqlite:")
    assert result.status == 1
    assert "name the file; that of a spider is sqlite:///.scrapy/simhash_gate/" in result.err


def test_an_empty_collection_says_so(run, tmp_path) -> None:
    (tmp_path / "bare").mkdir()
    (tmp_path / "empty.html").write_text("<html><body></body></html>")
    for sources in (["bare"], ["empty.html"], ["nowhere.jsonl"], ["nowhere.parquet"]):
        result = run("pairs", *sources, "-o", "out.jsonl")
        assert result.status == 1
        assert f"{sources[0]}: no page with a fingerprint in it" in result.err
        assert not (tmp_path / "out.jsonl").exists()


def test_what_can_be_read_of_a_truncated_archive_is_compared(run, tmp_path) -> None:
    (path,) = warc(tmp_path)
    whole = (tmp_path / path).read_bytes()
    (tmp_path / path).write_bytes(whole[:-100])
    result = run("pairs", path)
    assert result.status == 1
    assert result.column("b") == [URLS[1]]
    assert f"{path}, record" in result.err
    assert "cut off" in result.err


def test_what_is_no_parquet_file_or_lacks_the_column_is_named(run, tmp_path) -> None:
    (tmp_path / "bad.parquet").write_bytes(b"PAR1" * 10)
    pa.parquet.write_table(pa.table({"bits": [1]}), tmp_path / "other.parquet")
    result = run("pairs", "bad.parquet", "other.parquet")
    assert result.status == 1
    assert "bad.parquet: no Parquet file: " in result.err
    assert "other.parquet: no column 'fingerprint'; there are bits" in result.err


def test_a_full_disk_is_named_with_what_could_not_be_written(run, tmp_path) -> None:
    html_folder(tmp_path)
    result = run("pairs", "pages", "-o", "/dev/full")
    assert result.status == 1
    assert result.err == "pages: 3 HTML files\nError: /dev/full: No space left on device\n"


@pytest.mark.parametrize(
    ("lines", "said"), [(400, "out.jsonl: File"), (20_000, "temporary files in {tmp} (TMPDIR")]
)
def test_a_file_that_can_not_grow_is_left_as_it_was(tmp_path, environment, lines, said) -> None:
    (tmp_path / "list").write_text(f"{'0' * 16}\n" * lines)
    (tmp_path / "out.jsonl").write_text("before\n")
    (tmp_path / "tmp").mkdir()
    done = subprocess.run(
        [*COMMAND, "pairs", "list", "-o", "out.jsonl"],
        cwd=tmp_path, env=environment | {"TMPDIR": str(tmp_path / "tmp")}, capture_output=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16)),
        check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert said.format(tmp=tmp_path / "tmp") in done.stderr.decode()
    assert b"Traceback" not in done.stderr
    assert (tmp_path / "out.jsonl").read_text() == "before\n"
    assert not [*(tmp_path / "tmp").iterdir()]
    assert not [path for path in tmp_path.iterdir() if "part" in path.name]


def test_a_wrong_option_is_refused(run, tmp_path) -> None:
    html_folder(tmp_path)
    for options in (["-k", "9"], ["--memory", "4"], ["--format", "xml"]):
        result = run("pairs", "pages", *options)
        assert (result.status, result.out) == (2, "")
    assert run("pairs").status == 2


def test_the_version_of_what_nobody_knows_is_that_of_the_settings(run, manifest) -> None:
    version = pipeline_version()
    path = manifest(
        {"path": "a", "fingerprint": "0" * 16},
        {"path": "b", "fingerprint": "0" * 16, "pipeline": version},
    )
    result = run("pairs", path)
    assert (result.status, len(result.lines)) == (0, 1)

"""Every command reads every source, several at once, and finds the same pages in each."""

from __future__ import annotations

import gzip
import json
import os
import zipfile
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet
import pytest

from tests.crawls.harness import ROOT, page
from tests.offline.test_replay_warc import record
from tests.sources.corpora import FORMS, row, write_corpus

if TYPE_CHECKING:
    from pathlib import Path

URLS = [f"https://example.com/{name}" for name in ("a", "copy", "b", "late-copy", "c")]
BODIES = [page(seed, noise=noise).body for seed, noise in ((1, 0), (1, 2), (2, 0), (1, 5), (3, 0))]
KEPT = [URLS[0], URLS[2], URLS[4]]
PAGES = list(zip(URLS, BODIES, strict=True))


def manifest(folder: Path) -> str:
    lines = []
    for number, (url, body) in enumerate(PAGES):
        (folder / f"{number}.html").write_bytes(body)
        lines.append({"path": f"{number}.html", "url": url})
    return write_lines(folder / "manifest.jsonl", lines)


def jsonl(folder: Path) -> str:
    return write_lines(
        folder / "pages.jsonl", [{"html": body.decode(), "url": url} for url, body in PAGES]
    )


def write_lines(path: Path, lines: list[dict]) -> str:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path.name


def warc(folder: Path) -> str:
    packed = (gzip.compress(record(body, url=url)) for url, body in PAGES)
    (folder / "crawl.warc.gz").write_bytes(b"".join(packed))
    return "crawl.warc.gz"


def warcs(folder: Path) -> str:
    (folder / "crawl").mkdir()
    for number, (url, body) in enumerate(PAGES):
        (folder / f"crawl/{number}.warc").write_bytes(record(body, url=url))
    return "crawl"


def wacz(folder: Path) -> str:
    with zipfile.ZipFile(folder / "crawl.wacz", "w") as packed:
        packed.write(folder / warc(folder), "archive/data.warc.gz")
    (folder / "crawl.warc.gz").unlink()
    return "crawl.wacz"


def parquet(folder: Path) -> str:
    table = pa.table({"html": BODIES, "url": URLS})
    pa.parquet.write_table(table, folder / "pages.parquet")
    return "pages.parquet"


def mirror(folder: Path) -> str:
    for url, body in PAGES:
        path = folder / "mirror/example.com" / url.rpartition("/")[2]
        path.parent.mkdir(parents=True, exist_ok=True)
        # The order of names is another one than that of the pages above.
        path.with_name(f"{URLS.index(url)}-{path.name}.html").write_bytes(body)
    return "mirror"


WITH_URLS = [manifest, jsonl, warc, warcs, wacz, parquet]


@pytest.mark.parametrize("source", WITH_URLS)
def test_the_same_pages_are_kept_from_every_kind_of_source(run, tmp_path, source) -> None:
    result = run("replay", source(tmp_path))
    assert result.status == 0
    assert [line["url"] for line in result.lines if not line["dropped"]] == KEPT
    assert result.column("matched_url") == [None, URLS[0], None, URLS[0], None]


def test_the_fingerprints_from_html_and_from_an_archive_are_the_same(run, tmp_path) -> None:
    by_manifest, by_warc = (run("replay", made(tmp_path)).lines for made in (manifest, warc))
    for one, other in zip(by_manifest, by_warc, strict=True):
        assert one | {"id": 0, "time": 0} == other | {"id": 0, "time": 0}


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["replay"], "pages: 5 (3 new, 2 duplicate)"),
        (["fingerprint"], ""),
        (["report", "-o", "report.html"], "verdicts in the report: 5"),
        (["pairs"], "pages: 5, pairs: 3"),
        (["tune"], ""),
        (["idf", "--min-pages", "1", "-o", "idf.json"], "words of 3 pages"),
    ],
)
def test_every_command_takes_several_sources(run, tmp_path, command, said: str) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site/1.html").write_bytes(BODIES[0])
    (tmp_path / "site/2.html").write_bytes(BODIES[1])
    (tmp_path / "b.warc").write_bytes(record(BODIES[2], url=URLS[2]))
    write_lines(tmp_path / "c.jsonl", [{"html": BODIES[3].decode()}, {"html": BODIES[4].decode()}])
    name, *options = command
    across = ["-s", "SIMHASH_GATE_SCOPE=crawl"]
    result = run(name, "site", "b.warc", "c.jsonl", *options, *across)
    assert result.status == 0, result.err
    assert result.err.startswith("site: 2 HTML files\n")
    assert said in result.err
    if name == "fingerprint":
        assert result.column("path") == [
            *("site/1.html", "site/2.html", "b.warc, record 1", "c.jsonl:1", "c.jsonl:2")
        ]
        assert [line.get("url") for line in result.lines] == [None, None, URLS[2], None, None]
    if name == "tune":
        assert "5 pages" in result.out


def test_a_page_is_looked_for_in_several_sources(run, tmp_path) -> None:
    (tmp_path / "a.html").write_bytes(BODIES[0])
    (tmp_path / "b.warc").write_bytes(record(BODIES[1], url=URLS[1]))
    result = run("similar", "a.html", "b.warc", URLS[1])
    assert result.column("page") == ["a.html"]


def test_the_pages_of_a_mirror_are_of_its_domains_and_called_by_their_paths(run, tmp_path) -> None:
    mirror(tmp_path)
    other = tmp_path / "mirror/example.org/0.html"
    other.parent.mkdir()
    other.write_bytes(BODIES[0])
    result = run("pairs", "mirror")
    a, copy, late = (
        f"mirror/example.com/{name}" for name in ("0-a.html", "1-copy.html", "3-late-copy.html")
    )
    assert [(line["a"], line["b"]) for line in result.lines] == [(a, copy), (a, late), (copy, late)]
    result = run("replay", "mirror")
    assert result.column("url")[0] == "https://example.com/0-a.html"
    assert [line["outcome"] for line in result.lines].count("new") == 4


def test_a_canonical_link_that_a_whole_site_has_merges_nothing(run, tmp_path) -> None:
    link = b'<link rel="canonical" href="https://example.com/"><title>'
    for number, body in enumerate(BODIES):
        (tmp_path / f"{number}.html").write_bytes(body.replace(b"<title>", link, 1))
    store = f"SIMHASH_GATE_STORE=sqlite:///{tmp_path}/kept.sqlite"
    names = [f"{number}.html" for number in range(5)]
    result = run("replay", *names, "-s", store)
    assert result.column("outcome") == ["new", "duplicate", "new", "duplicate", "new"]
    assert result.column("url") == ["https://example.com/"] * 5
    assert len(run("store", "list", f"sqlite:///{tmp_path}/kept.sqlite").lines) == 3
    assert "5 pages" in run("tune", *names).out
    assert {line["a"] for line in run("pairs", *names).lines} == {"0.html", "1.html"}


@pytest.mark.parametrize("form", FORMS)
def test_what_compares_fingerprints_takes_those_of_a_corpus(run, tmp_path, form: str) -> None:
    rows = [row(page(seed).body, url) for seed, url in enumerate(URLS)]
    rows[3] |= {"fingerprint": rows[0]["fingerprint"][:-1] + "0", "title": "Its title"}
    rows[0] |= {"fingerprint": rows[0]["fingerprint"][:-1] + "1"}
    write_corpus(tmp_path, form, *rows)
    (pair,) = run("pairs", form).lines
    assert pair == {"a": URLS[0], "b": URLS[3], "distance": 1, "a_title": "Story 0",
                    "b_title": "Its title"}  # fmt: skip
    (near,) = run("similar", form, URLS[0]).lines
    assert (near["page"], near["fingerprint"]) == (URLS[3], rows[3]["fingerprint"])
    assert "5 pages" in run("tune", form).out
    # A page of another version is not compared with these.
    write_corpus(tmp_path, "other.jsonl", rows[0] | {"url": URLS[0] + "2", "pipeline": "9c1f"})
    result = run("pairs", form, "other.jsonl")
    assert result.lines == [pair]
    assert "pages of 2 pipeline versions" in result.err


@pytest.mark.parametrize("form", FORMS)
def test_what_reads_pages_reads_the_markdown_of_a_corpus(run, tmp_path, form: str) -> None:
    write_corpus(tmp_path, form, *(row(body, url) for url, body in PAGES))
    result = run("replay", form)
    assert result.status == 0
    assert [line["url"] for line in result.lines if not line["dropped"]] == KEPT
    assert result.column("title") == [f"Story {seed}" for seed in (1, 1, 2, 1, 3)]


def test_a_corpus_without_urls_is_named_by_its_ids(run, tmp_path) -> None:
    rows = [row(body, "", id=f"pages/{n}.html") for n, body in enumerate(BODIES[:2])]
    for form in ("corpus.jsonl", "corpus.parquet"):
        (pair,) = run("pairs", write_corpus(tmp_path, form, *rows).name).lines
        assert (pair["a"], pair["b"]) == ("pages/0.html", "pages/1.html")


@pytest.mark.parametrize("command", ["fingerprint", "replay", "pairs"])
def test_without_a_package_a_folder_gives_its_other_pages(
    run, tmp_path, environment, command: str
) -> None:
    warcs(tmp_path)
    (tmp_path / "crawl/a.html").write_bytes(BODIES[0])
    (tmp_path / "crawl/b.html").write_bytes(BODIES[1])
    (tmp_path / "fastwarc.py").write_text("raise ImportError")
    result = run(command, "crawl", PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}")
    assert result.status == 1
    assert len(result.lines) == (1 if command == "pairs" else 2)
    assert (
        "crawl: 5 files can't be read: reading WARC files needs fastwarc: pip install "
        "'simhash-gate[warc]'\ncrawl: 2 HTML files, 5 other files not read\n"
    ) in result.err


def test_the_log_of_a_crawl_among_its_pages_is_no_page(run, tmp_path) -> None:
    warcs(tmp_path)
    (tmp_path / "crawl/verdicts.jsonl").write_text(run("replay", "crawl").out)
    for command, number in (("replay", 5), ("pairs", 3)):
        result = run(command, "crawl")
        assert result.status == 0
        assert len(result.lines) == number
        assert "crawl: 5 WARC files, 1 other file not read\n" in result.err
    (tmp_path / "logs").mkdir()
    (tmp_path / "crawl/verdicts.jsonl").rename(tmp_path / "logs/verdicts.jsonl")
    result = run("pairs", "logs")
    assert len(result.lines) == 3
    assert result.err.startswith("logs: 1 JSON Lines file\n")

"""Every command reads every source, several at once, and finds the same pages in each."""

import gzip
import zipfile
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from simhash_gate.stores import Record, open_store
from tests.crawls.harness import page
from tests.offline.command import write_lines
from tests.offline.test_replay_warc import record
from tests.sources.corpora import FORMS, row, write_corpus

URLS = [f"https://example.com/{name}" for name in ("a", "copy", "b", "late-copy", "c")]
BODIES = [page(seed, noise=noise).body for seed, noise in ((1, 0), (1, 2), (2, 0), (1, 5), (3, 0))]
KEPT = [URLS[0], URLS[2], URLS[4]]
PAIRS = [(0, 1), (0, 3), (1, 3)]
PAGES = list(zip(URLS, BODIES, strict=True))
BITS = [7, 6, 255 << 40, 5, 255 << 56]
"""Fingerprints of such pages."""


def manifest(folder: Path) -> str:
    lines = []
    for number, (url, body) in enumerate(PAGES):
        (folder / f"{number}.html").write_bytes(body)
        lines.append({"path": f"{number}.html", "url": url})
    return write_lines(folder / "manifest.jsonl", lines)


def jsonl(folder: Path) -> str:
    lines = [{"html": body.decode(), "url": url} for url, body in PAGES]
    return write_lines(folder / "pages.jsonl", lines)


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
    return "crawl.wacz"


def parquet(folder: Path) -> str:
    pa.parquet.write_table(pa.table({"html": BODIES, "url": URLS}), folder / "pages.parquet")
    return "pages.parquet"


@pytest.mark.parametrize("source", [manifest, jsonl, warc, warcs, wacz, parquet])
def test_the_same_pages_are_kept_from_every_kind_of_source(run, tmp_path, source) -> None:
    name = source(tmp_path)
    result = run("replay", name)
    assert result.status == 0
    assert [line["url"] for line in result.lines if not line["dropped"]] == KEPT
    assert result.column("matched_url") == [None, URLS[0], None, URLS[0], None]
    expected = run("fingerprint", manifest(tmp_path)).column("fingerprint")
    assert result.column("fingerprint") == expected
    if source not in (manifest, parquet):  # pages of a manifest are named by their paths
        pairs = run("pairs", name)
        assert pairs.status == 0
        assert [*pairs.lines[0]] == ["a", "b", "distance", "a_title", "b_title"]
        assert [(line["a"], line["b"]) for line in pairs.lines] == [
            (URLS[one], URLS[other]) for one, other in PAIRS
        ]


def parquet_of_numbers(folder: Path) -> str:
    numbers = pa.array([bits - (bits >> 63 << 64) for bits in BITS], pa.int64())
    pa.parquet.write_table(pa.table({"fingerprint": numbers, "url": URLS}), folder / "n.parquet")
    return "n.parquet"


def store(folder: Path) -> str:
    fill_store(f"sqlite:///{folder}/kept.sqlite", *zip(URLS, BITS, ["v"] * 5, strict=True))
    return f"sqlite:///{folder}/kept.sqlite"


def fill_store(store_url: str, *pages: tuple[str, int, str]) -> None:
    with closing(open_store(store_url)) as opened:
        opened.begin("monday")
        for url, bits, version in pages:
            kept = Record("example.com", url, url, bits, bits, 90, "Title", version, "monday", 1, 1)
            opened.check_and_add(kept, None)
        opened.end("monday")


@pytest.mark.parametrize("source", [parquet_of_numbers, store])
def test_pairs_are_found_where_only_fingerprints_are_known(run, tmp_path, source) -> None:
    result = run("pairs", source(tmp_path))
    assert (result.status, len(result.lines)) == (0, 3)
    assert {(line["a"], line["b"]) for line in result.lines} == {
        (URLS[one], URLS[other]) for one, other in PAIRS
    }


def test_what_commands_print_is_a_source(run, tmp_path) -> None:
    for name, command in (
        ("prints.jsonl", ["fingerprint", manifest(tmp_path)]),
        ("list.jsonl", ["store", "list", store(tmp_path)]),
    ):
        (tmp_path / name).write_text(run(*command).out)
        assert len(run("pairs", name).lines) == 3


def prints(folder: Path) -> str:
    lines = [
        {"url": url, "fingerprint": f"{bits:016x}"} for url, bits in zip(URLS, BITS, strict=True)
    ]
    return write_lines(folder / "prints.jsonl", lines)


def numbers(folder: Path) -> str:
    (folder / "list.txt").write_text("".join(f"{bits:016x}\n" for bits in BITS))
    return "list.txt"


@pytest.mark.parametrize("source", [jsonl, warc, prints, numbers])
def test_stdin_is_taken_for_what_it_is_and_nothing_of_it_is_lost(
    run_with_input, tmp_path, source
) -> None:
    given = (tmp_path / source(tmp_path)).read_bytes()
    result = run_with_input(given, "pairs", "-", "--progress")
    assert (result.status, len(result.lines)) == (0, 3), result.err
    page = run_with_input(BODIES[0], "fingerprint", "-").lines
    assert page[0]["title"] == "Story 1"
    assert run_with_input(b"PAR1", "pairs", "-").err.endswith("Name the file\n")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["replay"], "pages: 5 (3 new, 2 duplicate)"),
        (["fingerprint"], ""),
        (["pairs"], "pages: 5, pairs: 3"),
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
    assert {line["a"] for line in run("pairs", *names).lines} == {"0.html", "1.html"}


@pytest.mark.parametrize("form", FORMS)
def test_a_corpus_gives_its_fingerprints_and_its_markdown(run, tmp_path, form: str) -> None:
    rows = [row(body, url) for url, body in PAGES]
    for number in (1, 3):  # which tells that it is not computed again
        rows[number] |= {"fingerprint": f"{0xFF + number:016x}", "title": "Its title"}
    write_corpus(tmp_path, form, *rows)
    (pair,) = run("pairs", form).lines
    assert pair == {
        "a": URLS[1], "b": URLS[3], "distance": 1, "a_title": "Its title", "b_title": "Its title"
    }  # fmt: skip
    result = run("replay", form, "-s", "SIMHASH_GATE_VERIFY=0")
    assert result.status == 0
    assert [line["url"] for line in result.lines if not line["dropped"]] == KEPT
    assert result.column("title") == [*("Story 1", "Its title", "Story 2", "Its title", "Story 3")]


def test_the_log_of_a_crawl_among_its_pages_is_no_page(run, tmp_path) -> None:
    warcs(tmp_path)
    verdicts = run("replay", "crawl").out
    others = '{"crawl_note": {}}\n{"kind": "history", "scope": "", "data": ""}\n'
    (tmp_path / "crawl/verdicts.jsonl").write_text(verdicts + others)
    for command, number in (("replay", 5), ("pairs", 3)):
        result = run(command, "crawl")
        assert result.status == 0
        assert len(result.lines) == number
        assert "crawl: 5 WARC files, 1 other file not read (verdicts.jsonl)\n" in result.err
    (tmp_path / "logs").mkdir()
    (tmp_path / "crawl/verdicts.jsonl").rename(tmp_path / "logs/verdicts.jsonl")
    result = run("pairs", "logs")
    assert len(result.lines) == 3
    assert result.err.startswith("logs: 1 JSON Lines file\n")
    (tmp_path / "logs/a.png").write_bytes(b"")
    assert "logs: 1 JSON Lines file, 1 other file not read (a.png)\n" in run("pairs", "logs").err

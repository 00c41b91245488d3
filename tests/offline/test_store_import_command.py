"""`simhash-gate store import`: archives, corpora and other stores become pages of a store."""

from __future__ import annotations

import json
import os
import signal
import subprocess

import pytest

from simhash_gate.offline.exported import page_line
from simhash_gate.sources import request_fingerprint
from tests.crawls.harness import page, until
from tests.offline.kept_pages import record, remembered
from tests.offline.test_replay_warc import record as warc_record
from tests.sources.corpora import row, write_corpus

A, B, COPY = (f"https://example.com/{name}" for name in ("a", "b", "copy"))


@pytest.fixture
def archive(tmp_path):
    """A WARC file of 2020: two pages, a copy of one, an image, and one that is cut off."""
    records = [
        warc_record(page(1).body, url=A, WARC_Date="2020-06-01T00:00:00Z"),
        warc_record(b"GIF89a", "Content-Type: image/gif", url=f"{A}.gif"),
        warc_record(page(1, noise=3).body, url=COPY, WARC_Date="2020-06-01T00:00:01Z"),
        warc_record(page(2).body, url=B, WARC_Date="2020-06-02T12:00:00Z"),
    ]
    path = tmp_path / "archive.warc"
    path.write_bytes(b"".join(records))
    return path


def test_an_archive_leaves_what_a_crawl_would_have_kept(run, url, archive) -> None:
    result = run("store", "import", url, archive)
    assert (result.status, result.out) == (0, "")
    assert result.err == "pages added: 2, copies: 1, skipped: 1\n"
    first, second = remembered(url)
    assert (first.url, first.scope, first.settled) == (A, "example.com", True)
    assert first.request == request_fingerprint(A)
    assert (first.first_seen, first.last_seen) == (1590969600.0, 1590969600.0)
    assert (second.url, second.first_seen) == (B, 1591099200.0)
    again = run("store", "import", url, archive)
    assert again.err == "pages added: 0, copies: 3, skipped: 1\n"


def test_a_corpus_of_another_version_is_read_again(run, url, tmp_path) -> None:
    rows = [
        row(page(1).body, A, fingerprint="0" * 16, words=7, pipeline="of 2020"),
        row(page(2).body, B),
    ]
    result = run("store", "import", url, write_corpus(tmp_path, "corpus.jsonl", *rows))
    assert "1 page of another pipeline version: " in result.err
    old, new = remembered(url)
    expected = row(page(1).body, A)
    assert (f"{old.fingerprint:016x}", old.words) == (expected["fingerprint"], expected["words"])
    assert old.pipeline == new.pipeline


def test_pages_that_a_crawl_would_forget_are_added_and_told(run, url, archive, manifest) -> None:
    pages = [
        {"url": f"https://{site}.org/{n}", "html": page(n).body.decode()}
        for site, n in [("a", 11), ("b", 14), ("a", 12), ("a", 13), ("b", 15)]
    ]
    bounds = ("-s", "SIMHASH_GATE_WINDOW=2", "-s", "SIMHASH_GATE_TTL=864000")
    result = run("store", "import", url, archive, manifest(*pages), *bounds)
    assert result.status == 0
    assert len(remembered(url)) == 7
    assert "a.org: more than 2 pages. A crawl compares with the last 2" in result.err
    assert "b.org" not in result.err
    assert "2 pages last seen longer ago than SIMHASH_GATE_TTL" in result.err
    later = run("store", "import", f"{url}2", archive, "-s", "SIMHASH_GATE_TTL=0.5")
    assert "pages added: 3, copies: 0" in later.err  # each was too old for the next


def test_what_cannot_be_read_is_named_and_the_rest_added(run, url, archive, manifest) -> None:
    archive.write_bytes(archive.read_bytes()[:-400])
    lines = manifest("no json", {"html": "<p>no url</p>" * 20},
                     {"url": "https://a.org/", "html": page(7).body.decode()})  # fmt: skip
    result = run("store", "import", url, "missing.warc", archive, lines, "sqlite:///a.sqlite")
    assert result.status == 1
    assert "a store has no pages to read" in result.err
    assert "missing.warc: No such file or directory\n" in result.err
    assert f"{archive}, record 4: cut off" in result.err
    assert f"{lines}:1: not JSON" in result.err
    assert f"{lines}:2: no URL" in result.err
    assert "pages added: 2, copies: 1, skipped: 1\n" in result.err
    assert result.err.endswith("inputs that could not be used: 5\n")


def test_pages_with_one_fingerprint_are_all_moved_also_from_an_earlier_version(
    run_with_input, url
) -> None:
    pages = [record(number, fingerprint=7, digest=7, scope="a.example") for number in range(9)]
    lines = [page_line(page) for page in [*pages, pages[3]]]
    for line in lines:
        del line["run"], line["settled"]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    result = run_with_input(text, "store", "import", url)
    assert (result.status, result.err) == (0, "pages added: 9, copies: 1, skipped: 0\n")
    assert [page.url for page in remembered(url)] == [page.url for page in pages]


def test_an_import_that_is_interrupted_counts_for_nothing(url, tmp_path, start) -> None:
    process = start("store", "import", url, stdin=subprocess.PIPE, text=True)
    try:
        lines = (json.dumps(page_line(record(0, request=f"{n:x}"))) for n in range(600))
        process.stdin.write("\n".join(lines))
        process.stdin.flush()
        until((tmp_path / "pages.sqlite").exists)
        until(lambda: len(remembered(url)) >= 200)
        os.kill(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert said.rstrip() == "the import did not end: none of its pages count"
    assert remembered(url) == []

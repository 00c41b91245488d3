"""`simhash-gate store import`: archives, corpora and other stores become pages of a store."""

import base64
import json
import os
import signal
import subprocess
import time
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from simhash_gate.history.versions import History, Version
from simhash_gate.identity.keys import key_of
from simhash_gate.offline.exported import KINDS, blob_line, page_line
from simhash_gate.options import READABILITY
from simhash_gate.stores import open_store
from simhash_gate.stores.base import HISTORY, SITE_MEMORY, SITE_NOTES
from simhash_gate.stores.histories import PageHistory, history_in
from tests.crawls.harness import Site, crawl, html_answer, page, until
from tests.crawls.test_redesigns import rebuilt
from tests.offline.kept_pages import record, remembered
from tests.offline.test_replay_warc import record as warc_record
from tests.sources.corpora import FORMS, row, write_corpus
from tests.sources.test_wacz import wacz
from tests.stores.kept import histories, keep
from tests.stores.store_urls import LASTING, url_maker

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
    assert first.key == key_of(A)
    assert (first.first_seen, first.last_seen) == (1590969600.0, 1590969600.0)
    assert (second.url, second.first_seen) == (B, 1591099200.0)
    again = run("store", "import", url, archive)
    assert again.err == "pages added: 0, copies: 3, skipped: 1\n"


def test_a_corpus_is_added_with_its_fingerprints(run, url, tmp_path) -> None:
    rows = [row(page(n).body, f"https://example.com/{n}") for n in range(3)]
    rows[1] |= {"fingerprint": "0123456789abcdef", "words": 7}
    for form in FORMS:
        path = write_corpus(tmp_path, form, *rows)
        result = run("store", "import", f"{url}.{form}", path)
        assert result.status == 0
        assert result.err.endswith("pages added: 3, copies: 0, skipped: 0\n")
        kept = remembered(f"{url}.{form}")
        assert [f"{page.fingerprint:016x}" for page in kept] == [row["fingerprint"] for row in rows]
        assert [(page.url, page.title, page.words) for page in kept] == [
            (row["url"], row["title"], row["words"]) for row in rows
        ]
        assert all(abs(page.first_seen - time.time()) < 600 for page in kept)


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


def test_sources_of_all_kinds_are_told_apart(run, url, archive, tmp_path, write, manifest) -> None:
    write("mirror/example.org/a.html", 11)
    (tmp_path / "named.html").write_bytes(
        page(12).body.replace(b"</head>", b'<link rel=canonical href="https://x.org/12"></head>')
    )
    manifest({"url": "https://y.org/13", "html": page(13).body.decode(), "time": 86_400})
    exported = tmp_path / "exported.jsonl"
    exported.write_text(json.dumps(page_line(record(15))))
    inside = warc_record(page(17).body, url="https://z.org/17", WARC_Date="2019-01-01T00:00:00Z")
    (tmp_path / "crawl.wacz").write_bytes(wacz({"archive/data.warc": inside}))
    began = time.time()
    result = run("store", "import", url, archive, "mirror", "named.html", "manifest.jsonl",
                 exported, "crawl.wacz")  # fmt: skip
    assert result.status == 0
    assert "pages added: 7, copies: 1, skipped: 1\n" in result.err
    kept = {page.url: page for page in remembered(url)}
    assert [*kept] == [
        A, B, "https://example.org/a.html", "https://x.org/12", "https://y.org/13",
        record(15).url, "https://z.org/17",
    ]  # fmt: skip
    assert kept["https://y.org/13"].first_seen == 86_400
    assert kept["https://z.org/17"].first_seen == 1_546_300_800
    assert kept["https://x.org/12"].first_seen >= began  # the time of a file is no capture
    assert len({page.run for page in kept.values()}) == 1


def test_the_settings_are_those_of_the_crawl(run, url, archive) -> None:
    options = ("SCOPE=host", "THRESHOLD=0", "VERIFY=0", f"EXTRACTOR={READABILITY}")
    settings = [part for option in options for part in ("-s", f"SIMHASH_GATE_{option}")]
    assert run("store", "import", url, archive).status == 0
    assert run("store", "import", url, archive, *settings).status == 0
    first, *_, last = remembered(url)
    assert first.pipeline != last.pipeline
    assert first.sketch != last.sketch == b""


def test_no_window_bounds_an_import_and_a_crawl_that_would_is_told(run, url, manifest) -> None:
    pages = [
        {"url": f"https://{site}.org/{n}", "html": page(n).body.decode()}
        for site, n in [("a", 1), ("b", 4), ("a", 2), ("a", 3), ("b", 5)]
    ]
    path = manifest(*pages)
    result = run("store", "import", url, path, "-s", "SIMHASH_GATE_WINDOW=2")
    assert result.status == 0
    assert len(remembered(url)) == 5
    assert "a.org: more than 2 pages. A crawl compares with the last 2" in result.err
    assert "b.org" not in result.err
    assert "more than" not in run("store", "import", url, path).err


def test_pages_that_are_too_old_for_a_crawl_are_told(run, url, archive, manifest) -> None:
    new = manifest({"url": "https://a.org/", "html": page(7).body.decode()})
    result = run("store", "import", url, archive, new, "-s", "SIMHASH_GATE_TTL=864000")
    assert "2 pages last seen longer ago than SIMHASH_GATE_TTL" in result.err
    assert len(remembered(url)) == 3
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
        lines = (json.dumps(page_line(record(0, key=f"{n:x}"))) for n in range(600))
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


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_two_histories_that_are_imported_the_one_with_the_later_visit_counts(
    run_with_input, url, order
) -> None:
    page = record(0)
    versions = [Version(at, at, 7, 7, 9, "Title", "run") for at in (1e9, 2e9)]
    kept = [
        PageHistory(page.scope, page.key, page.url, "", it.last_seen, History((it,)).encode())
        for it in versions
    ]
    for number in order:
        line = json.dumps(blob_line(kept[number].blob))
        result = run_with_input(line, "store", "import", url)
        assert (result.status, result.err.splitlines()[-1]) == (0, "histories added: 1")
    with closing(open_store(url)) as store:
        (its,) = histories(store)
    assert (its.seen, History.decode(its.history).versions) == (2e9, (versions[1],))


def test_all_processes_read_the_same(run, url, manifest) -> None:
    pages = [{"url": f"{A}{n}", "html": page(n % 10, noise=n).body.decode()} for n in range(30)]
    path = manifest(*pages)
    kept = []
    for workers in (0, 2):
        target = f"{url}{workers}"
        own = ("--progress", "-s", f"SIMHASH_GATE_WORKERS={workers}")
        result = run("store", "import", target, path, *own)
        assert result.status == 0
        assert "30/30" in result.err  # of the bar
        kept.append([replace(p, run="", first_seen=0.0, last_seen=0.0) for p in remembered(target)])
    assert kept[0] == kept[1]
    assert len(kept[0]) == 10


MOVED = {
    "CONCURRENT_REQUESTS": 1,
    "SIMHASH_GATE_KEEP_MARKDOWN": 2**20,
    "SIMHASH_GATE_VERDICTS": "verdicts.jsonl",
}
SAID = ("url", "outcome", "distance", "matched_url", "differs", "dropped", "held")


@pytest.mark.slow
def test_a_store_that_was_moved_from_kind_to_kind_gives_the_same_verdicts(
    run, run_with_input, request, tmp_path
) -> None:
    """The articles of a site come again in a new template, changed, and as copies."""

    def crawled(url):
        settings = {**MOVED, "SIMHASH_GATE_STORE": url}
        result = crawl(tmp_path, site, "/list", spider=FOLLOWS, settings=settings)
        assert result.status == 0
        lines = (tmp_path / "verdicts.jsonl").read_text("utf-8").splitlines()
        return [tuple(json.loads(line).get(name) for name in SAID) for line in lines]

    def exported(url):
        lines = [{**line, "run": ""} for line in run("store", "export", url).lines]
        for line in lines:
            if line.get("kind") == SITE_MEMORY:  # the names of a sentence have no order
                line["data"] = sorted(base64.b64decode(line["data"]))
            if line.get("kind") == HISTORY:
                history = History.decode(history_in(base64.b64decode(line["data"])))
                line["data"] = [repr(replace(v, run="")) for v in history.versions]
        return sorted(json.dumps(line, sort_keys=True) for line in lines)

    urls = [url_maker(request, kind.values[0])(tmp_path) for kind in LASTING]
    url = urls[0]
    routes: dict[str, Any] = {path: signed(answer) for path, answer in stories(24).items()}
    routes["/list"] = listing(routes)
    with Site(routes).running() as site:
        crawled(url)
        routes |= {f"/story/{number}": signed(rebuilt(number)) for number in range(24)}
        crawled(url)
        with closing(open_store(url)) as store:
            keep(store, SITE_NOTES, "127.0.0.1", json.dumps({"redesign": {"a.b": 1.0}}).encode())
        everything = exported(url)
        assert {json.loads(line).get("kind") for line in everything} == {None, *KINDS}
        routes |= {f"/story/{number}": signed(rebuilt(100 + number)) for number in range(3)}
        routes |= {f"/copy/{number}": signed(rebuilt(number)) for number in range(3, 6)}
        routes |= {"/story/99": page(99), "/story/99?came=mail99": page(99)}
        routes["/list"] = listing(path for path in routes if path != "/list")
        for here, there in pairwise(urls):
            text = run("store", "export", here).out
            assert run_with_input(text, "store", "import", there).status == 0
            assert exported(there) == everything
        verdicts = [crawled(each) for each in urls]
    assert {verdict[1] for verdict in verdicts[0]} >= {"new", "duplicate", "unchanged", "rewritten"}
    assert verdicts[1:] == [verdicts[0]] * 2


FOLLOWS = """
    def parse(self, response):
        if response.url.endswith("/list"):
            for link in response.css("a::attr(href)").getall():
                yield self.request(link)
            return
        yield from super().parse(response)
"""


def listing(paths):
    """Return a page that leads to some paths, in the order in which they are to be fetched."""
    last_first = reversed(list(paths))  # Scrapy sends the last request first
    links = "".join(f'<li><a href="{path}">{path}</a></li>' for path in last_first)
    return html_answer(f"<html><head><title>All</title></head><body><ul>{links}</ul></body></html>")


def stories(count: int) -> dict:
    """Return articles under `/story/N` and two other URLs each."""
    ends = ("", "?came=mail{0}", "?came=feed{0}")
    return {
        f"/story/{number}" + end.format(number): page(number, noise=number * bool(end))
        for number in range(count)
        for end in ends
    }


def signed(answer):
    """Return a page with a sentence that all pages of the site have."""
    sentence = b"<p>Every story of this valley is told by the beekeepers themselves.</p><p>"
    return replace(answer, body=answer.body.replace(b"<p>", sentence, 1))

"""Sources of every kind, several at once, and what is said of folders."""

import gzip
import json
import os
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from simhash_gate.journal.warc import warcinfo
from simhash_gate.sources.open import open_pages
from tests.journal.pages import packed
from tests.sources.opened import html, opened, warc_of, write_warc
from tests.sources.test_wacz import wacz

URL = "https://example.com/"
NOON = 1717243200.0  # of 1 June 2024
SKIPS = "no page in this folder: no file in it ends in .html"


def test_a_folder_may_mix_kinds_and_says_what_it_is_taken_for(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    html(folder, "b.html", "sub/e.htm", "sub/?page=2.html", "sub/1?print=1.html")  # as wget -E
    write_warc(folder / "a.warc.gz", URL + "1", URL + "2")
    (folder / "c.txt").write_text("Some words.")
    (folder / "d.jsonl").write_text(json.dumps({"url": URL + "4", "html": "<p>word"}) + "\n")
    (folder / "prints.jsonl").write_text('{"url": "u", "fingerprint": "0123456789abcdef"}\n')
    (folder / "dropped-20240601T120000000000Z-0badcafe.warc.gz").write_bytes(
        warcinfo() + packed(1)  # of the gate's own journal
    )
    (folder / "e.WACZ").write_bytes(wacz({"archive/a.warc.gz": warc_of(URL + "5")}))
    (folder / "logo.png").write_bytes(b"\x89PNG")
    for name, column in (("f", "text"), ("prints", "bits")):
        pq.write_table(pa.table({column: ["words"]}), folder / f"{name}.parquet")
    found = opened(folder)
    assert [entry.url or entry.path for entry in found.entries] == [
        *(URL + "1", URL + "2", f"{folder}/b.html", f"{folder}/c.txt", URL + "4"),
        *("https://hive.example/1", URL + "5", f"{folder}/f.parquet, row 1"),
        *(f"{folder}/sub/{name}" for name in ("1?print=1.html", "?page=2.html", "e.htm")),
    ]
    assert found.complaints == []
    assert found.said == [
        f"{folder}: 4 HTML files, 1 text file, 2 WARC files, 1 WACZ file, 1 JSON Lines file, "
        "1 Parquet file, 3 other files not read (logo.png, prints.jsonl, prints.parquet)"
    ]


def test_sources_come_as_named_whatever_their_names_and_are_counted_ahead_where_that_is_cheap(
    tmp_path: Path,
) -> None:
    html(tmp_path, "pages/a.html", "pages/b.html", "page.php")
    (tmp_path / "d.jsonl").write_text('{"text": "a"}\n\n{"text": "b"}\n')
    (tmp_path / "plain").write_bytes(gzip.decompress(warc_of(URL)))
    (tmp_path / "download").write_bytes(wacz({"archive/a.warc.gz": warc_of(URL + "wacz")}))
    assert opened(tmp_path / "pages", tmp_path / "page.php", tmp_path / "d.jsonl").total == 5
    names = ("page.php", "plain", "download", "pages")
    found = opened(*(tmp_path / name for name in names))
    assert found.total is None
    assert [entry.name.removeprefix(f"{tmp_path}/") for entry in found.entries] == [
        *("page.php", URL, URL + "wacz", "pages/a.html", "pages/b.html")
    ]
    assert found.said == [f"{tmp_path}/pages: 2 HTML files"]
    assert found.complaints == []


def test_an_archive_and_a_line_know_when_a_page_was_captured(tmp_path: Path) -> None:
    write_warc(tmp_path / "a.warc.gz", URL, WARC_Date="2024-06-01T12:00:00.250Z")
    write_warc(tmp_path / "b.warc.gz", URL, WARC_Date="last summer")
    html(tmp_path, "c.html")
    lines = [
        ({"time": NOON}, NOON),
        ({"date": "2024-06-01T12:00:00Z"}, NOON),
        ({"date": "2024-06-01", "pipeline": "9c1f"}, None),  # that of a corpus: the page says it
        ({"time": "noon"}, None),
    ]
    (tmp_path / "d.jsonl").write_text(
        "".join(json.dumps({"html": "<p>word", **line}) + "\n" for line, _ in lines)
    )
    found = opened(*(tmp_path / name for name in ("a.warc.gz", "b.warc.gz", "c.html", "d.jsonl")))
    assert [entry.time for entry in found.entries] == [
        *(NOON + 0.25, None, None),
        *(time for _, time in lines),
    ]


def test_an_archive_has_pages_without_headers(tmp_path: Path) -> None:
    head = "WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: {}\r\nContent-Type: text/html"
    blocks = [
        f"{head.format(url)}; charset=koi8\r\nContent-Length: 6\r\n\r\n".encode()
        + b"<p>\xf0\xde\xc5\r\n\r\n"
        for url in (URL, "urn:pageinfo:x")
    ]
    (tmp_path / "a.warc").write_bytes(b"".join(blocks))
    (entry,) = opened(tmp_path / "a.warc").entries
    assert (entry.url, entry.body, entry.encoding) == (URL, b"<p>\xf0\xde\xc5", "koi8")


def test_a_page_of_html_has_the_url_that_it_or_its_path_tells(tmp_path: Path) -> None:
    canonical = '<link rel="canonical" href="https://me:secret@example.com/a">'
    html(tmp_path / "m", "example.org/b.html", "c.html")
    html(tmp_path / "m", "a.html", head=canonical)
    (tmp_path / "m.jsonl").write_text(
        '{"path": "m/a.html", "url": "https://example.com/named"}\n{"path": "m/a.html"}\n'
    )
    found = {entry.path: entry for entry in opened(tmp_path / "m").entries}
    assert {path.rpartition("/")[2]: entry.url for path, entry in found.items()} == {
        "a.html": "https://example.com/a",
        "b.html": "https://example.org/b.html",
        "c.html": "",
    }
    # Several pages may claim one URL: it is the path that tells them apart.
    assert [entry.own_name for entry in found.values()] == [*found]
    named, guessed = opened(tmp_path / "m.jsonl").entries
    assert (named.url, named.own_name) == ("https://example.com/named",) * 2
    assert (guessed.url, guessed.own_name) == ("https://example.com/a", "m/a.html")


def test_pages_that_a_manifest_or_another_source_names_too_are_read_once(tmp_path: Path) -> None:
    site = tmp_path / "site"
    html(site, "pages/a.html", "pages/b.html", "pages/c.html")
    write_warc(site / "z.warc.gz", URL + "z")
    lines = [{"path": f"pages/./{n}.html", "url": URL + n, "text": "other"} for n in "ab"]
    (site / "pages.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = opened(site, site / "z.warc.gz", site / "pages/c.html")
    assert [entry.name for entry in found.entries] == [
        *(URL + "a", URL + "b", URL + "z", f"{site}/pages/c.html")
    ]
    assert found.entries[0].body == (site / "pages/a.html").read_bytes()
    assert found.said[0].startswith("sources named more than once are read once: ")


# What can't be used is named with its place; the rest goes on.


def test_what_is_missing_empty_too_large_or_no_page_is_named_and_the_rest_is_read(
    tmp_path: Path,
) -> None:
    html(tmp_path, "a.html")
    (tmp_path / "bare").mkdir()
    (tmp_path / "empty.html").touch()
    (tmp_path / "empty.warc.gz").touch()
    (tmp_path / "broken.html").symlink_to("nowhere")
    (tmp_path / "loop.html").symlink_to("loop.html")
    (tmp_path / "text.warc").write_text("Not an archive.\n" * 50)
    (tmp_path / "packed.warc").write_bytes(b"\x1f\x8b garbage")
    large = ["large.html", "large.txt", "large.md", "large.jsonl"]
    for name in large:
        (tmp_path / name).write_text(json.dumps({"text": "word " * 20_001}))
    names = "bare empty.html empty.warc.gz broken.html loop.html text.warc packed.warc nowhere.wacz"
    found = opened(*(tmp_path / name for name in [*names.split(), "a.html", *large]))
    empty, page, *skipped = found.entries
    assert [empty.path, page.path] == [f"{tmp_path}/{name}.html" for name in ("empty", "a")]
    assert [(entry.skipped, entry.body) for entry in skipped] == [("too large", b"")] * 4
    told = {place.rpartition("/")[2]: message for place, message in found.complaints}
    assert told.pop("bare").startswith(SKIPS)
    assert told == {
        "empty.warc.gz": "no WARC record in it",
        "broken.html": "No such file or directory",
        "loop.html": "Too many levels of symbolic links",
        "text.warc": "Invalid WARC header; nothing after this can be read",
        "packed.warc": "cut off, or damaged, after this: Unknown compression method",
        "nowhere.wacz": "No such file or directory",
    }


def test_a_folder_that_links_to_itself_or_may_not_be_read_ends_and_a_pipe_is_not_waited_for(
    without_root: Path,
) -> None:
    crawl = without_root / "crawl"
    html(crawl, "a.html", "closed/c.html", "sub/b.html")
    (crawl / "sub/again").symlink_to("..")
    (crawl / "self").symlink_to(".")
    os.mkfifo(crawl / "pipe.html")
    (crawl / "closed").chmod(0)
    found = opened(crawl)
    (crawl / "closed").chmod(0o700)
    assert [entry.path for entry in found.entries] == [f"{crawl}/a.html", f"{crawl}/sub/b.html"]
    assert sorted(found.complaints) == [
        (f"{crawl}/closed", "Permission denied"),
        (f"{crawl}/pipe.html", "no ordinary file"),
    ]


def test_a_file_that_goes_while_others_are_read_is_named(tmp_path: Path) -> None:
    html(tmp_path / "crawl", "a.html", "b.html", "c/d.html")
    told: list[str] = []
    source = open_pages([f"{tmp_path}/crawl"], lambda p, m: told.append(p), 10_000, told.append)
    first = next(source.entries)
    (tmp_path / "crawl/b.html").unlink()
    shutil.rmtree(tmp_path / "crawl/c")
    assert [entry.path for entry in (first, *source.entries)] == [f"{tmp_path}/crawl/a.html"]
    assert told == [
        *(f"{tmp_path}/crawl: 3 HTML files", f"{tmp_path}/crawl/b.html", f"{tmp_path}/crawl/c")
    ]

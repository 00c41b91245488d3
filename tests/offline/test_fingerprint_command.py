"""`simhash-gate fingerprint`: a line for each file, in order."""

from __future__ import annotations

import json
import os
import sys

import pytest

from simhash_gate import read_page
from tests.crawls.harness import text


def test_a_line_says_what_the_pipeline_says(run, write) -> None:
    path = write("a.html", 1)
    page = read_page(path.read_bytes())
    result = run("fingerprint", "a.html")
    assert result.status == 0
    assert result.lines == [
        {
            "path": "a.html",
            "fingerprint": f"{page.fingerprint:016x}",
            "title": page.title,
            "words": page.words,
            "names": [text(1, 5), "Story 1"],
            "offered": {},
        }
    ]


def test_a_line_says_what_the_page_claims(run, write_named, tmp_path) -> None:
    write_named("a.html", "Apple jam", price="9.00 €")
    (tmp_path / "empty.html").write_bytes(b"")
    (tmp_path / "large.html").write_bytes(b"<p>word" * 1000)
    names = ("a.html", "empty.html", "large.html")
    large = ("-s", "SIMHASH_GATE_MAX_BYTES=1000")
    found = run("fingerprint", *names, "-s", "SIMHASH_GATE_COMPARE=.price", *large)
    assert found.column("names") == [["Apple jam"], [], []]
    assert found.column("offered") == [{"shown price": "9.00 EUR"}, {}, {}]
    assert found.column("fields") == [{".price": "9.00 €"}, {}, {}]


def test_a_page_without_text_has_a_reason_and_is_no_error(run, tmp_path) -> None:
    (tmp_path / "empty.html").write_bytes(b"")
    (tmp_path / "large.html").write_bytes(b"<p>word" * 100)
    result = run("fingerprint", "empty.html", "large.html", "-s", "SIMHASH_GATE_MAX_BYTES=100")
    assert result.status == 0
    assert result.err == ""
    assert result.column("fingerprint") == [None, None]
    assert result.column("reason") == ["empty page", "too large"]


@pytest.mark.parametrize("workers", [0, 2])
def test_the_text_is_what_the_markdown_says_without_its_marks(run, tmp_path, workers) -> None:
    (tmp_path / "a.html").write_text(
        "<nav><a href=/>Home</a></nav><article><h1>Bees &amp; C*</h1>"
        "<p>A <b>bee</b> <a href=/b>lives</a>\n here.<img src=a.png alt=Bee>"
        "<pre>\ndef f():\n\n  return<br>\n<span>1</span>\n</pre><ul><li>one<li>two</ul>"
        "<table><tr><th>a<th>b<tr><td>3<td>4  5</table>",
        encoding="utf-8",
    )
    (tmp_path / "empty.html").write_bytes(b"")
    (tmp_path / "large.html").write_bytes(b"<p>word" * 1000)
    settings = [f"SIMHASH_GATE_WORKERS={workers}", "SIMHASH_GATE_MAX_BYTES=1000"]
    assigned = [part for setting in settings for part in ("-s", setting)]
    result = run("fingerprint", "--text", "a.html", "empty.html", "large.html", *assigned)
    assert result.column("text")[0].splitlines() == [
        *("Bees & C*", "A bee lives here.", "def f():", "", "  return", "", "1"),
        *("one", "two", "a", "b", "3", "4 5"),
    ]
    assert result.column("text")[1:] == ["", ""]
    assert result.column("title") == ["Bees & C*", "", ""]


def test_the_order_is_kept_however_long_a_page_takes(run, write) -> None:
    write("slow.html", 0, words=60_000)
    names = ["slow.html", *(f"{n}.html" for n in range(40))]
    for n in range(40):
        write(f"{n}.html", n, words=30)
    result = run("fingerprint", *names, "-s", "SIMHASH_GATE_WORKERS=2")
    assert result.column("path") == names


def test_folders_are_searched_for_pages_by_name(run, write) -> None:
    for name in ("site/b.htm", "site/a.html", "site/sub/c.XHTML", "site/d.txt", "e.data"):
        write(name, 1)
    result = run("fingerprint", "site", "e.data")
    assert result.column("path") == [
        *("site/a.html", "site/b.htm", "site/d.txt", "site/sub/c.XHTML", "e.data")
    ]
    assert result.err == "site: 3 HTML files, 1 text file\n"


def test_a_manifest_is_relative_to_its_folder_and_its_ids_come_back(run, write, manifest) -> None:
    write("pages/a.html", 1)
    path = manifest(
        {"path": "a.html", "id": {"any": ["value"]}, "url": "http://example.com/"},
        "",
        {"path": "a.html"},
        name="pages/m.jsonl",
    )
    first, second = run("fingerprint", "--input", path).lines
    assert first["id"] == {"any": ["value"]}
    assert "id" not in second
    assert first["path"] == second["path"] == "a.html"
    assert first["fingerprint"] == second["fingerprint"]


def test_the_encoding_of_a_manifest_line_is_that_of_the_header(run, tmp_path, manifest) -> None:
    (tmp_path / "a.html").write_bytes("<title>Łódź</title><p>żółw</p>".encode("iso-8859-2"))
    path = manifest({"path": "a.html", "encoding": "iso-8859-2"})
    assert run("fingerprint", "--input", path).column("title") == ["Łódź"]


def test_page_options_are_settings(run, write) -> None:
    write("a.html", 1)
    plain = run("fingerprint", "a.html").column("fingerprint")
    other = run("fingerprint", "a.html", "-s", "SIMHASH_GATE_SHINGLE_SIZE=1").column("fingerprint")
    assert plain != other


@pytest.mark.skipif(sys.platform != "linux", reason="file names that are no UTF-8")
def test_any_file_name_comes_out_as_json(run, tmp_path) -> None:
    name = os.fsencode(tmp_path) + b"/\xff.html"
    with open(name, "wb") as file:  # noqa: PTH123
        file.write(b"<p>some words")
    assert run("fingerprint", ".").column("path") == [os.fsdecode(b"\xff.html")]


def test_pages_that_hang_cost_their_time_limit_and_no_more(
    run, tmp_path, write, environment
) -> None:
    (tmp_path / "hanging.py").write_text(
        "import time\nfrom simhash_gate.page import SteadyExtractor\n"
        "class Hanging(SteadyExtractor):\n"
        "    def __call__(self, page):\n"
        "        if page.titles.title == 'Story 2': time.sleep(600)\n"
        "        return super().__call__(page)\n"
    )
    for n in (1, 2, 3):
        write(f"{n}.html", n)
    settings = ["-s", "SIMHASH_GATE_EXTRACTOR=hanging.Hanging", "-s", "SIMHASH_GATE_TIMEOUT=1"]
    paths = os.pathsep.join([environment["PYTHONPATH"], str(tmp_path)])
    result = run("fingerprint", "1.html", "2.html", "3.html", *settings, PYTHONPATH=paths)
    assert result.status == 0
    assert [line is not None for line in result.column("fingerprint")] == [True, False, True]
    assert result.lines[1]["reason"] == "unreadable: reading took longer than 1 s"


def test_a_progress_bar_stands_on_stderr_where_it_is_wanted(run, write) -> None:
    write("a.html", 1)
    assert "1/1" in run("fingerprint", "a.html", "--progress").err
    assert run("fingerprint", "a.html").err == ""
    assert json.loads(run("fingerprint", "a.html", "--progress").out)

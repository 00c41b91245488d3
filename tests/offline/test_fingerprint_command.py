"""`simhash-gate fingerprint`: a line for each file, in order."""

import os
import sys

import pytest

from simhash_gate import read_page
from simhash_gate.options import READABILITY
from tests.crawls.harness import text


def test_a_line_says_what_the_pipeline_says_with_the_settings_of_the_page(run, write) -> None:
    path = write("a.html", 1)
    page = read_page(path.read_bytes())
    result = run("fingerprint", "a.html")
    assert (result.status, result.err) == (0, "")
    (line,) = result.lines
    assert line["fingerprint"] == f"{page.fingerprint:016x}"
    assert (line["title"], line["words"]) == (page.title, page.words)
    assert line["names"] == [text(1, 5), "Story 1"]
    extractor = f"SIMHASH_GATE_EXTRACTOR={READABILITY}"
    other = run("fingerprint", "a.html", "-s", extractor)
    assert other.column("pipeline") != result.column("pipeline")


def test_steps_say_which_rule_took_what_out_of_a_page(run, tmp_path) -> None:
    related = "".join(f"<li><a href=/{n}>other story {n} of today</a>" for n in range(6))
    (tmp_path / "a.html").write_text(
        f"<title>Bees</title><h1>Bees</h1><div id=s class='share x'>tell <b>your</b> friends</div>"
        f"<p>{text(1, 60)}<ul>{related}</ul><script>run()</script><p>{text(2, 60)}"
    )
    (line,) = run("fingerprint", "a.html", "--steps").lines
    assert line["steps"][0] == {
        "rule": "is_boilerplate",
        "element": "div#s.share.x",
        "size": 15,
        "text": "tell your friends",
    }
    assert [(step["rule"], step["element"]) for step in line["steps"][1:]] == [
        ("drop_link_lists", "ul")
    ]
    (line,) = run("fingerprint", "a.html").lines
    assert "steps" not in line


def test_pages_that_fail_hang_or_kill_their_process_have_a_reason(run, manifest) -> None:
    bad = [{"html": f"<title>{title}</title>a b c"} for title in ("endless", "deadly", "broken")]
    pages = manifest(*bad, {"html": "<p>bees fly home again at night"})
    settings = ("EXTRACTOR=tests.offline.extractors.Hostile", "WORKERS=1")
    given = [word for setting in settings for word in ("-s", f"SIMHASH_GATE_{setting}")]
    *reasons, fine = run("fingerprint", pages, *given).lines
    assert [line["reason"] for line in reasons] == [
        "unreadable: reading took longer than 10 s",
        "unreadable: the page-reading process ended with status 3",
        "unreadable: RuntimeError: no",
    ]
    assert fine["fingerprint"]


def test_a_page_without_text_has_a_reason_and_claims_nothing(run, write_named, tmp_path) -> None:
    write_named("a.html", "Apple jam", price="9.00 €")
    (tmp_path / "empty.html").write_bytes(b"")
    (tmp_path / "large.html").write_bytes(b"<p>word" * 1000)
    names = ("a.html", "empty.html", "large.html")
    large = ("-s", "SIMHASH_GATE_MAX_BYTES=1000")
    found = run("fingerprint", *names, "--text", "-s", "SIMHASH_GATE_COMPARE=.price", *large)
    assert (found.status, found.err) == (0, "")
    assert found.column("names") == [["Apple jam"], [], []]
    assert found.column("offered") == [{"shown price": "9.00 EUR"}, {}, {}]
    assert found.column("fields") == [{".price": "9.00 €"}, {}, {}]
    assert [line["fingerprint"] for line in found.lines[1:]] == [None, None]
    assert found.column("text")[1:] == found.column("title")[1:] == ["", ""]
    assert [line["reason"] for line in found.lines[1:]] == ["empty page", "too large"]


@pytest.mark.parametrize("workers", [0, 1])
def test_the_text_is_what_the_markdown_says_without_its_marks(run, tmp_path, workers) -> None:
    (tmp_path / "a.html").write_text(
        "<nav><a href=/>Home</a></nav><article><h1>Bees &amp; C*</h1>"
        "<p>A <b>bee</b> <a href=/b>lives</a>\n here.<img src=a.png alt=Bee>"
        "<pre>\ndef f():\n\n  return<br>\n<span>1</span>\n</pre><ul><li>one<li>two</ul>"
        "<table><tr><th>a<th>b<tr><td>3<td>4  5</table>",
        encoding="utf-8",
    )
    result = run("fingerprint", "--text", "a.html", "-s", f"SIMHASH_GATE_WORKERS={workers}")
    assert result.column("text")[0].splitlines() == [
        *("Bees & C*", "A bee lives here.", "def f():", "", "  return", "", "1"),
        *("one", "two", "a", "b", "3", "4 5"),
    ]
    assert result.column("title") == ["Bees & C*"]


def test_the_order_is_kept_however_long_a_page_takes(run, write) -> None:
    write("slow.html", 0, words=30_000)
    names = ["slow.html", *(f"{n}.html" for n in range(20))]
    for n in range(20):
        write(f"{n}.html", n, words=30)
    result = run("fingerprint", *names, "-s", "SIMHASH_GATE_WORKERS=2")
    assert result.column("path") == names


def test_a_manifest_is_relative_to_its_folder_and_its_ids_and_encodings_count(
    run, write, tmp_path, manifest
) -> None:
    write("pages/a.html", 1)
    polish = "<title>Łódź</title><p>żółw</p>".encode("iso-8859-2")
    (tmp_path / "pages/polish.html").write_bytes(polish)
    path = manifest(
        {"path": "a.html", "id": {"any": ["value"]}, "url": "http://example.com/"},
        "",
        {"path": "a.html"},
        {"path": "polish.html", "encoding": "iso-8859-2"},
        name="pages/m.jsonl",
    )
    result = run("fingerprint", path, "--progress")
    assert "3/3" in result.err
    first, second, third = result.lines
    assert first["id"] == {"any": ["value"]}
    assert "id" not in second
    assert first["path"] == second["path"] == "a.html"
    assert first["fingerprint"] == second["fingerprint"]
    assert third["title"] == "Łódź"


@pytest.mark.skipif(sys.platform != "linux", reason="file names that are no UTF-8")
def test_any_file_name_comes_out_as_json(run, tmp_path) -> None:
    name = os.fsencode(tmp_path) + b"/\xff.html"
    with open(name, "wb") as file:  # noqa: PTH123
        file.write(b"<p>some words")
    assert run("fingerprint", ".").column("path") == [os.fsdecode(b"\xff.html")]


def test_what_was_read_once_is_compared_as_the_pages_are(run, write, tmp_path) -> None:
    for host in ("hive.example", "wasp.example"):
        for noise in (0, 1):
            write(f"mirror/{host}/{noise}.html", 1, noise=noise)
    (tmp_path / "read.jsonl").write_text(run("fingerprint", "mirror").out)
    for command in ("pairs", "pairs --across"):
        name, *options = command.split()
        pairs = run(name, "mirror", *options).lines
        assert pairs
        assert run(name, "read.jsonl", *options).lines == pairs

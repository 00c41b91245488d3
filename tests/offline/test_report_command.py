"""`simhash-gate report`: from a log, a replay, a store; what can't be used is named."""

import gzip
import json
import os
from pathlib import Path

import pytest
from lxml import html

from simhash_gate.journal.warc import warcinfo
from tests.journal.pages import packed
from tests.offline.kept_pages import record
from tests.report.verdicts import copy, verdict
from tests.report.verdicts import crawl as crawl_line

SITE = "https://example.com/"


@pytest.fixture
def log(run, pages, tmp_path) -> Path:
    path = tmp_path / "log.jsonl"
    path.write_text(run("replay", pages).out)
    return path


def tiles(page: str | Path) -> dict[str, str]:
    """Return the figures at the top of a report."""
    root = html.fromstring(page.read_text("utf-8") if isinstance(page, Path) else page)
    tiles = root.xpath("//dl/div")
    return {t.find("dt").text_content(): t.find("dd").text for t in tiles}


FIGURES = {"Responses": "3", "New": "2", "Duplicates": "1", "Dropped": "1"}


def test_a_log_is_read_from_a_file_and_from_a_pipe(run, run_with_input, log, tmp_path) -> None:
    out = tmp_path / "deep" / "report.html"
    for source, text in ((log, ""), ("-", log.read_text())):
        result = run_with_input(text, "report", source, "-o", out)
        assert (result.status, result.out) == (0, "")
        assert result.err == "verdicts in the report: 3\n"
        assert tiles(out).items() >= FIGURES.items()
        assert oct(out.stat().st_mode)[-3:] == "600"
        assert oct(out.parent.stat().st_mode)[-3:] == "700"
        out.unlink()
    assert not list(out.parent.iterdir())
    assert tiles(run("report", log).out).items() >= FIGURES.items()


def marks(page: str) -> list[list[str]]:
    """Return, for each duplicate of a report, the words of its texts that are marked."""
    root = html.fromstring(page)
    pairs = root.xpath("//section[@id='duplicates']//details")
    return [[mark.text for mark in pair.xpath("p[@class='place']/*")] for pair in pairs]


def texts_of(page: str) -> list[int]:
    """Return how many texts are shown of each duplicate of a report."""
    pairs = html.fromstring(page).xpath("//section[@id='duplicates']//details")
    return [len(pair.xpath(".//div[@class='text']")) for pair in pairs]


@pytest.fixture
def doubtful(write, write_named, manifest) -> Path:
    """Two pages of one text and one price, the second with another price in its text."""
    for name, price in (("a", "12"), ("b", "13")):
        path = write(f"{name}.html", 1)
        path.write_text(path.read_text().replace("</article>", f"<p>Now {price} €.</p></article>"))
    return manifest(*({"path": f"{n}.html", "url": SITE + n} for n in ("a", "b")))


BY_DISTANCE = ("-s", "SIMHASH_GATE_VERIFY=0", "-s", "SIMHASH_GATE_THRESHOLD=8")


def test_what_differs_in_the_texts_is_marked_where_pages_are_there(run, doubtful, tmp_path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(run("replay", doubtful, *BY_DISTANCE).out)
    without = run("report", log).out
    assert texts_of(without) == [0]
    assert "--pages SOURCE" in without
    there = run("report", log, "--pages", "nowhere", "--pages", doubtful)
    assert (there.status, marks(there.out)) == (1, [["12", "13"]])
    assert "nowhere: No such file or directory" in there.err
    assert "1 page dropped although the text says another price or offer" in there.out
    (tmp_path / "b.html").unlink()
    half = run("report", log, "--pages", doubtful)
    assert (half.status, texts_of(half.out)) == (1, [1])
    assert "'b.html': No such file or directory" in half.err
    assert "Its text is not to be had here." in half.out


def dropped(folder: Path, *drops: bytes) -> Path:
    folder.mkdir()
    path = folder / "dropped-20240601T120000000000Z-0badcafe.warc.gz"
    path.write_bytes(warcinfo() + b"".join(drops))
    return folder


def test_texts_of_dropped_pages_come_from_the_journal(run, write, doubtful, tmp_path) -> None:
    body = (tmp_path / "b.html").read_bytes()
    drops = [packed(1, url=SITE + "other"), packed(2, url=SITE + "b", body=body)]
    dropped(tmp_path / "dropped", *drops)
    log = tmp_path / "log.jsonl"
    said = run("replay", doubtful, *BY_DISTANCE).lines
    log.write_text("\n".join(map(json.dumps, said)))
    page = run("report", log, "--pages", "dropped")
    assert (page.status, texts_of(page.out)) == (0, [1])
    assert "Now 13 €." in page.out
    said[0] |= crawl_line(settings={"SIMHASH_GATE_JOURNAL": "dropped"})
    log.write_text("\n".join(map(json.dumps, said)))
    (tmp_path / "a.jsonl").write_text(json.dumps({"path": "a.html", "url": SITE + "a"}))
    both = run("report", log, "--pages", "a.jsonl")
    assert marks(both.out) == [["12", "13"]]
    cut = dropped(tmp_path / "cut", packed(2, url=SITE + "b")[:-40])
    for journal in (cut, tmp_path / "nowhere"):
        result = run("report", log, "--pages", journal)
        assert result.status == 1
        assert str(journal) in result.err


def test_a_store_shows_what_it_kept(run, url, fill) -> None:
    fill(*map(record, range(3)))
    result = run("report", url)
    assert result.status == 0
    assert tiles(result.out) == {"Responses": "3", "Kept": "3"}
    assert "the kept pages of a store" in result.out


def test_without_a_source_it_is_the_newest_log_of_the_project(run, log, tmp_path) -> None:
    assert "SIMHASH_GATE_VERDICTS" in run("report").err
    folder = tmp_path / ".scrapy" / "simhash_gate"
    folder.mkdir(parents=True)
    line = log.read_text().splitlines()[1]
    (folder / "older.jsonl").write_text(line)
    os.utime(folder / "older.jsonl", (1, 1))
    log.rename(folder / "news.jsonl")
    result = run("report")
    assert result.status == 0
    assert tiles(result.out).items() >= FIGURES.items()


def log_of(run: str, *lines: dict) -> str:
    first = lines[0] | crawl_line("news", run=run)
    return "".join(json.dumps(line) + "\n" for line in (first, *lines[1:]))


ONE = log_of("r1", verdict("a"), verdict("b"))
TWO = log_of("r2", verdict("c"), copy("d", "a", title="About a", matched_run="r1"))


@pytest.fixture
def logs(tmp_path) -> Path:
    """A folder with the logs of two crawlers."""
    folder = tmp_path / "logs"
    (folder / "deeper").mkdir(parents=True)
    (folder / "1.jsonl").write_text(ONE)
    (folder / "deeper/2.jsonl.gz").write_bytes(gzip.compress(TWO.encode()))
    return folder


def figures(page: str) -> list[list[str]]:
    """The names and figures of each crawler in a report, and of all."""
    root = html.fromstring(page)
    rows = root.xpath("//section[@id='fleet']//tr[td]")
    return [[cell.text_content() for cell in row][:7] for row in rows]


TWO_CRAWLERS = [
    ["news #1", "2", "0", "2", "2", "0", "0"],
    ["news #2", "2", "0", "2", "1", "1", "0"],
    ["all crawlers", "4", "0", "4", "3", "1", "0"],
]


def test_several_logs_have_a_table_of_crawlers_and_one_has_none(run, logs) -> None:
    (logs / "report.html").write_text("<p>An older report.")
    result = run("report", "logs", "-o", "report.html")
    assert result.status == 0
    assert result.err == (
        "logs: 2 verdict logs, 1 other file not read (report.html)\nverdicts in the report: 4\n"
    )
    assert figures((logs.parent / "report.html").read_text()) == TWO_CRAWLERS
    both = run("report", logs / "1.jsonl", logs / "deeper/2.jsonl.gz")
    assert (both.status, figures(both.out)) == (0, TWO_CRAWLERS)
    one = run("report", logs / "deeper/2.jsonl.gz")
    assert (one.status, one.err) == (0, "verdicts in the report: 2\n")
    assert figures(one.out) == []


def test_a_log_that_is_broken_or_empty_does_not_hide_the_others(run, logs) -> None:
    (logs / "3.jsonl.gz").write_bytes(gzip.compress(TWO.encode() * 50)[:-9])
    (logs / "4.jsonl").write_text(ONE + '{"later": 1}\n{"outcome": "lost"}\n{"url')
    (logs / "5.jsonl").write_text("")
    result = run("report", logs, "-o", "report.html")
    assert result.status == 1
    assert f"{logs}/3.jsonl.gz: gzip can't unpack the rest: " in result.err
    assert f"{logs}/4.jsonl:4: 'outcome' is 'lost'" in result.err
    assert f"{logs}/4.jsonl:5: not JSON" in result.err
    assert f"{logs}: 4 verdict logs, 1 other file not read (5.jsonl)" in result.err
    names = [row[0] for row in figures((logs.parent / "report.html").read_text())]
    assert {"news #1", "news #2"} < set(names)
    nothing = run("report", logs / "5.jsonl", logs / "1.jsonl")
    assert nothing.status == 1
    assert f"{logs}/5.jsonl: no verdict in it" in nothing.err


def test_a_report_is_not_shown_on_a_terminal(at_terminal, logs) -> None:
    alone = at_terminal("report", "logs/1.jsonl", stdout=True, stderr=True, status=2)
    assert "A report is not shown on a terminal" in alone

"""`simhash-gate report`: from a log, a replay, a store; what can't be used is named."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import pytest
from lxml import html

from simhash_gate.stores import Record, open_store

SITE = "https://example.com/"


@pytest.fixture
def pages(write, manifest) -> Path:
    """A story, a copy of it, and another story."""
    write("a.html", 1)
    write("copy.html", 1, noise=5)
    write("b.html", 2)
    return manifest(*({"path": f"{n}.html", "url": SITE + n} for n in ("a", "copy", "b")))


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


def test_a_replay_its_output_and_its_input_give_the_same_report(
    run, run_with_input, pages, log, tmp_path
) -> None:
    out = tmp_path / "deep" / "report.html"
    for source, text in ((pages, ""), (log, ""), ("-", log.read_text())):
        result = run_with_input(text, "report", source, "-o", out)
        assert (result.status, result.out) == (0, "")
        assert result.err == "verdicts in the report: 3\n"
        assert tiles(out).items() >= FIGURES.items()
        assert oct(out.stat().st_mode)[-3:] == "600"
        assert oct(out.parent.stat().st_mode)[-3:] == "700"
        out.unlink()
    assert not list(out.parent.iterdir())
    assert tiles(run("report", log).out).items() >= FIGURES.items()


def test_settings_hold_for_pages_that_are_replayed(run, pages) -> None:
    page = run("report", pages, "-s", "SIMHASH_GATE_ACTION=tag").out
    assert tiles(page).items() >= (FIGURES | {"Dropped": "0"}).items()
    assert run("report", pages, "-s", "SIMHASH_GATE_THRESHOLD=65").status == 2


def test_near_pages_of_other_names_are_no_good_sign(run, write_named, manifest) -> None:
    names = ["Apple", "Pear", "Plum", "Fig", "Lemon", "Melon"]
    for name in names:
        write_named(f"{name}.html", f"{name} jam")
    path = manifest(*({"path": f"{n}.html", "url": SITE + n} for n in names))
    root = html.fromstring(run("report", path).out)
    notes = [
        note.text_content() for note in root.xpath("//section[@id='distances']/p[@class='note']")
    ]
    assert notes[0] == "Within the threshold, but not dropped: 5 other names."
    assert notes[1] == "example.com: 5 of 5 pages within the threshold have another name."
    assert "SIMHASH_GATE_COMPARE" in notes[2]
    (row,) = root.xpath("//section[@id='domains']//tbody/tr")
    assert row[-1].text_content() == "5"


def test_a_store_shows_what_it_kept(run, tmp_path) -> None:
    url = f"sqlite:///{tmp_path}/kept.sqlite"
    with closing(open_store(url)) as store:
        store.begin("monday")
        for n in range(3):
            page = (f"{SITE}{n}", str(n), n << 32, n, 9, "Title", "9c1f", "monday", 1.7e9, 1.7e9)
            store.check_and_add(Record("example.com", *page), None)
        store.end("monday")
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


def test_a_log_that_a_kill_cut_off_gives_a_report_of_the_rest(run, log, tmp_path) -> None:
    lines = log.read_bytes().splitlines(keepends=True)
    foreign = b'{"later": 1}\n{"outcome": "lost"}\n'
    log.write_bytes(lines[1] + foreign + lines[2] + lines[3][:40])
    result = run("report", log, "-o", "report.html")
    assert result.status == 1
    assert f"{log}:3: 'outcome' is 'lost'" in result.err
    assert f"{log}:5: not JSON" in result.err
    assert result.err.endswith("could not be used: 2\n")
    assert tiles(tmp_path / "report.html")["Responses"] == "2"


@pytest.mark.parametrize("content", ["", "\n\n", '{"later": 1}\n', "no JSON\n"])
def test_no_report_is_made_of_nothing(run, tmp_path, content: str) -> None:
    (tmp_path / "log.jsonl").write_text(content)
    result = run("report", "log.jsonl", "-o", "report.html")
    assert result.status == 1
    assert "log.jsonl: no verdict in it" in result.err
    assert not (tmp_path / "report.html").exists()


def test_what_can_not_be_read_or_written_is_named(run, log, tmp_path) -> None:
    for source in ("nowhere.jsonl", "sqlite:///nowhere.sqlite"):
        missing = run("report", source, "-o", "report.html")
        assert missing.status == 1
        assert source.removeprefix("sqlite:///") in missing.err
    for path, why in (("log.jsonl/report.html", "Not a directory"), ("/dev/full", "No space left")):
        unwritable = run("report", log, "-o", path)
        assert (unwritable.status, unwritable.out) == (1, "")
        assert unwritable.err.startswith(f"Error: {path}: {why}")
    assert Path("/dev/full").is_char_device()
    assert sorted(p.name for p in tmp_path.glob("*report*")) == []


def test_a_report_does_not_follow_a_link_away(run, log, tmp_path) -> None:
    (tmp_path / "kept.html").write_text("old")
    (tmp_path / "link.html").symlink_to("kept.html")
    assert run("report", log, "-o", "link.html").status == 0
    assert (tmp_path / "link.html").is_symlink()
    assert tiles(tmp_path / "kept.html").items() >= FIGURES.items()


@pytest.mark.parametrize("package", ["jinja2", "vl_convert"])
def test_a_missing_package_is_named_with_its_extra(
    run, log, tmp_path, environment, package: str
) -> None:
    (tmp_path / f"{package}.py").write_text("raise ImportError('not here')")
    result = run("report", log, PYTHONPATH=f"{tmp_path}:{environment['PYTHONPATH']}")
    assert (result.status, result.out) == (1, "")
    assert package in result.err
    assert "pip install 'simhash-gate[report]'" in result.err

"""The crawl benchmark: it runs, and its table is made of what was measured."""

from __future__ import annotations

import json
import re

from benchmarks.speed.crawl import main, summarise
from benchmarks.speed.crawl_site import generate


def run(kind: str, seconds: float, **given) -> dict:
    measured = {"pages": 100, "seconds": seconds, "start": 0.5, "first": 0.1, "cpu_ms": 1.0}
    empty = {"workers_cpu_ms": 2.0, "blocked_ms": [], "lookups_ms": [], "callbacks_ms": []}
    return {"kind": kind, **measured, **empty, "stats": {}, **given}


def test_ratios_are_of_the_same_round_and_figures_are_medians() -> None:
    summary = summarise(
        {
            "off": [run("off", 1), run("off", 2), run("off", 10)],
            "on": [run("on", 2), run("on", 8), run("on", 10)],
            "markdown": [run("markdown", 4), run("markdown", 4), run("markdown", 20)],
            "probe": [run("probe", 1, blocked_ms=list(range(101)))],
            "repeat": [run("repeat", 1, stats={"simhash_gate/repeated": 90})],
        }
    )
    assert [summary[kind]["ratio"] for kind in ("off", "on", "markdown")] == [1, 0.5, 0.5]
    assert summary["on"]["pages/s"] == 12.5
    assert summary["probe"]["blocked_ms p50"] == 50
    assert summary["probe"]["blocked_ms p99"] == 99
    assert summary["repeat"]["not read again"] == 0.9


def test_generated_pages_are_of_a_realistic_size_and_differ() -> None:
    pages = [generate(number) for number in range(3)]
    assert all(70_000 < len(page) < 150_000 for page in pages)
    assert len(set(pages)) == 3
    assert generate(0) == pages[0]


def test_it_measures_real_crawls(tmp_path, capsys) -> None:
    (tmp_path / "pages").mkdir()
    for number in range(3):
        (tmp_path / "pages" / f"{number}.html").write_bytes(generate(number)[:40_000])
    out = tmp_path / "out"
    arguments = ["--pages", str(tmp_path / "pages"), "--count", "30", "--rounds", "1"]
    assert main([*arguments, "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"^\| gate, empty callback \| \d+ \| \d\.\d\d \|", printed, re.MULTILINE)
    written = json.loads((out / "crawl.json").read_text("utf-8"))
    assert set(written["runs"]) == {"off", "on", "markdown", "probe", "repeat"}
    assert len(written["runs"]["probe"][0]["blocked_ms"]) == 30
    assert len(written["runs"]["repeat"][0]["lookups_ms"]) == 30
    assert written["runs"]["on"][0]["stats"]["simhash_gate/checked"] == 30
    assert written["runs"]["off"][0]["stats"] == {}


def test_a_folder_without_pages_is_named(tmp_path, capsys) -> None:
    assert main(["--pages", str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    assert "the site did not start; its message is above" in capsys.readouterr().err

"""Each benchmark of speed runs on little, and prints what was measured."""

import json
import re
from itertools import product

from benchmarks.speed import crawl, index, page, store, store_crowds
from benchmarks.speed.page import BARE, OURS, STAGES
from benchmarks.speed.pages import generate, grown

FORGETFUL = """
from types import SimpleNamespace
Record = Window = SimpleNamespace
class open_store:
    def __init__(self, url):
        pass
    def begin(self, run):
        pass
    end = begin
    def check_and_add(self, record, *args, **kwargs):
        return SimpleNamespace(added=True)
    def close(self):
        pass
"""


def test_it_measures_real_crawls_or_says_that_there_are_no_pages(tmp_path, capsys) -> None:
    folder, out = tmp_path / "pages", tmp_path / "out"
    folder.mkdir()
    assert crawl.main(["--pages", str(folder), "--out", str(out)]) == 2
    assert f"not measured: {folder}: no .html files" in capsys.readouterr().err
    for number in range(3):
        (folder / f"{number}.html").write_bytes(generate(number)[:40_000])
    arguments = ["--pages", str(folder), "--count", "6", "--rounds", "1", "--out", str(out)]
    assert crawl.main(arguments) == 0
    printed = capsys.readouterr().out
    assert re.search(r"^\| gate \| [\d.]+ \| \d\.\d+ \|", printed, re.MULTILINE)
    runs = json.loads((out / "crawl.json").read_text("utf-8"))["runs"]
    assert set(runs) >= {"off", "read", "judged", "plain", "on", "markdown", "plain recipe"}
    assert all(max(runs[kind][0]["late, ms"]) > 0 for kind in ("off, beat", "on, beat"))
    assert "stands still" in printed
    assert runs["read"][0]["stats"] == {}
    assert runs["judged"][0]["stats"] == {}
    assert runs["on"][0]["stats"]["simhash_gate/checked"] == 6
    assert runs["off"][0]["stats"] == {}


def test_the_index_is_measured_at_every_task(tmp_path, capsys) -> None:
    tiny = index.Sizes((50, 100), 10, 100, (200,), 0, 2)
    assert index.main(["--out", str(tmp_path), "--no-peers"], tiny) == 0
    figures = json.loads((tmp_path / "index.json").read_text("utf-8"))
    rivals = ["find_first_bulk", "find_all_bulk", "insert_bulk", "HammingIndex"]
    rivals += [index.LISTED, index.NUMPY]
    assert {row["with"] for row in figures["rows"]} >= {*rivals}
    assert all(row["CPU s"] > 0 for row in figures["rows"])
    assert f"| {index.LOOKUP} | 100 | HammingIndex |" in capsys.readouterr().out


def test_each_store_that_is_there_is_measured_and_no_page_is_lost_or_kept_twice(
    tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(store_crowds, "PROCESSES", (2,))
    sizes = store.Sizes(pages=20, calls=2, crawled=8, met=((2, 3),))
    assert store.main(["--out", str(tmp_path)], sizes) == 0
    figures = json.loads((tmp_path / "store.json").read_text("utf-8"))
    kinds = [row["store"] for row in figures["calls"]]
    assert kinds[:2] == ["memory", "SQLite"]
    assert all(row["µs a check-and-insert"] > 0 for row in figures["calls"])
    rows = {(row["store"], row["scopes"]): row["kept twice"] for row in figures["crowds"]}
    assert rows == dict.fromkeys(product(kinds[1:], (1, store_crowds.MANY)), 0)
    assert [row["store"] for row in figures["memory"]] == kinds
    assert all(row["peak"] >= row["gained"] >= 0 for row in figures["memory"])


def test_a_page_that_two_crawlers_keep_is_counted(tmp_path, monkeypatch) -> None:
    forgetful = tmp_path / "simhash_gate"
    forgetful.mkdir()
    (forgetful / "__init__.py").touch()
    (forgetful / "stores.py").write_text(FORGETFUL)
    monkeypatch.setattr(store_crowds, "PROCESSES", (2,))
    monkeypatch.syspath_prepend(tmp_path)  # new processes have it, this one has the other already
    rows = store_crowds.crowds(["SQLite"], 40)
    assert all(row["kept twice"] > 0 for row in rows)


def test_a_page_is_measured_at_every_stage_and_size(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.setattr(page, "QUICK_SIZES", (1000, 5000))
    (tmp_path / "one.html").write_bytes(grown(2000, "prose"))
    out = f"--out={tmp_path / 'out'}"
    assert page.main(["--quick", "--no-peers", f"--pages={tmp_path}", out]) == 0
    found = json.loads((tmp_path / "out/page.json").read_text("utf-8"))
    assert {*OURS, *STAGES} < found["summary"].keys()
    assert found["summary"][BARE]["times a bare parse"] == 1
    assert all({*OURS} < row.keys() for row in found["growth"])
    assert f"| {BARE} |" in capsys.readouterr().out

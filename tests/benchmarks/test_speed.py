"""Each benchmark of speed runs on little, and prints what was measured."""

import re

from benchmarks.speed import crawl, index, page, store, store_crowds
from benchmarks.speed.page import BARE, OURS
from benchmarks.speed.pages import generate

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
    assert crawl.main(["--pages", str(tmp_path)]) == 2
    assert f"not measured: {tmp_path}: no .html files" in capsys.readouterr().err
    for number in range(3):
        (tmp_path / f"{number}.html").write_bytes(generate(number)[:40_000])
    assert crawl.main(["--pages", str(tmp_path), "--count", "6", "--rounds", "1"]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"^\| gate \| [\d.]+ \| \d\.\d+ \|", printed, re.MULTILINE)
    for title in crawl.TITLES.values():
        assert f"| {title} |" in printed
    assert len(re.findall(r"stands still for (?!0\.0 )[\d.]+ ms", printed)) == 2


def test_the_index_is_measured_at_every_task(capsys) -> None:
    tiny = index.Sizes((50, 100), 10, (200,), 0, 2)
    assert index.main(["--no-peers"], tiny) == 0
    printed = capsys.readouterr().out
    for name in (f"{index.LOOKUP} | 100 | HammingIndex", f"pairs | 200 | {index.LISTED}"):
        assert f"| {name} |" in printed


def test_each_store_that_is_there_is_measured_and_no_page_is_lost_or_kept_twice(capsys) -> None:
    assert store.main([], store.Sizes(pages=20, calls=2, crawled=16)) == 0
    calls, crowds = capsys.readouterr().out.strip().split("\n\n")
    kinds = [line.split()[1] for line in calls.splitlines()[2:]]
    assert kinds[:2] == ["memory", "SQLite"]
    rows = [line.strip("| ").split(" | ") for line in crowds.splitlines()[2:]]
    assert [row[0] for row in rows] == kinds[1:]
    assert all(row[-1] == "0" for row in rows)


def test_a_page_that_two_crawlers_keep_is_counted(tmp_path, monkeypatch) -> None:
    forgetful = tmp_path / "simhash_gate"
    forgetful.mkdir()
    (forgetful / "__init__.py").touch()
    (forgetful / "stores.py").write_text(FORGETFUL)
    monkeypatch.setattr(store_crowds, "PROCESSES", 2)
    monkeypatch.syspath_prepend(tmp_path)  # new processes have it, this one has the other already
    rows = store_crowds.crowds(40, ["SQLite"])
    assert all(row["kept twice"] > 0 for row in rows)


def test_a_page_is_measured_beside_a_bare_parse(tmp_path, capsys) -> None:
    (tmp_path / "one.html").write_bytes(generate(1))
    assert page.main(["--no-peers", f"--pages={tmp_path}"]) == 0
    printed = capsys.readouterr().out
    for name in OURS:
        assert re.search(rf"^\| {re.escape(name)} \| [\d.,]+ \| [\d.,]+ \|", printed, re.MULTILINE)
    assert re.search(rf"^\| {re.escape(BARE)} \| [\d.]+ \| 1\.00 \|", printed, re.MULTILINE)

from __future__ import annotations

from benchmarks.speed import journal
from benchmarks.speed.page_set import grown


def test_a_folder_of_pages_is_measured_beside_its_peer(tmp_path, capsys) -> None:
    (tmp_path / "one.html").write_bytes(grown(20_000, "prose"))
    assert journal.main([f"--pages={tmp_path}", "--rounds=2"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("1 page, mean 21 kB, kept in ")
    for name in (journal.BARE, journal.LOOP, journal.KEEP, journal.READ, journal.PEER):
        assert f"| {name} | " in shown


def test_a_folder_without_pages_is_said_to_be_one(tmp_path, capsys) -> None:
    assert journal.main([f"--pages={tmp_path}"]) == 2
    assert f"{tmp_path}: no .html files" in capsys.readouterr().err

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from benchmarks.speed import page
from benchmarks.speed.page_methods import BARE, OURS, STAGES
from benchmarks.speed.page_set import grown, load, renewed
from simhash_gate import read_page

if TYPE_CHECKING:
    from pathlib import Path


def test_a_folder_of_pages_end_to_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "QUICK_SIZES", (1000, 10_000))
    (tmp_path / "one.html").write_bytes(grown(2000, "prose"))
    out = f"--out={tmp_path / 'out'}"
    assert page.main(["--quick", "--no-peers", f"--pages={tmp_path}", out]) == 0
    found = json.loads((tmp_path / "out/page.json").read_text("utf-8"))
    assert {*OURS, *STAGES} < found["summary"].keys()
    assert found["rounds"].keys() == {*OURS, *STAGES, "words, features, fingerprint"}
    assert found["summary"][BARE]["ratio"] == 1
    assert all(len(values) == page.QUICK_ROUNDS for values in found["rounds"].values())
    assert found["growth"]["markup"].keys() == OURS.keys()
    assert f"| {BARE} |" in capsys.readouterr().out


def test_a_folder_without_pages_is_said_to_be_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert page.main([f"--pages={tmp_path}"]) == 2
    assert f"{tmp_path}: no .html files" in capsys.readouterr().err


def test_pages_come_each_time_with_other_bytes_and_say_the_same() -> None:
    pages = load(None, 3)
    bodies = [renewed(body, number) for number, body in enumerate(pages * 3)]
    assert len(set(bodies)) == 9
    assert len({read_page(body).fingerprint for body in bodies}) == len(pages)


@pytest.mark.parametrize("kind", page.KINDS)
def test_a_page_is_as_large_as_is_asked_for_and_has_words(kind: str) -> None:
    body = grown(20_000, kind)
    assert 20_000 <= len(body) < 22_000
    assert read_page(body).words > 1000

"""The benchmark of revisits: what it prints, and that its visits are what their names say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.speed import revisit
from benchmarks.speed.page_set import grown
from simhash_gate.gate.judge import Gate

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_each_kind_of_visit_has_its_row(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        (tmp_path / f"{number}.html").write_bytes(grown(3000 + 500 * number, "prose"))
    outcomes = []
    judge = Gate.judge

    def noted(*args, **kwargs):
        verdict = judge(*args, **kwargs)
        outcomes.append(verdict.outcome)
        return verdict

    monkeypatch.setattr(Gate, "judge", noted)
    assert revisit.main([str(tmp_path), "--rounds=1"]) == 0
    printed = capsys.readouterr().out
    assert all(f"| {kind} |" in printed for kind in revisit.KINDS)
    assert outcomes.count("unchanged") == 3
    assert outcomes.count("updated") + outcomes.count("rewritten") == 3
    assert outcomes.count("new") == 9

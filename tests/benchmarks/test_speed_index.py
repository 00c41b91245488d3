from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmarks.speed import index
from benchmarks.speed.measure import interleaved, markdown_table
from benchmarks.speed.peers.pairs import NumpyBlocks
from simhash_gate import hamming_distance, near_duplicate_pairs

if TYPE_CHECKING:
    from pathlib import Path

TINY = index.Sizes((50, 300), 10, 300, (2_000,), 0, 2)


def test_it_measures_every_task_and_writes_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert index.main(["--out", str(tmp_path), "--no-peers"], TINY) == 0
    figures = json.loads((tmp_path / "index.json").read_text("utf-8"))
    tasks = {(row["task"], row["size"], row["name"]) for row in figures["rows"]}
    assert {size for task, size, _ in tasks if task == index.LOOKUP} == set(TINY.stored)
    assert {name for _, _, name in tasks} >= {
        "HammingIndex",
        "memory store",
        "find_first_bulk",
        "find_all_bulk",
        "insert_bulk",
        "remove_bulk",
        index.LISTED,
        index.COUNTED,
        index.CROWDED,
        NumpyBlocks.title,
    }
    assert all(row["cpu_seconds"] > 0 for row in figures["rows"])
    assert set(figures["bytes"]) == {"50", "300"}
    assert f"| {index.LOOKUP} | 300 | memory store |" in capsys.readouterr().out


def test_rivals_take_turns() -> None:
    order: list[str] = []
    timings = interleaved({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, 3)
    assert order == ["a", "b"] * 3
    assert set(timings) == {"a", "b"}


def test_a_table_is_markdown() -> None:
    assert markdown_table(["a", "b"], [["x", "1"]]) == "| a | b |\n| --- | --: |\n| x | 1 |"


@pytest.mark.parametrize("fewest", [0, 1])
def test_flipped_bits_are_three_at_most(fewest: int) -> None:
    values = index.fingerprints(2_000)
    moved = index.flipped(values, np.random.default_rng(0), fewest)
    distances = {
        hamming_distance(a, b) for a, b in zip(values.tolist(), moved.tolist(), strict=True)
    }
    assert distances == {*range(fewest, 4)}


def test_the_plain_join_counts_what_the_fast_one_counts() -> None:
    values = index.fingerprints(3_000)
    values[:1_000] = index.flipped(values[1_000:2_000], np.random.default_rng(0))
    values = np.unique(values)
    count = near_duplicate_pairs(values, count_only=True)
    assert NumpyBlocks().count(values, 3) == count > 900

"""`simhash-gate tune --label`, on a terminal."""

from __future__ import annotations

import contextlib
import os
import pty
import subprocess
import termios

import pytest

from tests.crawls.harness import until
from tests.offline.command import COMMAND, json_lines

SITE = "https://hive.example"


def reads_keys(terminal: int) -> bool:
    """Tell whether single keys are read there: what comes before is thrown away."""
    return not termios.tcgetattr(terminal)[3] & termios.ICANON


@pytest.fixture
def dialogue(tmp_path, environment):
    """Run `tune --label` at a terminal with a key for each question; return what was seen."""

    def dialogue(*arguments: object, keys: str, status: int = 0) -> tuple[str, str]:
        ours, theirs = pty.openpty()
        with subprocess.Popen(
            [*COMMAND, "tune", "--label", *map(str, arguments), "-s", "SIMHASH_GATE_WORKERS=0"],
            cwd=tmp_path,
            env=environment | {"TERM": "xterm", "NO_COLOR": "1"},
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=theirs,
            start_new_session=True,
        ) as process:
            os.close(theirs)
            seen, left = b"", list(keys)
            with contextlib.suppress(OSError):  # the terminal's end, on Linux
                while chunk := os.read(ours, 1 << 16):
                    seen += chunk
                    if left and seen.count(b"[q]uit ") > len(keys) - len(left):
                        until(lambda: reads_keys(ours))
                        os.write(ours, left.pop(0).encode())
            os.close(ours)
            assert process.stdout is not None
            out = process.stdout.read().decode()
            assert process.wait(60) == status
        return seen.decode(), out

    return dialogue


@pytest.fixture
def crawl(write, manifest):
    """Five pages, and two copies of each."""
    lines = []
    for seed in range(5):
        for noise in (0, 1, 2):
            name = f"{seed}-{noise}.html"
            write(name, seed, noise=noise)
            lines.append({"path": name, "url": f"{SITE}/{seed}?{noise}"})
    return manifest(*lines)


def test_answers_are_kept_and_what_they_tell_is_shown(dialogue, crawl, tmp_path) -> None:
    seen, out = dialogue(crawl, "--pairs", "labels.jsonl", "--questions", 4, keys="ynsY")
    assert "1 of 4" in seen
    assert " 0 bits  " in seen
    assert "Story" in seen
    assert "no word differs" in seen
    answers = json_lines(tmp_path / "labels.jsonl")
    assert [answer["duplicate"] for answer in answers] == [True, False, True]
    assert all(answer["sampled"] for answer in answers)
    assert len({(answer["a"], answer["b"]) for answer in answers}) == 3
    assert "labelled pairs: 2 duplicates, 1 other\n" in out
    assert "threshold  F1     precision             recall\n       0   0.800  0.667 (" in out


def test_ctrl_c_keeps_what_was_answered_and_a_second_run_asks_about_the_rest(
    dialogue, crawl, tmp_path
) -> None:
    seen, out = dialogue(crawl, "--pairs", "labels.jsonl", keys="yy\x03", status=130)
    assert "Interrupted. labels.jsonl has the 2 answers." in seen
    assert out == ""
    file = tmp_path / "labels.jsonl"
    assert len(json_lines(file)) == 2
    file.write_text(file.read_text().rstrip("\n"))  # as a full disk leaves it
    seen, out = dialogue(crawl, "--pairs", "labels.jsonl", keys="n" * 8)
    assert "No pair is left to ask about." in seen
    answers = json_lines(file)
    assert [answer["duplicate"] for answer in answers] == [True] * 2 + [False] * 8
    assert len({(answer["a"], answer["b"]) for answer in answers}) == 10
    assert "labelled pairs: 2 duplicates, 8 others\n" in out


def test_a_file_that_can_not_be_written_is_an_error_at_the_first_answer(dialogue, crawl) -> None:
    seen, out = dialogue(crawl, "--pairs", "nowhere/labels.jsonl", keys="y", status=1)
    assert "nowhere/labels.jsonl" in seen
    assert out == ""

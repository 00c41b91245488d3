"""Pages that were read are kept: a command that was ended goes on where it was."""

from __future__ import annotations

import os
import signal
import subprocess

import pytest

from tests.crawls.harness import ROOT, page, until
from tests.offline.command import COMMAND

# With a file "hold", the page after the 20th is not read to its end.
COUNTING = """
import pathlib, time
from simhash_gate.page.extract import SteadyExtractor
HERE = pathlib.Path(__file__)
class Counting(SteadyExtractor):
    def __call__(self, page):
        with HERE.with_suffix(".log").open("a") as log:
            log.write("read\\n")
            number = log.tell() // len("read\\n")
        while number > 20 and HERE.with_name("hold").exists():
            time.sleep(0.01)
        return super().__call__(page)
"""


@pytest.fixture
def counting(tmp_path, environment):
    """A folder of pages, an extractor that counts how many are read, and how to start `pairs`."""
    (tmp_path / "counting.py").write_text(COUNTING)
    for number in range(60):
        path = tmp_path / "pages" / f"{number:02}.html"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(page(number // 2, noise=number, words=1500).body)
    environment["PYTHONPATH"] = f"{ROOT}{os.pathsep}{tmp_path}"
    log = tmp_path / "counting.log"

    def read() -> int:
        return log.read_text().count("\n") if log.exists() else 0

    def start(*more: str) -> subprocess.Popen:
        extractor = "SIMHASH_GATE_EXTRACTOR=counting.Counting"
        return subprocess.Popen(
            [*COMMAND, "pairs", "pages", "-s", extractor, *more],
            cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    return read, start


@pytest.mark.parametrize("ended_by", [signal.SIGINT, signal.SIGKILL])
def test_an_ended_command_goes_on_where_it_was(tmp_path, counting, ended_by) -> None:
    read, start = counting
    (tmp_path / "hold").touch()
    process = start("-o", "out.jsonl", "-s", "SIMHASH_GATE_WORKERS=1")
    kept = tmp_path / ".cache/simhash-gate/pages.sqlite"
    until(lambda: read() > 20)
    process.send_signal(ended_by)
    _, complaints = process.communicate(timeout=60)
    (tmp_path / "hold").unlink()
    assert process.returncode == (130 if ended_by == signal.SIGINT else -ended_by)
    assert b"Traceback" not in complaints
    assert kept.exists()
    assert not (tmp_path / "out.jsonl").exists()
    process = start()
    out, complaints = process.communicate(timeout=60)
    assert process.returncode == 0, complaints
    assert len(out.splitlines()) == 30
    if ended_by == signal.SIGINT:
        assert read() < 60 + 10  # those in flight are read again
    process = start()
    assert process.communicate(timeout=60)[0] == out
    total = read()
    (tmp_path / "pages/00.html").write_bytes(page(77).body)
    out, _ = start().communicate(timeout=60)
    assert len(out.splitlines()) == 29
    assert read() == total + 1


def test_pages_are_read_anew_when_asked_for_and_kept_where_asked_for(tmp_path, counting) -> None:
    read, start = counting
    for options, expected in (
        (["--cache", "here.sqlite"], 60),
        (["--cache", "here.sqlite"], 60),
        (["--no-cache"], 120),
        (["--cache", "here.sqlite", "-s", "SIMHASH_GATE_SHINGLE_SIZE=2"], 180),
    ):
        process = start(*options)
        process.communicate(timeout=60)
        assert process.returncode == 0
        assert read() == expected
    assert (tmp_path / "here.sqlite").exists()
    assert not (tmp_path / ".cache").exists()


def test_a_cache_that_can_not_be_used_costs_time_and_no_more(run, write, tmp_path) -> None:
    write("pages/a.html", 1)
    write("pages/copy.html", 1, noise=2)
    (tmp_path / "bad.sqlite").write_text("no database at all, but long enough to be none" * 100)
    result = run("pairs", "pages", "--cache", "bad.sqlite")
    assert result.status == 0
    assert len(result.lines) == 1
    assert "bad.sqlite: this is not a page cache: " in result.err
    assert "name another with --cache. Pages are read without a cache\n" in result.err
    assert result.err.count("bad.sqlite") == 1

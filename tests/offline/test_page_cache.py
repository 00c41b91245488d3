"""Pages that were read are kept: a command that was ended goes on where it was."""

from __future__ import annotations

import signal

import pytest

from simhash_gate.sources.read_pages import AHEAD
from tests.crawls.harness import page, until

COUNTING = ["-s", "SIMHASH_GATE_EXTRACTOR=tests.offline.extractors.Counting"]


@pytest.fixture
def read(tmp_path, environment):
    """A folder of 60 pages, and how many of them were read."""
    for number in range(60):
        path = tmp_path / "pages" / f"{number:02}.html"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(page(number // 2, noise=number, words=100).body)
    counted = tmp_path / "read.log"
    environment["PAGES_READ"] = str(counted)
    return lambda: counted.read_text().count("\n") if counted.exists() else 0


@pytest.mark.parametrize("ended_by", [signal.SIGINT, signal.SIGKILL])
def test_an_ended_command_goes_on_where_it_was(run, tmp_path, start, read, ended_by) -> None:
    (tmp_path / "hold").touch()
    one = [*COUNTING, "-s", "SIMHASH_GATE_WORKERS=1"]
    process = start("pairs", "pages", "-o", "out.jsonl", *one)
    until(lambda: read() > 20)
    process.send_signal(ended_by)
    _, complaints = process.communicate(timeout=60)
    (tmp_path / "hold").unlink()
    assert process.returncode == (130 if ended_by == signal.SIGINT else -ended_by)
    assert b"Traceback" not in complaints
    assert (tmp_path / ".cache/simhash-gate/pages.sqlite").exists()
    assert not [path for path in tmp_path.iterdir() if "out" in path.name]
    result = run("pairs", "pages", *COUNTING)
    assert (result.status, len(result.lines)) == (0, 30)
    if ended_by == signal.SIGINT:
        assert read() <= 60 + AHEAD + 1  # those in flight are read again
    total = read()
    assert run("pairs", "pages", *COUNTING).out == result.out
    assert read() == total
    (tmp_path / "pages/00.html").write_bytes(page(77).body)
    assert len(run("pairs", "pages", *COUNTING).lines) == 29
    assert read() == total + 1


def test_pages_are_read_anew_when_asked_for_and_kept_where_asked_for(run, tmp_path, read) -> None:
    for options, expected in (
        (["--cache", "here.sqlite"], 60),
        (["--cache", "here.sqlite"], 60),
        (["--no-cache"], 120),
        (["--cache", "here.sqlite", "-s", "SIMHASH_GATE_SHINGLE=word:2"], 180),
    ):
        assert run("pairs", "pages", *COUNTING, *options).status == 0
        assert read() == expected
    assert (tmp_path / "here.sqlite").exists()
    assert not (tmp_path / ".cache").exists()


def test_a_cache_that_can_not_be_used_costs_time_and_no_more(run, write, tmp_path) -> None:
    write("pages/a.html", 1)
    write("pages/copy.html", 1, noise=2)
    (tmp_path / "bad.sqlite").write_text("no database at all, but long enough to be none" * 100)
    result = run("pairs", "pages", "--cache", "bad.sqlite")
    assert (result.status, len(result.lines)) == (0, 1)
    assert "bad.sqlite: this is not a page cache: " in result.err
    assert "--cache" in result.err
    assert result.err.count("bad.sqlite") == 1

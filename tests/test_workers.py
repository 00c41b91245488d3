"""Page-reading processes: what they answer, how they fail, when they end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import wait
from pathlib import Path

import pytest

from simhash_gate.pipeline import Options, read_page
from simhash_gate.workers import InlineReader, WorkerPool

BODY = b"<html><body><article><h1>Title</h1><p>%s</p></article></body></html>" % (b"word " * 50)
ROOT = Path(__file__).parents[1]


@pytest.fixture
def pool():
    pool = WorkerPool(Options(), processes=2, timeout=10)
    yield pool
    pool.close()


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def until(condition, seconds: float = 10) -> bool:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


def test_a_worker_reads_what_this_process_would_read(pool) -> None:
    expected = read_page(BODY, url="http://example.com/")
    assert pool.read(BODY, "http://example.com/", None).result(60) == expected
    assert InlineReader(Options()).read(BODY, "http://example.com/", None).result() == expected


def test_a_file_here_may_be_called_like_a_module_of_pythons(tmp_path, monkeypatch) -> None:
    (tmp_path / "queue.py").write_text("raise RuntimeError('the wrong queue')")
    monkeypatch.chdir(tmp_path)
    pool = WorkerPool(Options(), processes=1, timeout=10)
    try:
        assert pool.read(BODY, "", None).result(60).fingerprint is not None
    finally:
        pool.close()


def test_many_pages_are_read_each_for_itself(pool) -> None:
    bodies = [BODY.replace(b"Title", b"Title %d" % n) for n in range(100)]
    futures = [pool.read(body, "", None) for body in bodies]
    wait(futures, 60)
    for number, future in enumerate(futures):
        assert f"# Title {number}\n" in future.result().markdown


def test_a_page_larger_than_any_pipe_buffer_arrives(pool) -> None:
    body = BODY + b"<!-- " + b"x" * 5_000_000 + b" -->"
    assert pool.read(body, "", None).result(60).fingerprint is not None


def test_a_killed_worker_fails_its_page_only_and_is_replaced(pool) -> None:
    pool.read(BODY, "", None).result(60)
    assert until(lambda: len(pool.pids) == 2)
    killed = pool.pids
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    assert until(lambda: len(pool.pids) == 2 and not {*killed} & {*pool.pids})
    assert not any(map(alive, killed))
    assert pool.read(BODY, "", None).result(60).fingerprint is not None


def test_closing_ends_the_processes(pool) -> None:
    pool.read(BODY, "", None).result(60)
    assert until(lambda: len(pool.pids) == 2)
    pids = pool.pids
    pool.close()
    assert until(lambda: not any(map(alive, pids)))


PARENT = """
import os, sys, time
from simhash_gate.pipeline import Options
from simhash_gate.workers import WorkerPool
pool = WorkerPool(Options(extractor="{extractor}"), processes=2, timeout=60)
{submit}
while len(pool.pids) < 2: time.sleep(0.01)
time.sleep(1)
print(*pool.pids, flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("busy", [False, True])
def test_workers_end_with_a_killed_parent(tmp_path, busy: bool) -> None:
    (tmp_path / "endless.py").write_text(
        "class Endless:\n    def __call__(self, page):\n        while True:\n            pass\n"
    )
    submit = "[pool.read(b'<p>some words here</p>', '', None) for _ in range(2)]" if busy else ""
    extractor = "endless.Endless" if busy else Options().extractor
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT.format(extractor=extractor, submit=submit)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"},
    )
    assert parent.stdout is not None
    pids = list(map(int, parent.stdout.readline().split()))
    assert len(pids) == 2
    assert all(map(alive, pids))
    parent.kill()
    parent.communicate()
    assert until(lambda: not any(map(alive, pids)))


def test_a_broken_extractor_is_told_and_costs_no_process(tmp_path, monkeypatch) -> None:
    (tmp_path / "broken_extractor.py").write_text(
        "class Broken:\n    def __call__(self, page):\n        raise RuntimeError('nothing')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    pool = WorkerPool(Options(extractor="broken_extractor.Broken"), processes=1, timeout=10)
    try:
        assert pool.read(BODY, "", None).result(60).unreadable
        pids = pool.pids
        page = pool.read(BODY, "", None).result(60)
        assert page.reason == "unreadable: RuntimeError: nothing"
        assert pool.pids == pids
    finally:
        pool.close()

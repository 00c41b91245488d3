"""Page-reading processes: what they answer, how they fail, when they end."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import wait
from pathlib import Path

import pytest

from simhash_gate.pipeline import Options, read_page
from simhash_gate.workers.pool import InlineReader, ReadError, WorkerPool
from simhash_gate.workers.process import AHEAD
from tests.crawls.harness import alive, until

pytestmark = pytest.mark.slow

BODY = b"<html><body><article><h1>Title</h1><p>%s</p></article></body></html>" % (b"word " * 50)
ROOT = Path(__file__).parents[2]


@pytest.fixture
def pool():
    pool = WorkerPool(Options(), processes=2, timeout=10)
    yield pool
    pool.close()


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
    until(lambda: len(pool.pids) == 2)
    killed = pool.pids
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    until(lambda: not {*killed} & {*pool.pids})  # a page sent before that could fail
    assert pool.read(BODY, "", None).result(60).fingerprint is not None


@pytest.fixture
def stopped(pool):
    """The processes of the pool, which are up, and stopped: they read nothing of what they get."""
    wait([pool.read(BODY, "", None) for _ in range(2 * AHEAD)], 60)  # as many for each
    for pid in (pids := pool.pids):
        os.kill(pid, signal.SIGSTOP)
        until(lambda pid=pid: all(map(is_stopped, Path(f"/proc/{pid}/task").iterdir())))
    return pids


def is_stopped(thread: Path) -> bool:
    return (thread / "stat").read_text().rpartition(")")[2].split()[0] == "T"


def test_a_page_that_a_killed_process_had_not_begun_is_read_by_another(pool, stopped) -> None:
    first, second = stopped
    page = pool.read(BODY, "", None)
    os.kill(first, signal.SIGKILL)
    until(lambda: first not in pool.pids)
    os.kill(second, signal.SIGCONT)
    assert page.result(60).fingerprint is not None


def test_a_page_that_no_process_lives_to_read_is_given_up_with_the_second(pool, stopped) -> None:
    page = pool.read(BODY, "", None)
    for pid in stopped:
        assert not page.done()
        os.kill(pid, signal.SIGKILL)
        until(lambda pid=pid: pid not in pool.pids)
    with pytest.raises(ReadError, match="ended with status -9"):
        page.result(60)


def test_closing_ends_the_processes(pool) -> None:
    pool.read(BODY, "", None).result(60)
    until(lambda: len(pool.pids) == 2)
    pids = pool.pids
    pool.close()
    until(lambda: not any(map(alive, pids)))


PARENT = """
import time
from simhash_gate.options import Options
from simhash_gate.workers.pool import WorkerPool
pool = WorkerPool(Options({options}), processes=2, timeout=60)
first, _ = [pool.read(b'<p>some words here</p>', '', None) for _ in range(2)]
{wait}
while len(pool.pids) < 2: time.sleep(0.01)
print(*pool.pids, flush=True)
time.sleep(60)
"""
ENDLESS = """
import os, pathlib
class Endless:
    def __call__(self, page):
        pathlib.Path(__file__).with_name(str(os.getpid())).touch()
        while True:
            pass
"""


@pytest.mark.parametrize("busy", [False, True])
def test_workers_end_with_a_killed_parent(tmp_path, busy: bool) -> None:
    (tmp_path / "endless.py").write_text(ENDLESS)
    options, wait = ("extractor='endless.Endless'", "") if busy else ("", "first.result()")
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT.format(options=options, wait=wait)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"},
    )
    assert parent.stdout is not None
    pids = list(map(int, parent.stdout.readline().split()))
    assert len(pids) == 2
    until(lambda: not busy or all((tmp_path / f"{pid}").exists() for pid in pids))
    assert all(map(alive, pids))
    parent.kill()
    parent.communicate()
    until(lambda: not any(map(alive, pids)))


def test_what_python_passes_over_in_its_path_is_passed_over(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path, tmp_path])
    pool = WorkerPool(Options(), processes=1, timeout=10)
    try:
        assert pool.read(BODY, "", None).result(60).fingerprint is not None
    finally:
        pool.close()


@pytest.mark.parametrize("safe_path", ["", "1"])
def test_what_can_be_imported_here_can_be_there(tmp_path, monkeypatch, safe_path: str) -> None:
    (tmp_path / "own.py").write_text("from simhash_gate.page import SteadyExtractor as Own")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONSAFEPATH", safe_path)
    pool = WorkerPool(Options(extractor="own.Own"), processes=1, timeout=10)
    try:
        assert pool.read(BODY, "", None).result(60).fingerprint is not None
    finally:
        pool.close()


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


EXTRACTORS = """
import os, signal, time
from simhash_gate.page import Article
kept = []
class Hungry:
    def __call__(self, page):
        text = page.root.text_content()
        if "hungry" in text:
            kept.append(bytearray(1 << 30))
        if "greedy" in text:
            kept.append(bytearray(40 << 20))
            kept[-1][::4096] = b"x" * len(kept[-1][::4096])
        if "suicidal" in text:
            os.kill(os.getpid(), signal.SIGKILL)
        if "endless" in text:
            time.sleep(60)
        return Article(page.root, False)
"""


@pytest.fixture
def odd_pool(request, tmp_path, monkeypatch):
    """A process that some words harm; its seconds for a page are 60, or the parameter."""
    (tmp_path / "odd.py").write_text(EXTRACTORS)
    monkeypatch.syspath_prepend(tmp_path)
    options = Options(extractor="odd.Hungry")
    timeout = getattr(request, "param", 60)
    pool = WorkerPool(options, processes=1, timeout=timeout, memory=64 << 20)
    yield pool
    pool.close()


def saying(word: str) -> bytes:
    return BODY.replace(b"Title", word.encode())


def test_a_page_that_eats_memory_fails_alone(odd_pool) -> None:
    futures = [odd_pool.read(saying(word), "", None) for word in ("one", "hungry", "two")]
    one, hungry, two = (future.result(60) for future in futures)
    assert hungry.reason == "unreadable: MemoryError: "
    assert one.fingerprint is not None
    assert two.fingerprint is not None


def test_a_process_that_has_grown_is_replaced_and_no_page_fails(odd_pool) -> None:
    assert odd_pool.read(saying("one"), "", None).result(60).fingerprint is not None
    pids = odd_pool.pids
    futures = [odd_pool.read(saying(word), "", None) for word in ("greedy", "two", "three")]
    assert all(future.result(60).fingerprint is not None for future in futures)
    assert not {*pids} & {*odd_pool.pids}


@pytest.mark.parametrize(
    ("word", "odd_pool", "reason"),
    [
        ("suicidal", 60, "the page-reading process ended with status -9"),
        ("endless", 2, "reading took longer than 2 s"),
    ],
    indirect=["odd_pool"],
)
def test_pages_behind_one_that_ends_the_process_are_read_by_the_next(
    odd_pool, word, reason
) -> None:
    words = ["one", word, "two", "three", word, "four"]
    futures = [odd_pool.read(saying(word), "", None) for word in words]
    wait(futures, 60)
    failed = [str(future.exception()) if future.exception() else "" for future in futures]
    assert failed == ["", reason, "", "", reason, ""]


def test_pages_that_still_wait_when_the_pool_is_closed_fail(odd_pool) -> None:
    futures = [odd_pool.read(saying("endless"), "", None) for _ in range(4)]
    odd_pool.close()
    for future in [*futures, odd_pool.read(BODY, "", None)]:
        with pytest.raises(ReadError, match="have been ended"):
            future.result(10)


def test_what_waits_is_bounded_and_the_page_beyond_it_fails_at_once(odd_pool, monkeypatch) -> None:
    monkeypatch.setattr("simhash_gate.workers.pool.MOST_WAITING_BYTES", 4_000_000)
    bodies = [saying("endless") + b" " * 1_000_000 for _ in range(12)]
    futures = [odd_pool.read(body, "", None) for body in bodies]
    errors = [str(future.exception(60)) for future in futures[5:]]  # one is read, and four wait
    assert errors == ["4 pages wait to be read already"] * 7
    assert not any(future.done() for future in futures[:5])


def test_a_process_that_cannot_start_fails_each_page_with_the_reason(monkeypatch) -> None:
    monkeypatch.setattr("sys.executable", "/no/python/here")
    pool = WorkerPool(Options(), processes=2, timeout=10)
    try:
        for _ in range(2):
            with pytest.raises(ReadError, match="no page-reading process can be started"):
                pool.read(BODY, "", None).result(10)
    finally:
        pool.close()


def test_on_an_event_loop_of_the_callers_it_needs_no_thread() -> None:
    async def read() -> list[str]:
        before = threading.active_count()
        pool = WorkerPool(Options(), 2, 10, loop=asyncio.get_running_loop())
        try:
            bodies = [saying(f"Title {n}") for n in range(20)]
            futures = [asyncio.wrap_future(pool.read(body, "", None)) for body in bodies]
            pages = await asyncio.gather(*futures)
            assert threading.active_count() == before
            return [page.markdown.partition("\n")[0] for page in pages]
        finally:
            pool.close()

    assert asyncio.run(read()) == [f"# Title {n}" for n in range(20)]


def test_an_event_loop_that_was_busy_for_long_does_not_cost_a_page() -> None:
    async def read() -> None:
        pool = WorkerPool(Options(), 1, 1, loop=asyncio.get_running_loop())
        try:
            await asyncio.wrap_future(pool.read(BODY, "", None))
            pids = pool.pids
            futures = [asyncio.wrap_future(pool.read(BODY, "", None)) for _ in range(AHEAD)]
            time.sleep(2)  # what it takes to read these, several times over
            await asyncio.gather(*futures)
            assert pool.pids == pids
        finally:
            pool.close()

    asyncio.run(read())

"""Page-reading processes: what they answer, how they fail, when they end."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import wait
from contextlib import contextmanager
from pathlib import Path

import pytest

from simhash_gate.options import STEADY, Options
from simhash_gate.pipeline import read_page
from simhash_gate.workers.pool import WATCH_INTERVAL, InlineReader, ReadError, WorkerPool
from simhash_gate.workers.process import AHEAD
from tests.crawls.harness import ROOT, alive, until

pytestmark = pytest.mark.slow

BODY = b"<html><body><article><h1>Title</h1><p>%s</p></article></body></html>" % (b"word " * 50)


@contextmanager
def pool_of(
    processes: int = 1, timeout: float = 10, *, extractor: str = STEADY, **given
) -> Iterator[WorkerPool]:
    pool = WorkerPool(Options(extractor=extractor), processes, timeout, **given)
    try:
        yield pool
    finally:
        pool.close()


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    with pool_of(2) as pool:
        yield pool


def pids_of(pool: WorkerPool) -> list[int]:
    return [worker.process.pid for worker in pool._workers]


def saying(word: str) -> bytes:
    return BODY.replace(b"Title", word.encode())


def test_a_worker_reads_what_this_process_would_read_whatever_the_size(pool) -> None:
    url = "http://example.com/"
    large = BODY + b"<!-- " + b"x" * 5_000_000 + b" -->"  # than any buffer of a pipe
    bodies = [large, *(saying(f"Title {n}") for n in range(30))]
    futures = [pool.read(body, url, None) for body in bodies]
    for body, future in zip(bodies, futures, strict=True):
        expected = read_page(body, url=url)
        assert future.result(60) == expected
        assert future.result().markdown == expected.markdown
    assert InlineReader(Options()).read(BODY, url, None).result() == read_page(BODY, url=url)


def test_killed_workers_are_replaced_and_closing_ends_the_processes(pool) -> None:
    pool.read(BODY, "", None).result(60)
    until(lambda: len(pids_of(pool)) == 2)
    killed = pids_of(pool)
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    until(lambda: not {*killed} & {*pids_of(pool)})  # a page sent before that could fail
    assert pool.read(BODY, "", None).result(60).fingerprint is not None
    until(lambda: len(pids_of(pool)) == 2)
    pids = pids_of(pool)
    pool.close()
    until(lambda: not any(map(alive, [*killed, *pids])))


@pytest.fixture
def stopped(pool):
    """The processes of the pool, which are up, and stopped: they read nothing of what they get."""
    wait([pool.read(BODY, "", None) for _ in range(2 * AHEAD)], 60)  # as many for each
    for pid in (pids := pids_of(pool)):
        os.kill(pid, signal.SIGSTOP)
        until(lambda pid=pid: all(map(is_stopped, Path(f"/proc/{pid}/task").iterdir())))
    return pids


def is_stopped(thread: Path) -> bool:
    return (thread / "stat").read_text().rpartition(")")[2].split()[0] == "T"


def test_a_page_that_a_killed_process_had_not_begun_is_read_by_another(pool, stopped) -> None:
    first, second = stopped
    page = pool.read(BODY, "", None)
    os.kill(first, signal.SIGKILL)
    until(lambda: first not in pids_of(pool))
    os.kill(second, signal.SIGCONT)
    assert page.result(60).fingerprint is not None


def test_a_page_that_no_process_lives_to_read_is_given_up_with_the_second(pool, stopped) -> None:
    page = pool.read(BODY, "", None)
    for pid in stopped:
        assert not page.done()
        os.kill(pid, signal.SIGKILL)
        until(lambda pid=pid: pid not in pids_of(pool))
    with pytest.raises(ReadError, match="ended with status -9"):
        page.result(60)


@pytest.mark.parametrize("safe_path", ["", "1"])
def test_what_can_be_imported_here_can_be_there_and_no_file_hides_a_module_of_pythons(
    tmp_path, monkeypatch, safe_path: str
) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/own.py").write_text("from simhash_gate.page import SteadyExtractor as Own")
    (tmp_path / "queue.py").write_text("raise RuntimeError('the wrong queue')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["lib", *sys.path, tmp_path])  # Python passes over a `Path`
    monkeypatch.setenv("PYTHONSAFEPATH", safe_path)
    with pool_of(extractor="own.Own") as pool:
        assert pool.read(BODY, "", None).result(60).fingerprint is not None


ODD = """
import os, pathlib, signal
from simhash_gate.page import Article
kept = []
class Odd:
    def __call__(self, page):
        text = page.root.text_content()
        if "greedy" in text:
            kept.append(bytearray(40 << 20))
            kept[-1][::4096] = b"x" * len(kept[-1][::4096])
        if "suicidal" in text:
            os.kill(os.getpid(), signal.SIGKILL)
        if "endless" in text:
            pathlib.Path(__file__).with_name("begun").touch()
            while True:
                pass
        if "broken" in text:
            raise RuntimeError("nothing")
        return Article(page.root, False)
"""
PARENT = """
import time
from simhash_gate.options import Options
from simhash_gate.workers.pool import WorkerPool
pool = WorkerPool(Options(extractor='odd.Odd'), processes=2, timeout=60)
pool.read(b'<p>endless', '', None)
pool.read(b'<p>some words here</p>', '', None).result()
while len(pool._workers) < 2: time.sleep(0.01)
print(*(worker.process.pid for worker in pool._workers), flush=True)
time.sleep(60)
"""


def test_workers_busy_or_idle_end_with_a_killed_parent(tmp_path) -> None:
    (tmp_path / "odd.py").write_text(ODD)
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"},
    )
    assert parent.stdout is not None
    pids = list(map(int, parent.stdout.readline().split()))
    assert len(pids) == 2
    until((tmp_path / "begun").exists)
    assert all(map(alive, pids))
    parent.kill()
    parent.communicate()
    until(lambda: not any(map(alive, pids)))


@pytest.fixture
def odd_pool(request, tmp_path, monkeypatch) -> Iterator[WorkerPool]:
    """A process that some words harm; its seconds for a page are 60, or the parameter."""
    (tmp_path / "odd.py").write_text(ODD)
    monkeypatch.syspath_prepend(tmp_path)
    timeout = getattr(request, "param", 60)
    with pool_of(timeout=timeout, memory=64 << 20, extractor="odd.Odd") as pool:
        yield pool


def test_a_process_that_has_grown_is_replaced_and_no_other_and_no_page_fails(odd_pool) -> None:
    for word in ("one", "broken"):
        odd_pool.read(saying(word), "", None).result(60)
        assert len(pids := pids_of(odd_pool)) == 1
    assert odd_pool.read(saying("one"), "", None).result(60).fingerprint is not None
    assert pids_of(odd_pool) == pids
    futures = [odd_pool.read(saying(word), "", None) for word in ("greedy", "two", "three")]
    assert all(future.result(60).fingerprint is not None for future in futures)
    assert not {*pids} & {*pids_of(odd_pool)}


@pytest.mark.parametrize("odd_pool", [2], indirect=True)
def test_pages_behind_one_that_ends_the_process_are_read_by_the_next(odd_pool) -> None:
    words = ["one", "suicidal", "two", "endless", "three", "suicidal", "four"]
    futures = [odd_pool.read(saying(word), "", None) for word in words]
    wait(futures, 60)
    failed = [str(future.exception()) if future.exception() else "" for future in futures]
    killed = "the page-reading process ended with status -9"
    assert failed == ["", killed, "", "reading took longer than 2 s", "", killed, ""]


def test_what_waits_is_bounded_and_fails_when_the_pool_is_closed(odd_pool, monkeypatch) -> None:
    monkeypatch.setattr("simhash_gate.workers.pool.MOST_WAITING_BYTES", 4_000_000)
    bodies = [saying("endless") + b" " * 1_000_000 for _ in range(12)]
    futures = [odd_pool.read(body, "", None) for body in bodies]
    errors = [str(future.exception(60)) for future in futures[5:]]  # one is read, and four wait
    assert errors == ["4 pages wait to be read already"] * 7
    assert not any(future.done() for future in futures[:5])
    odd_pool.close()
    for future in [*futures[:5], odd_pool.read(BODY, "", None)]:
        with pytest.raises(ReadError, match="have been ended"):
            future.result(10)


def test_a_process_that_cannot_start_fails_each_page_with_the_reason(monkeypatch) -> None:
    monkeypatch.setattr("sys.executable", "/no/python/here")
    with pool_of(2) as pool:
        for _ in range(2):
            with pytest.raises(ReadError, match="no page-reading process can be started"):
                pool.read(BODY, "", None).result(10)


def test_on_an_event_loop_of_the_callers_it_needs_no_thread_and_a_busy_loop_costs_no_page() -> None:
    async def read() -> None:
        before = threading.active_count()
        with pool_of(timeout=1, loop=asyncio.get_running_loop()) as pool:
            bodies = [saying(f"Title {n}") for n in range(9)]
            futures = [pool.read(body, "", None) for body in bodies]
            pages = await asyncio.gather(*map(asyncio.wrap_future, futures))
            assert threading.active_count() == before
            pids = pids_of(pool)

            def keep_busy() -> None:
                futures[:] = [pool.read(BODY, "", None) for _ in range(AHEAD)]
                time.sleep(1.5)  # what it takes to read these, several times over

            asyncio.get_running_loop().call_later(0, keep_busy)
            time.sleep(2 * WATCH_INTERVAL)  # so that the pool looks at its processes right after
            await asyncio.sleep(0.01)
            await asyncio.gather(*map(asyncio.wrap_future, futures))
            assert pids_of(pool) == pids
        for number, page in enumerate(pages):
            assert f"# Title {number}\n" in page.markdown

    asyncio.run(read())

"""The store's thread: answers rest on what is committed, and failures are made up for."""

import gc
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from dataclasses import replace
from functools import cache, partial

import pytest

from simhash_gate.gate.judge import Gate
from simhash_gate.gate.visit import Visit
from simhash_gate.pipeline import read_page
from simhash_gate.plugin import store_run, store_thread
from simhash_gate.plugin.store_thread import MOST_AT_ONCE, StoreThread
from simhash_gate.stores import StoreError, StoreUnavailable, open_store
from simhash_gate.stores.store import Store
from tests.crawls.harness import until
from tests.fingerprints.made_lines import lines_of


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.sqlite"


def opened(path, **settings):
    thread = StoreThread("v1", **settings)
    thread.open(f"sqlite:///{path}").result(timeout=60)
    return thread


@pytest.fixture
def thread(path):
    thread = opened(path)
    yield thread
    thread.close(ended=False).result(timeout=60)


@cache
def page(number):
    words = " ".join(f"word{number}x{place}" for place in range(60))
    return read_page(f"<title>{number}</title><p>{words}</p>".encode())


def visit(number, key=""):
    return Visit(f"https://example.com/{number}", "example.com", key or f"{number:040x}")


def ask(number, key=""):
    return partial(Gate.judge, page=page(number), visit=visit(number, key))


def keys_in(path):
    with closing(open_store(f"sqlite:///{path}")) as store:
        return {record.key for record in store.records()}


def test_no_answer_comes_before_what_it_rests_on_is_committed(thread, path) -> None:
    early = []

    def check(number, future):
        if future.result().record.key not in keys_in(path):
            early.append(number)

    futures = []
    for number in range(2 * MOST_AT_ONCE):
        future = thread.submit(ask(number))
        future.add_done_callback(partial(check, number))
        futures.append(future)
    assert {future.result(timeout=60).outcome for future in futures} == {"new"}
    assert thread.submit(ask(7, key="x")).result(timeout=60).outcome == "duplicate"
    assert early == []


def test_copies_that_are_judged_in_one_batch_are_kept_once(thread) -> None:
    futures = [thread.submit(ask(1, key=f"{n}")) for n in range(20)]
    outcomes = [future.result(timeout=60).outcome for future in futures]
    assert sorted(outcomes) == ["duplicate"] * 19 + ["new"]


def test_a_call_that_fails_or_is_cancelled_does_not_fail_those_that_wait_with_it(thread) -> None:
    def broken(gate):
        raise ValueError("broken")

    calls = [ask(1), broken, ask(2), lambda gate: gate.store.end("no run"), ask(3)]
    futures = [thread.submit(call) for call in calls]
    assert [futures[n].result(timeout=60).outcome for n in (0, 2, 4)] == ["new"] * 3
    with pytest.raises(ValueError, match="broken"):
        futures[1].result(timeout=60)
    with pytest.raises(StoreError, match="no run"):
        futures[3].result(timeout=60)
    futures = [thread.submit(ask(number)) for number in range(50)]
    cancelled = futures[-1].cancel()
    assert thread.submit(ask(50)).result(timeout=60).outcome == "new"
    assert futures[-1].cancelled() == cancelled


def test_settled_pages_are_settled_soon_and_at_the_end_at_the_latest(path) -> None:
    thread = opened(path, durable=True)
    records = [thread.submit(ask(number)).result(timeout=60).record for number in range(2)]
    thread.settle(records[0])
    with closing(open_store(f"sqlite:///{path}")) as store:
        until(lambda: store.current(records[0]).settled)
        assert not store.current(records[1]).settled
        thread.settle(records[1])
        thread.close(ended=False).result(timeout=60)
        assert all(store.current(record).settled for record in records)


def test_each_settled_page_has_the_number_that_was_told_of_it_last(path) -> None:
    thread = opened(path, durable=True)
    records = [thread.submit(ask(number)).result(timeout=60).record for number in range(3)]
    for record, gave in zip([*records, records[0]], (0, 7, 2**62, 7), strict=True):
        thread.settle(replace(record, gave=gave))
    thread.settle(replace(records[1], gave=0))
    thread.close(ended=False).result(timeout=60)
    with closing(open_store(f"sqlite:///{path}")) as store:
        assert [store.current(record).gave for record in records] == [7, 0, 2**62]


def test_what_may_have_been_added_in_an_outage_is_forgotten(path, monkeypatch) -> None:
    thread = opened(path)
    kept = thread.submit(ask(1)).result(timeout=60).record

    def cut_off(gate):
        """Add the page, and lose the answer, as a connection that is cut in mid-reply does."""
        monkeypatch.setattr(gate.store, "put", unavailable)
        ask(2)(gate)

    def unavailable(_):
        monkeypatch.undo()
        raise StoreUnavailable("cut")

    with pytest.raises(StoreError, match="cut"):
        thread.submit(cut_off).result(timeout=60)
    with pytest.raises(StoreError, match="cut"):
        thread.submit(ask(3)).result(timeout=60)
    thread.close(ended=True).result(timeout=60)
    assert keys_in(path) == {kept.key}


def break_down(*_):
    raise RuntimeError("nobody thought of that")


def test_a_store_that_breaks_down_when_it_begins_fails_every_call(path, monkeypatch) -> None:
    monkeypatch.setattr(Store, "begin", break_down)
    thread = StoreThread("v1")
    for future in (thread.open(f"sqlite:///{path}"), thread.submit(ask(1)), thread.submit(ask(2))):
        with pytest.raises(StoreError, match="RuntimeError: nobody thought of that"):
            future.result(timeout=60)
    thread.close(ended=True).result(timeout=60)


def test_a_store_that_breaks_down_when_it_is_tried_again_is_waited_for(thread, monkeypatch) -> None:
    def unavailable(gate):
        raise StoreUnavailable("gone")

    monkeypatch.setattr(store_run, "FIRST_WAIT", 0.05)
    monkeypatch.setattr(Store, "begin", break_down)
    run = thread.run
    with pytest.raises(StoreUnavailable):
        thread.submit(unavailable).result(timeout=60)
    first = run.retry_at
    until(lambda: run.retry_at > first)
    monkeypatch.undo()
    until(lambda: run.failure is None)
    assert thread.submit(ask(1)).result(timeout=60).outcome == "new"


def test_what_is_asked_after_the_end_fails_at_once(path) -> None:
    thread = opened(path)
    closed = thread.close(ended=True)
    with pytest.raises(StoreError, match="closed"):
        thread.submit(ask(1)).result(timeout=60)
    closed.result(timeout=60)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_what_waits_when_the_thread_breaks_down_fails_at_once(path, monkeypatch) -> None:
    before = set(threading.enumerate())
    thread = opened(path)
    own = set(threading.enumerate()) - before
    begun, goes_on = threading.Event(), threading.Event()

    def break_down(calls):
        begun.set()
        goes_on.wait(60)
        raise MemoryError

    monkeypatch.setattr(thread.run, "answer", break_down)
    thread.submit(ask(1)).result(timeout=60)  # it waits for this one with what was there before
    thread.submit(ask(2))
    assert begun.wait(60)
    waits = thread.submit(ask(3))
    goes_on.set()
    with pytest.raises(StoreError, match="closed"):
        waits.result(timeout=60)
    for each in own:
        each.join(60)
    gc.collect()  # what it held is reported here, and not of another test


def test_a_run_that_can_not_be_renewed_is_not_renewed_all_the_time(path, monkeypatch) -> None:
    begun, begin = [], Store.begin

    def renew(store, run):
        begun.append(run)
        if len(begun) == 1:
            begin(store, run)
            return
        monkeypatch.setattr(store_thread, "RENEW_INTERVAL", 600)
        break_down()

    monkeypatch.setattr(store_thread, "RENEW_INTERVAL", 0)
    monkeypatch.setattr(Store, "begin", renew)
    thread = opened(path)
    for number in range(20):
        assert thread.submit(ask(number)).result(timeout=60).outcome == "new"
    thread.close(ended=True).result(timeout=60)
    assert 2 <= len(begun) <= 3


def test_a_store_that_never_waits_answers_at_once_on_this_thread() -> None:
    thread = StoreThread("v1")
    assert thread.open("memory:", at_once=True).done()
    asked_on = thread.submit(lambda gate: threading.get_ident())
    assert asked_on.result(timeout=0) == threading.get_ident()

    first = thread.submit(ask(1, key="a")).result(timeout=0)
    assert thread.submit(ask(1, key="b")).result(timeout=0).outcome == "duplicate"
    thread.forget(first.record)
    assert thread.submit(ask(1, key="b")).result(timeout=0).outcome == "new"
    with pytest.raises(StoreError, match="no run"):
        thread.submit(lambda gate: gate.store.end("no run")).result(timeout=0)
    assert thread.close(ended=True).done()
    assert StoreThread("v1").close(ended=False).done()  # one that was never opened


def test_a_run_ends_though_what_sites_repeat_can_not_be_kept(path, caplog) -> None:
    thread = opened(path)
    thread.submit(ask(1)).result(timeout=60)
    line = lines_of("one line of the site")
    for name in range(4):
        learn = lambda gate, name=name: gate._memories.of("example.com").learn(name, line)  # noqa: E731
        thread.submit(learn).result(timeout=60)
    with closing(sqlite3.connect(path)) as database:
        database.execute(
            "CREATE TRIGGER full BEFORE INSERT ON blob WHEN new.kind = 'site_memory' "
            "BEGIN SELECT RAISE(ABORT, 'no room'); END"
        )
        database.commit()
    thread.close(ended=True).result(timeout=60)
    assert "The site memory could not be kept for later crawls" in caplog.text
    later = opened(path)
    assert later.submit(ask(1)).result(timeout=60).outcome == "unchanged"
    later.close(ended=False).result(timeout=60)


LEAVES = """
import sys
from simhash_gate.plugin.store_thread import StoreThread
thread = StoreThread("v1", reads=True)
thread.open(sys.argv[1]).result(timeout=60)
for number in range(1000):
    asked = thread.submit(lambda gate, scope=str(number): [*gate.store.records(scope)])
"""


def test_a_process_that_ends_while_the_thread_reads_leaves_no_file_of_sqlite(path) -> None:
    open_store(f"sqlite:///{path}").close()
    subprocess.run([sys.executable, "-c", LEAVES, f"sqlite:///{path}"], check=True, timeout=60)
    assert [file.name for file in path.parent.iterdir()] == [path.name]

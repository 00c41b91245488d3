"""Many owners of one database: what each sees of the others, and of their deaths."""

import os
import random
import re
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace

import pytest

from simhash_gate.stores import StoreUnavailable, Window
from simhash_gate.stores.sqlite_file import StoreLock
from tests.stores.kept import sqlite_store

BASE = 0x9E3779B97F4A7C15


def test_a_window_is_kept_exactly_by_two_that_add_by_turns(path, make_record):
    """More pages than are counted one by one, by two processes' worth of counts."""
    window = Window(pages=300)
    with closing(sqlite_store(path)) as store, closing(sqlite_store(path)) as other:
        store.begin("run")
        other.begin("other")
        pages = [make_record(n << 20, run=("run", "other")[n // 3 % 2]) for n in range(800)]
        for page in pages:
            owner = store if page.run == "run" else other
            assert owner.check_and_add(page, 0, window=window).added
        assert [*store.records()] == pages[-300:]


def test_a_database_that_is_held_too_long_is_named(filled, make_record):
    with closing(sqlite_store(filled, timeout=0.05)) as store:
        store.begin("second")
        with closing(sqlite3.connect(filled)) as db:
            db.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreUnavailable, match=f"{re.escape(str(filled))}.*too long"):
                store.check_and_add(make_record(1, run="second"), 3)
        assert store.check_and_add(make_record(1, run="second"), 0).added


@pytest.mark.parametrize(("most", "scopes"), [(10**6, 1), (10, 3)])
def test_what_others_do_is_seen_at_once_however_many_fingerprints_are_kept_in_memory(
    path, make_record, most, scopes
):
    chance = random.Random(3)
    with closing(sqlite_store(path)) as store, closing(sqlite_store(path)) as other:
        store.begin("run")
        other.begin("other")
        store.mirrors.most = most
        window = Window(pages=50)
        for number in range(600 // scopes):  # in one scope, more than are left once they are gone
            scope = f"{chance.randrange(scopes)}.example"
            page = make_record(chance.getrandbits(64), scope=scope)
            assert store.check_and_add(page, 3, window=window).added
            again = replace(page, run="other", key="again")
            assert other.check_and_add(again, 3, window=window).match.record == page
            if number % 3 == 0:  # the newest number is free again
                assert other.forget(page)
                assert other.check_and_add(again, 3, window=window).added
                assert store.check_and_add(page, 3).match.record.identity == again.identity
        assert len([*store.records()]) == 50 * scopes


def test_a_lock_file_left_behind_is_removed(path):
    stray = path.with_name(f"{path.name}-store-{0:016x}.lock")
    stray.touch()
    with closing(sqlite_store(path)) as store:
        store.begin("run")
        assert not stray.exists()
        store.end("run")
    assert [*path.parent.glob("*-store-*")] == []


def test_those_who_ask_at_once_whether_a_run_lives_do_not_take_each_other_for_it(path):
    """A crawl that takes a dead run for a live one drops what only that one had."""
    lock = StoreLock(path)
    with ThreadPoolExecutor(2) as askers:
        assert not any(askers.map(lock.is_held, [1] * 500))


def test_a_run_dies_with_its_process_though_a_child_lives_on(path, crawler, make_record):
    with closing(sqlite_store(path)) as store:
        store.begin("run")
        process = crawler("keep", f"sqlite:///{path}", "parent", 7)
        child = int([process.stdout.readline() for _ in range(3)][-1])
        try:
            page = make_record(7)
            assert store.check_and_add(page, 3).match.record.run == "parent"
            process.kill()
            process.wait()
            os.kill(child, 0)  # it is still there
            assert store.check_and_add(page, 3).added
        finally:
            os.kill(child, 9)


def test_a_killed_crawler_leaves_a_sound_database_and_only_its_durable_page_counts(filled, crawler):
    chance = random.Random(5)
    for number in range(4):
        process = crawler("crawl", f"sqlite:///{filled}", f"killed {number}", number)
        for _ in range(chance.randrange(5, 60)):
            assert process.stdout.readline()
        time.sleep(chance.random() / 500)
        process.kill()
        process.wait()
        with closing(sqlite3.connect(filled)) as db:
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            assert db.execute("SELECT count(*) FROM page").fetchone()[0] > 301 + number
        with closing(sqlite_store(filled)) as store:
            store.begin(f"next {number}")
            assert len([*store.records()]) == 301 + number
            store.end(f"next {number}")
    assert [*filled.parent.iterdir()] == [filled]


def test_a_crawler_killed_while_it_makes_the_database_is_no_hindrance(tmp_path, crawler):
    chance = random.Random(6)
    for number in range(4):
        path = tmp_path / f"{number}.sqlite"
        process = crawler("crawl", f"sqlite:///{path}", "killed", number)
        assert process.stdout.readline() == "ready\n"
        time.sleep(chance.random() / 100)
        process.kill()
        process.wait()
        with closing(sqlite_store(path)) as store:
            store.begin("next")
            assert [page.key for page in store.records()] in ([], ["1"])
            store.end("next")

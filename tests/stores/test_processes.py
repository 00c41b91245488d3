"""Many crawlers, each a process of its own, on one store."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import closing
from threading import Barrier, Thread

import pytest

from simhash_gate.stores import open_store
from tests.stores.crawler_process import GROUPS, PAGES, VISITS, record, visit


@pytest.fixture
def together(crawler, lasting_url):
    """Run crawlers at once, each with its own run and seed; return what each has printed."""

    def run(role, number):
        crawlers = [crawler(role, lasting_url, f"run {n}", n) for n in range(number)]
        for process in crawlers:
            assert [process.stdout.readline() for _ in range(2)] == ["ready\n", "begun\n"]
        for process in crawlers:
            process.stdin.write("go\n")
            process.stdin.flush()
        printed = [process.communicate()[0].split() for process in crawlers]
        assert [process.returncode for process in crawlers] == [0] * number
        return printed

    return run


def test_of_each_group_of_near_copies_one_is_kept_by_4_processes_at_once(together, lasting_url):
    """Copies are one bit from the centre of their group at most, so 2 bits from each other."""
    kept = Counter(group for printed in together("race", 4) for group in printed)
    assert kept == {str(group): 1 for group in range(GROUPS)}
    with closing(open_store(lasting_url)) as store:
        assert len([*store.records()]) == GROUPS


def test_of_the_visits_of_3_processes_at_once_the_last_counts_of_each_page(together, lasting_url):
    together("revisit", 3)
    with closing(open_store(lasting_url)) as store:
        last = [visit("run 2", page, VISITS + page + 2 / 16) for page in range(PAGES)]
        assert sorted(store.histories(), key=lambda history: history.seen) == last
        store.begin("next")
        for page in range(PAGES):
            store.keep_history(visit("next", page, 10**6))
            store.forget_history("example.com", f"{page}", "run 2")
        assert [*store.histories()] == []  # what others had kept before is gone


def test_crawlers_that_start_at_once_make_one_store(lasting_url):
    barrier = Barrier(8)
    opened, added = [], []

    def start(number):
        barrier.wait()
        store = open_store(lasting_url)
        opened.append(store)
        store.begin(f"run {number}")
        added.append(store.check_and_add(record(f"run {number}", 1), 3).added)

    threads = [Thread(target=start, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(added) == [False] * 7 + [True]
    assert len([*opened[0].records()]) == 1
    for store in opened:
        store.close()


def test_of_a_killed_process_only_durable_pages_and_histories_count(lasting_url, crawler):
    url = lasting_url if lasting_url.startswith("sqlite") else f"{lasting_url}&lease=1"
    with closing(open_store(url)) as store:
        store.begin("old")
        old = [visit("old", page, 0.5) for page in range(2)]
        for history in old:
            store.keep_history(history)
        store.end("old")
        process = crawler("stay", url, "killed", 0)
        for _ in range(6):
            assert process.stdout.readline()
        assert [page.settled for page in store.records()][:3] == [False, True, False]

        def counting():
            return sorted(store.histories(), key=lambda history: history.request)

        durable = visit("killed", 1, 1.0)
        assert counting() == [old[0], durable]
        process.kill()
        process.wait()
        while store.is_live("killed"):
            time.sleep(0.05)
        store.begin("next")
        assert counting() == [old[0], durable]
        assert store.history("example.com", "0", "next") == old[0].history
        assert store.history("example.com", "1", "killed") == durable.history
        assert [page.request for page in store.records()] == ["1"]
        assert store.check_and_add(record("next", 0), 3).added

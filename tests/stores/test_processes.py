"""Many crawlers, each a process of its own, on one store."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import closing

from simhash_gate.stores import open_store
from tests.stores.crawler_process import GROUPS, PAGES, VISITS, visit

PROCESSES = 8


def test_of_each_group_of_near_copies_one_is_kept_by_8_processes_at_once(lasting_url, crawler):
    """Copies are one bit from the centre of their group at most, so 2 bits from each other."""
    open_store(lasting_url).close()
    crawlers = [crawler("race", lasting_url, f"run {n}", n) for n in range(PROCESSES)]
    for process in crawlers:
        assert [process.stdout.readline() for _ in range(2)] == ["ready\n", "begun\n"]
    for process in crawlers:
        process.stdin.write("go\n")
        process.stdin.flush()
    kept = Counter(group for process in crawlers for group in process.communicate()[0].split())
    assert [process.returncode for process in crawlers] == [0] * PROCESSES
    assert kept == {str(group): 1 for group in range(GROUPS)}
    with closing(open_store(lasting_url)) as store:
        assert len([*store.records()]) == GROUPS


def test_of_the_visits_of_4_processes_at_once_the_last_counts_of_each_page(lasting_url, crawler):
    with closing(open_store(lasting_url)) as store:
        crawlers = [crawler("revisit", lasting_url, f"run {n}", n) for n in range(4)]
        for process in crawlers:
            assert [process.stdout.readline() for _ in range(2)] == ["ready\n", "begun\n"]
        for process in crawlers:
            process.stdin.write("go\n")
            process.stdin.flush()
        for process in crawlers:
            process.communicate()
        assert [process.returncode for process in crawlers] == [0] * 4
        last = [visit("run 3", page, VISITS + page + 3 / 16) for page in range(PAGES)]
        assert sorted(store.histories(), key=lambda history: history.seen) == last
        store.begin("next")
        for page in range(PAGES):
            store.keep_history(visit("next", page, 10**6))
            store.forget_history("example.com", f"{page}", "run 3")
        assert [*store.histories()] == []  # what others had kept before is gone


def test_a_killed_process_leaves_the_histories_that_were_durable(lasting_url, crawler):
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

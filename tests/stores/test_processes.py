"""Many crawlers, each a process of its own, on one store."""

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from threading import Barrier

from simhash_gate.stores import open_store
from tests.stores.crawler_process import GROUPS, fingerprints, last_visit, record, visit
from tests.stores.kept import forget_history, histories, history_of, keep_history


def test_4_processes_at_once_keep_one_of_each_group_of_near_copies_and_a_last_visit_of_each_page(
    crawler, lasting_url
):
    """Copies are one bit from the centre of their group at most, so 2 bits from each other."""
    crawlers = [crawler("race", lasting_url, f"run {seed}", seed) for seed in range(4)]
    for process in crawlers:
        assert [process.stdout.readline() for _ in range(2)] == ["ready\n", "begun\n"]
    for process in crawlers:
        process.stdin.write("go\n")
        process.stdin.flush()
    kept = Counter(group for process in crawlers for group in process.communicate()[0].split())
    assert [process.returncode for process in crawlers] == [0] * 4
    assert kept == {str(group): 1 for group in range(GROUPS)}
    with closing(open_store(lasting_url)) as store:
        assert len([*store.records()]) == GROUPS
        last = {int(history.key): history for history in histories(store)}
        store.begin("next")
        for group in range(GROUPS):
            assert last[group] in [last_visit(seed, group) for seed in range(4)]
            keep_history(store, visit("next", group, 10**6))
            forget_history(store, "example.com", f"{group}", last[group].run)
        assert [*histories(store)] == []  # what others had kept before is gone


def test_crawlers_that_start_at_once_make_one_store(lasting_url):
    barrier = Barrier(8)

    def start(run):
        barrier.wait()
        store = open_store(lasting_url)
        store.begin(run)
        return store, store.check_and_add(record(run, 1), 3).added

    with ThreadPoolExecutor(8) as threads:
        opened, added = zip(*threads.map(start, [f"run {n}" for n in range(8)]), strict=True)
    assert sorted(added) == [False] * 7 + [True]
    assert len([*opened[0].records()]) == 1
    for store in opened:
        store.close()


def test_of_a_killed_process_only_durable_pages_and_histories_count(lasting_url, crawler):
    url = lasting_url if lasting_url.startswith("sqlite") else f"{lasting_url}&lease=1"
    lost, durable = (record("killed", bits, n) for n, bits in enumerate(fingerprints(0, 2)))
    durable = replace(durable, settled=True)
    old, said = [visit("old", page, 0.5) for page in range(2)], visit("killed", 1, 1.0)
    with closing(open_store(url)) as store:
        store.begin("old")
        for history in old:
            keep_history(store, history)
        store.end("old")
        store.begin("next")
        process = crawler("crawl", url, "killed", 0)
        for _ in range(6):
            assert process.stdout.readline()
        assert [*store.records()][:2] == [lost, durable]
        process.kill()
        process.wait()
        while store.is_live("killed"):
            time.sleep(0.05)
        # Before what is left of it has been removed, and after.
        for begin in (lambda: None, lambda: store.begin("another")):
            begin()
            assert [store.current(lost), store.current(durable)] == [None, durable]
            assert (
                store.check_and_add(record("next", durable.fingerprint, 2), 0).match.record
                == durable
            )
            found = sorted(histories(store), key=lambda history: history.key)
            assert found == [old[0], said]
            assert history_of(store, "example.com", "0", "next") == old[0].history
            assert [*store.records()] == [durable]
        assert store.check_and_add(replace(lost, run="next"), 3).added

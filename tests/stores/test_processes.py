"""Many crawlers, each a process of its own, on one store."""

from __future__ import annotations

from collections import Counter
from contextlib import closing

from simhash_gate.stores import open_store
from tests.stores.crawler_process import GROUPS

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

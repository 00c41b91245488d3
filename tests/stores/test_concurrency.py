"""Many crawlers on one store: of pages that are alike, one is kept."""

from __future__ import annotations

from collections import Counter
from contextlib import closing

from crawler_process import CROWD_GROUPS

from simhash_gate.stores import open_store

CRAWLERS = 8


def test_of_the_near_copies_that_eight_crawlers_add_at_once_one_is_kept(lasting_url, crawler):
    crawlers = [crawler("crowd", lasting_url, f"run {n}", n) for n in range(CRAWLERS)]
    for process in crawlers:
        assert [process.stdout.readline() for _ in range(2)] == ["ready\n", "begun\n"]
    for process in crawlers:
        process.stdin.write("go\n")
        process.stdin.flush()
    kept = Counter(group for process in crawlers for group in process.communicate()[0].split())
    assert [process.returncode for process in crawlers] == [0] * CRAWLERS
    assert kept == {str(group): 1 for group in range(CROWD_GROUPS)}
    with closing(open_store(lasting_url)) as store:
        assert len([*store.records()]) == CROWD_GROUPS

"""A crawler that does nothing but fill a store: run by the tests in a process of its own.

`crawler_process.py ROLE URL RUN [SEED]` prints a line for each thing it has done.
"""

import os
import random
import sys
import time

from simhash_gate.stores import Record, Window, open_store
from tests.stores.kept import PageHistory, keep_history

GROUPS = 40
COPIES = 3
WIDE = Window(pages=10**9)


def record(run, fingerprint, number=0):
    return Record(
        scope="example.com",
        url=f"https://example.com/{number}",
        key=f"{number}",
        fingerprint=fingerprint,
        digest=0,
        words=100,
        title="Title",
        pipeline="v1",
        run=run,
        first_seen=float(number),
        last_seen=float(number),
    )


def fingerprint_of(group):
    return random.Random(f"group {group}").getrandbits(64)


def fingerprints(seed, number):
    """Of the pages of a crawl."""
    chance = random.Random(str(seed))
    return (chance.getrandbits(64) for _ in range(number))


def visit(run, page, seen):
    return PageHistory(
        "example.com", f"{page}", f"https://example.com/{page}", run, seen, f"{seen}".encode()
    )


def last_visit(seed, group):
    """The last one of a crawler that races."""
    return visit(f"run {seed}", group, GROUPS * COPIES + group + seed / 16)


def race(store, run, seed):
    """Add and visit near copies of the same pages as everyone else, in an order of its own."""
    order = list(range(GROUPS)) * COPIES
    chance = random.Random(seed)
    chance.shuffle(order)
    sys.stdin.readline()
    for number, group in enumerate(order):
        copy = fingerprint_of(group) ^ (1 << chance.randrange(64))
        if store.check_and_add(record(run, copy, number), 3).added:
            print(group)
        keep_history(store, visit(run, group, number + int(seed) / 16))
    for group in range(GROUPS):
        keep_history(store, last_visit(int(seed), group))
    store.end(run)


def crawl(store, run, seed):
    """Add and visit pages until killed, the second one durable; none falls out of the window."""
    for number, bits in enumerate(fingerprints(seed, 10**9)):
        page = record(run, bits, number)
        keep_history(store, visit(run, number % 2, float(number)))
        store.check_and_add(page, 3, window=WIDE)
        if number == 1:
            store.update([page], settled=True, durable=True)
        print(number, flush=True)


def keep(store, run, seed):
    """Add one page and stay; a child outlives it."""
    store.check_and_add(record(run, int(seed)), 3)
    if not os.fork():  # what it holds of its parent, it lets go before it says so
        print(os.getpid(), flush=True)
        time.sleep(60)
        os._exit(0)
    time.sleep(60)


if __name__ == "__main__":
    role, url, run, seed = sys.argv[1:]
    print("ready", flush=True)
    opened = open_store(url)
    opened.begin(run)
    print("begun", flush=True)
    {"race": race, "crawl": crawl, "keep": keep}[role](opened, run, seed)
    opened.close()

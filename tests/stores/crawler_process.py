"""A crawler that does nothing but fill a store: run by the tests in a process of its own.

`crawler_process.py ROLE URL RUN [SEED]` prints a line for each thing it has done.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from dataclasses import replace

from simhash_gate.stores import PageHistory, Record, Window, open_store

GROUPS = 100
COPIES = 4
PAGES, VISITS = 20, 100
WIDE = Window(pages=10**9)


def record(run, fingerprint, number=0):
    return Record(
        scope="example.com",
        url=f"https://example.com/{number}",
        request=f"{number}",
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


def race(store, run, seed):
    """Add near copies of the same pages as everyone else, in an order of its own."""
    order = list(range(GROUPS)) * COPIES
    chance = random.Random(seed)
    chance.shuffle(order)
    sys.stdin.readline()
    for number, group in enumerate(order):
        copy = fingerprint_of(group) ^ (1 << chance.randrange(64))
        if store.check_and_add(record(run, copy, number), 3).added:
            print(group)
    store.end(run)


def crawl(store, run, seed):
    """Add pages until killed; none falls out of the window, however long that takes."""
    chance = random.Random(seed)
    for number in range(10**9):
        store.check_and_add(record(run, chance.getrandbits(64), number), 3, window=WIDE)
        print(number, flush=True)


def visit(run, page, seen):
    return PageHistory(
        "example.com", f"{page}", f"https://example.com/{page}", run, seen, f"{seen}".encode()
    )


def revisit(store, run, seed):
    """Visit the same pages as everyone else again and again, at times that no other one has."""
    chance = random.Random(seed)
    sys.stdin.readline()
    for time_of_day in range(VISITS):
        store.keep_history(visit(run, chance.randrange(PAGES), time_of_day + int(seed) / 16))
    for page in range(PAGES):
        store.keep_history(visit(run, page, VISITS + page + int(seed) / 16))
    store.end(run)


def stay(store, run, seed):
    """Keep two pages, one of them durable, and their histories; then go on until killed."""
    for page in range(2):
        store.keep_history(visit(run, page, 1.0))
        store.check_and_add(record(run, page * 0xFFFF, page), 3)
    store.settle([replace(record(run, 0xFFFF), request="1")], durable=True)
    for number in range(2, 10**9):
        store.keep_history(visit(run, number % 2, float(number)))
        store.check_and_add(record(run, number << 32, number), 0)
        print(number, flush=True)


def keep(store, run, seed):
    """Add one page and stay; two children outlive it."""
    child = subprocess.Popen(["sleep", "60"], stdout=subprocess.DEVNULL, close_fds=False)
    born, tell = os.pipe()
    forked = os.fork()
    if not forked:
        os.write(tell, b".")
        os.close(1)
        time.sleep(60)
        os._exit(0)
    os.read(born, 1)
    store.check_and_add(record(run, int(seed)), 3)
    print(child.pid, forked, flush=True)
    time.sleep(60)


if __name__ == "__main__":
    role, url, run, seed = sys.argv[1:]
    print("ready", flush=True)
    opened = open_store(url)
    opened.begin(run)
    print("begun", flush=True)
    roles = {"race": race, "crawl": crawl, "keep": keep, "revisit": revisit, "stay": stay}
    roles[role](opened, run, seed)
    opened.close()

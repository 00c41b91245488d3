"""Crawlers that share a store, and one that meets many scopes, in processes of their own."""

from __future__ import annotations

import multiprocessing
import random
import re
import time
import uuid
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from functools import partial
from itertools import product
from pathlib import Path
from threading import Barrier
from typing import Any

from benchmarks.servers import stores
from benchmarks.speed.measure import say
from simhash_gate.stores import Record, Window, open_store

RADIUS, NEAR = 3, 8
WINDOW = Window(pages=1_000_000)
PROCESSES = (1, 2, 4, 8)
MANY = 64

Task = Callable[[Any, str, random.Random], dict[str, Any]]
_barrier: Barrier


def make_page(group: int, run: str, scope: str, chance: random.Random) -> Record:
    """Return a page at most one bit from the middle of its group, with a usual URL and title."""
    now = time.time()
    return Record(
        scope=scope,
        url=f"https://www.example.com/news/2024/05/what-an-article-is-about-{group:07d}.html",
        request=f"{chance.getrandbits(160):040x}",
        fingerprint=random.Random(f"group {group}").getrandbits(64) ^ (1 << chance.randrange(64)),
        digest=chance.getrandbits(64),
        words=500,
        title=f"A title of the usual length, of article {group:07d}",
        pipeline="0123456789ab",
        run=run,
        first_seen=now,
        last_seen=now,
    )


def _offer(
    scopes: int, groups: int, pages: int, store: Any, run: str, chance: random.Random
) -> dict[str, Any]:
    """Add pages of random groups, each of which belongs to one of the scopes."""
    mine = [chance.randrange(groups) for _ in range(pages)]
    began = time.monotonic()
    kept = []
    for group in mine:
        page = make_page(group, run, f"{scopes}-{group % scopes}.example.com", chance)
        if store.check_and_add(page, RADIUS, near=NEAR, window=WINDOW).added:
            kept.append(group)
    return {"kept": kept, "seen": mine, "began": began, "finished": time.monotonic()}


def _meet(
    scopes: int, pages: int, known: int, store: Any, run: str, chance: random.Random
) -> dict[str, Any]:
    """Add its first pages to each scope; the first `known` of them are copies of kept ones."""
    before, began = _memory("VmRSS"), time.monotonic()
    for scope, group in product(range(scopes), range(pages)):
        page = make_page(group, run, f"filled-{scope}.example.com", chance)
        if store.check_and_add(page, RADIUS, near=NEAR).added == (group < known):
            raise AssertionError(f"wrong answer for page {group} of scope {scope}")
    taken, peak = time.monotonic() - began, _memory("VmHWM")
    return {"gained": _memory("VmRSS") - before, "peak": peak, "seconds": taken}


def _memory(value: str) -> int:
    """Return bytes of this process as Linux tells them."""
    found = re.search(rf"{value}:\s*(\d+) kB", Path("/proc/self/status").read_text("ascii"))
    assert found
    return int(found[1]) * 1024


def crowds(kinds: Collection[str], crawled: int) -> list[dict[str, Any]]:
    """Let processes offer `crawled` pages in all to each store."""
    rows = []
    with stores(kinds) as new_urls:
        new_urls.pop("memory", None)
        for (kind, new), scopes, processes in product(new_urls.items(), (1, MANY), PROCESSES):
            say(f"{kind}: {processes} processes, scopes: {scopes}")
            offer = partial(_offer, scopes, crawled // 2, crawled // processes)
            told = _at_once(processes, offer, new())
            kept = Counter(group for crawler in told for group in crawler["kept"])
            if set(kept) != {group for crawler in told for group in crawler["seen"]}:
                raise AssertionError(f"{kind}: a page was lost")
            taken = max(c["finished"] for c in told) - min(c["began"] for c in told)
            seen, twice = sum(len(c["seen"]) for c in told), sum(n > 1 for n in kept.values())
            figures = {"pages/s": seen / taken, "kept twice": twice}
            rows.append({"store": kind, "scopes": scopes, "processes": processes, **figures})
    return rows


def meetings(kinds: Collection[str], cases: Sequence[tuple[int, int]]) -> list[dict[str, Any]]:
    """Let a process meet all scopes that others have filled, each with its pages, for each case."""
    rows = []
    for scopes, pages in cases:
        with stores(kinds) as new_urls:  # anew: the last ones are full
            for kind, new_url in new_urls.items():
                say(f"{kind}: {scopes:,} scopes of {pages:,} pages")
                url = new_url()
                (told,) = _at_once(1, partial(_meet, scopes, pages, 0), url)
                if kind != "memory":
                    (told,) = _at_once(1, partial(_meet, scopes, 1, 1), url)
                rows.append({"store": kind, "scopes": scopes, "pages": pages, **told})
    return rows


def _at_once(processes: int, task: Task, url: str) -> list[dict[str, Any]]:
    """Let new processes do a task at once; return what each tells."""
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(processes)
    with ProcessPoolExecutor(processes, context, _share, (barrier,)) as pool:
        return [*pool.map(partial(_crawl, task, url), range(processes))]


def _share(barrier: Barrier) -> None:
    global _barrier  # noqa: PLW0603 - one for the life of this process
    _barrier = barrier


def _crawl(task: Task, url: str, place: int) -> dict[str, Any]:
    """Open a store, do a task in a run, and end that once all others have done theirs."""
    run = uuid.uuid4().hex
    try:
        with closing(open_store(url)) as store:
            store.begin(run)
            _barrier.wait()
            told = task(store, run, random.Random(f"{place}"))
            _barrier.wait()
            store.end(run)
    except BaseException:
        _barrier.abort()  # or the others would wait
        raise
    return told

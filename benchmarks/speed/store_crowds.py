"""Crawlers that share a scope of a store, in processes of their own."""

from __future__ import annotations

import multiprocessing
import random
import time
import uuid
from collections import Counter
from collections.abc import Collection
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from functools import partial
from threading import Barrier
from typing import Any

from benchmarks.servers import KINDS, stores
from benchmarks.speed.measure import say
from simhash_gate.stores import Record, Window, open_store

RADIUS, NEAR = 3, 8
WINDOW = Window(pages=1_000_000)
PROCESSES = 8
_barrier: Barrier


def make_page(group: int, run: str, chance: random.Random) -> Record:
    """Return a page at most one bit from the middle of its group, with a usual URL and title."""
    now = time.time()
    return Record(
        scope="example.com",
        url=f"https://www.example.com/news/2024/05/what-an-article-is-about-{group:07d}.html",
        key=f"{chance.getrandbits(160):040x}",
        fingerprint=random.Random(f"group {group}").getrandbits(64) ^ (1 << chance.randrange(64)),
        digest=chance.getrandbits(64),
        words=500,
        title=f"A title of the usual length, of article {group:07d}",
        pipeline="0123456789ab",
        run=run,
        first_seen=now,
        last_seen=now,
    )


def crowds(crawled: int, kinds: Collection[str] = KINDS) -> list[dict[str, Any]]:
    """Let processes offer `crawled` pages in all to each store."""
    rows = []
    with stores(kinds) as new_urls:
        new_urls.pop("memory", None)
        for kind, new in new_urls.items():
            say(f"{kind}: {PROCESSES} processes")
            told = _at_once(partial(_crawl, new(), crawled // 2, crawled // PROCESSES))
            kept = Counter(group for crawler in told for group in crawler["kept"])
            if set(kept) != {group for crawler in told for group in crawler["seen"]}:
                raise AssertionError(f"{kind}: a page was lost")
            taken = max(c["finished"] for c in told) - min(c["began"] for c in told)
            seen, twice = sum(len(c["seen"]) for c in told), sum(n > 1 for n in kept.values())
            rows.append({"store": kind, "pages/s": seen / taken, "kept twice": twice})
    return rows


def _at_once(crawl: partial[dict[str, Any]]) -> list[dict[str, Any]]:
    """Let new processes crawl at once; return what each tells."""
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(PROCESSES)
    with ProcessPoolExecutor(PROCESSES, context, _share, (barrier,)) as pool:
        return [*pool.map(crawl, range(PROCESSES))]


def _share(barrier: Barrier) -> None:
    global _barrier  # noqa: PLW0603 - one for the life of this process
    _barrier = barrier


def _crawl(url: str, groups: int, pages: int, place: int) -> dict[str, Any]:
    """Add pages of random groups in a run, and end that once all others have done theirs."""
    run, chance = uuid.uuid4().hex, random.Random(f"{place}")
    seen, kept = [chance.randrange(groups) for _ in range(pages)], []
    try:
        with closing(open_store(url)) as store:
            store.begin(run)
            _barrier.wait()
            began = time.monotonic()
            for group in seen:
                page = make_page(group, run, chance)
                if store.check_and_add(page, RADIUS, near=NEAR, window=WINDOW).added:
                    kept.append(group)
            finished = time.monotonic()
            _barrier.wait()
            store.end(run)
    except BaseException:
        _barrier.abort()  # or the others would wait
        raise
    return {"kept": kept, "seen": seen, "began": began, "finished": finished}

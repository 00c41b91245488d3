"""The pages that stores are measured with, and a crawler that adds them in a process of its own.

`python -m benchmarks.speed.store_pages URL RUN SEED GROUPS PAGES` opens a store, waits for a line,
adds its pages, and prints which groups it kept and when it began and finished, as JSON.
"""

from __future__ import annotations

import json
import random
import sys
import time
from contextlib import closing

from simhash_gate.stores import PageHistory, Record, Window, open_store

RADIUS, NEAR = 3, 8
HISTORY = 400  # bytes, of a page with three versions
WINDOW = Window(pages=1_000_000)


def fingerprint_of(group: int) -> int:
    """Return the fingerprint in the middle of a group of pages that are alike."""
    return random.Random(f"group {group}").getrandbits(64)


def make_page(group: int, run: str, scope: str, chance: random.Random) -> Record:
    """Return a page at most one bit from the middle of its group, with a usual URL and title."""
    now = time.time()
    return Record(
        scope=scope,
        url=f"https://www.example.com/news/2024/05/what-an-article-is-about-{group:07d}.html",
        request=f"{chance.getrandbits(160):040x}",
        fingerprint=fingerprint_of(group) ^ (1 << chance.randrange(64)),
        digest=chance.getrandbits(64),
        words=500,
        title=f"A title of the usual length, of article {group:07d}",
        pipeline="0123456789ab",
        run=run,
        first_seen=now,
        last_seen=now,
    )


def make_history(group: int, run: str, scope: str, chance: random.Random) -> PageHistory:
    """Return what a run knows of the visits to the page of a group."""
    request = f"{random.Random(f'request {group}').getrandbits(160):040x}"
    url = f"https://www.example.com/news/2024/05/what-an-article-is-about-{group:07d}.html"
    return PageHistory(scope, request, url, run, time.time(), chance.randbytes(HISTORY))


def main() -> None:
    """Add the pages of one crawler."""
    url, run, seed, groups, pages = sys.argv[1:]
    chance = random.Random(seed)
    mine = [chance.randrange(int(groups)) for _ in range(int(pages))]
    with closing(open_store(url)) as store:
        store.begin(run)
        print("ready", flush=True)
        sys.stdin.readline()
        began = time.monotonic()
        kept = [
            group
            for group in mine
            if store.check_and_add(
                make_page(group, run, "hot.example.com", chance), RADIUS, near=NEAR, window=WINDOW
            ).added
        ]
        finished = time.monotonic()
        print(json.dumps({"kept": kept, "seen": mine, "began": began, "finished": finished}))
        sys.stdout.flush()
        sys.stdin.readline()  # runs end together: what is live is not ended in between
        store.end(run)


if __name__ == "__main__":
    main()

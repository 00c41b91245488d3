"""The pages that stores are measured with, and crawlers that add them in processes of their own.

A crawler uses only what the library shows in public, so it runs on other versions, too. It waits
for a line between its steps and prints one for each, as JSON: where the library is, what it has
measured.
"""

from __future__ import annotations

import json
import random
import re
import sys
import time
import uuid
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import simhash_gate
from simhash_gate.stores import Record, Window, open_store

if TYPE_CHECKING:
    from collections.abc import Callable

    from simhash_gate.stores import Store

RADIUS, NEAR = 3, 8
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


def crowd(
    store: Store, run: str, name: str, place: int, scopes: int, groups: int, pages: int
) -> Any:
    """Add pages of random groups, each of which belongs to one of the scopes."""
    chance = random.Random(f"{name} {place}")
    mine = [chance.randrange(groups) for _ in range(pages)]
    began = time.monotonic()
    kept = [
        group
        for group in mine
        if store.check_and_add(
            make_page(group, run, f"{name}-{group % scopes}.example.com", chance),
            RADIUS,
            near=NEAR,
            window=WINDOW,
        ).added
    ]
    return {"kept": kept, "seen": mine, "began": began, "finished": time.monotonic()}


def meet(store: Store, run: str, name: str, place: int, scopes: int, pages: int, known: int) -> Any:
    """Add its first pages to each scope; the first `known` of them are copies of kept ones.

    Returns the bytes of memory that the process has gained, all that it had at its peak, and the
    seconds taken.
    """
    chance = random.Random(f"{name} {place}")
    before, began = _memory("VmRSS"), time.monotonic()
    for scope in range(scopes):
        for group in range(pages):
            page = make_page(group, run, f"{name}-{scope}.example.com", chance)
            if store.check_and_add(page, RADIUS, near=NEAR).added == (group < known):
                raise AssertionError(f"wrong answer for page {group} of scope {scope}")
    taken = time.monotonic() - began
    gained = _memory("VmRSS") - before
    return {"gained": gained, "peak": _memory("VmHWM"), "seconds": taken}


def _memory(value: str) -> int:
    """Return bytes of this process as Linux tells them."""
    status = Path("/proc/self/status").read_text("ascii")
    found = re.search(rf"{value}:\s*(\d+) kB", status)
    assert found
    return int(found[1]) * 1024


def main(task: Callable[..., Any], url: str, name: str, *numbers: str) -> None:
    """Open a store, do a task in a run, and end that once all others have done theirs."""

    def tell(said: Any) -> None:
        print(json.dumps(said), flush=True)
        sys.stdin.readline()

    run = uuid.uuid4().hex
    with closing(open_store(url)) as store:
        store.begin(run)
        tell(simhash_gate.__file__)
        tell(task(store, run, name, *map(int, numbers)))
        store.end(run)


if __name__ == "__main__":
    main({"crowd": crowd, "meet": meet}[sys.argv[1]], *sys.argv[2:])

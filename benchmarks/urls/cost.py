"""`python -m benchmarks.urls.cost`: what the learner of rules about URLs takes of time and memory.

The URLs are those of one large site: each article has several, so that every page has siblings.
"""

from __future__ import annotations

import argparse
import random
import struct
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import mmh3

from benchmarks.speed.measure import say
from simhash_gate.urls.evidence import Evidence
from simhash_gate.urls.fetched import MOST_WORDS
from simhash_gate.urls.learner import Learner
from simhash_gate.urls.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

SITE = "news.example"
VARIANTS = ("", "?utm_source=s{v}", "?ref=r{v}&id={v}", "?id={v}", "/print", "?print=1&ref=r{v}")
RULES = 10_000


def pages(count: int) -> Iterator[tuple[str, str, int, bytes]]:
    """Yield the URLs of a site with the first URL of the same content, and what the gate keeps."""
    rng = random.Random(1)
    for number in range(count):
        article, variant = divmod(number, len(VARIANTS))
        first = f"https://{SITE}/{article % 40}-section/{1000 + article}/a-story-about-{article}"
        url = first + VARIANTS[variant].format(v=rng.randrange(1000))
        hashes = sorted(rng.sample(range(1 << 16), MOST_WORDS))
        said = struct.pack(f">I{MOST_WORDS}H", mmh3.hash(first, signed=False), *hashes)
        yield url, first, mmh3.hash64(url, signed=False)[0], said


def taught(seen: Iterable[tuple[str, str, int, bytes]]) -> Learner:
    """Return a learner that saw these pages."""
    learner = Learner()
    for url, first, fingerprint, said in seen:
        told = (None, None) if url == first else (first, True)
        learner.observe(SITE, url, *told, fingerprint=fingerprint, said=said)
    return learner


def observed(count: int) -> float:
    """Return the microseconds that a page takes to learn from."""
    seen = list(pages(count))
    began = time.thread_time()
    taught(seen)
    return 1e6 * (time.thread_time() - began) / count


def asked(count: int) -> float:
    """Return the microseconds that a request takes where 10,000 rules act."""
    learner = Learner()
    for number in range(RULES):
        rule = Rule("parameter", f"p{number % 10}", "*")
        learner.put(SITE, f"{SITE}/s{number // 10}/{{number}}", rule, Evidence(word="pinned"))
    urls = [f"https://{SITE}/s{n % 1000}/{n}?p1=2&q={n}" for n in range(count)]
    began = time.thread_time()
    for url in urls:
        learner.place(SITE, url)
    return 1e6 * (time.thread_time() - began) / count


def grown(make: Callable[[], object]) -> float:
    """Return by how many MB the process grew for what is made."""
    before = _resident()
    made = make()
    after = _resident()
    del made
    return (after - before) / 1e6


def _resident() -> int:
    """Return the bytes of memory that the process holds; Linux only."""
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * 4096


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what an observation and a request take, and how much memory the learner has."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.urls.cost", description=__doc__)
    parser.add_argument("--pages", type=int, default=20_000, help="that are timed (%(default)s)")
    parser.add_argument("--urls", type=int, default=1_000_000, help="for memory (%(default)s)")
    options = parser.parse_args(arguments)
    if options.urls:  # first: what another learner leaves behind would be used again
        megabytes = grown(lambda: taught(pages(options.urls)))
        say(f"memory: {megabytes:.1f} MB after {options.urls:,} URLs")
    say(f"observe: {observed(options.pages):.1f} µs a page, {options.pages:,} pages")
    say(f"place: {asked(options.pages):.1f} µs a request, {RULES:,} rules")
    return 0


if __name__ == "__main__":
    sys.exit(main())

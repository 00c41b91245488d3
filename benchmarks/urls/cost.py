"""`python -m benchmarks.urls.cost`: what the keys of pages take of time and memory.

The URLs are those of one large site: each article has several, so that every page has siblings.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from benchmarks.speed.measure import say
from simhash_gate.identity.host import Host
from simhash_gate.identity.keys import Keys

SITE = "news.example"
VARIANTS = ("", "?utm_source=s{v}", "?ref=r{v}&id={v}", "?id={v}", "/print", "?print=1&ref=r{v}")


def pages(count: int) -> Iterator[tuple[str, str]]:
    """Yield the URLs of a site with the first URL of the same content."""
    rng = random.Random(1)
    for number in range(count):
        article, variant = divmod(number, len(VARIANTS))
        first = f"https://{SITE}/{article % 40}-section/{1000 + article}/a-story-about-{article}"
        yield first + VARIANTS[variant].format(v=rng.randrange(1000)), first


def taught(host: Host, seen: Iterable[tuple[str, str]]) -> Host:
    """Return a host that saw these pages."""
    for url, first in seen:
        host.saw(url, first if url != first else "", url != first)
    return host


def observed(count: int) -> float:
    """Return the microseconds that a page takes to learn from."""
    seen = list(pages(count))
    began = time.thread_time()
    taught(Host(), seen)
    return 1e6 * (time.thread_time() - began) / count


def asked(count: int) -> float:
    """Return the microseconds that the key of a URL takes which was not met before."""
    keys = Keys()
    taught(keys.host(SITE), pages(count))
    urls = [f"{url}&new=1" for url, _ in pages(count)]
    began = time.thread_time()
    for url in urls:
        keys.of(SITE, url)
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
    """Print what a page and a request take, and how much memory there is."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.urls.cost", description=__doc__)
    parser.add_argument("--pages", type=int, default=20_000, help="that are timed (%(default)s)")
    parser.add_argument("--urls", type=int, default=1_000_000, help="for memory (%(default)s)")
    options = parser.parse_args(arguments)
    if options.urls:  # first: what another one leaves behind would be used again
        megabytes = grown(lambda: taught(Host(), pages(options.urls)))
        say(f"memory: {megabytes:.1f} MB after {options.urls:,} URLs")
    say(f"learning: {observed(options.pages):.1f} µs a page, {options.pages:,} pages")
    say(f"key: {asked(options.pages):.1f} µs a URL, {options.pages:,} URLs")
    return 0


if __name__ == "__main__":
    sys.exit(main())

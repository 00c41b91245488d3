"""`python -m benchmarks.reliability.soak FOLDER`: one crawl of very many pages, and what it takes.

Domains are generated: listings lead to articles, and of five articles one is a copy. The crawl is
one process from its beginning to its end, and its store one SQLite file, or a Redis server. CPU
time a page holds on a shared machine; pages a second don't. Linux only.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import scrapy

from benchmarks.reliability.crawls import lines_of
from benchmarks.reliability.demo import ALL_ON
from benchmarks.reliability.process import Process, settings_of
from benchmarks.servers import Pages, in_thread, redis_server
from benchmarks.speed.measure import options_of, table

LISTED = 20
MOST_WAITING = 50
WORDS = [
    "".join(Random(n).choices("bdfgklmnprstvz aeiou", k=7)).replace(" ", "x") for n in range(5000)
]
MEMORY = "memory of the crawl, MB", "of its readers, MB"
CPU = "CPU of the crawl, ms/page", "of its readers, ms/page"
STORE = "store, kB/page"
TICK = os.sysconf("SC_CLK_TCK")


def article_of(page: int) -> int:
    """Return the article that a page of a domain shows: one in five is a copy of another."""
    return page - 3 if page % 5 == 4 else page


@cache
def _furniture(domain: int) -> str:
    rng = Random(domain)
    links = "".join(
        f'<li><a href="/about/{n}">{" ".join(rng.choices(WORDS, k=2))}</a>' for n in range(12)
    )
    return f"<nav><ul>{links}</ul></nav>"


def body_of(domain: int, path: str, pages: int) -> bytes:
    """Return the page at a path of a domain that has so many."""
    kind, _, number = path.strip("/").partition("/")
    rng = Random(f"{domain}/{kind}/{number}")
    if kind == "news":
        says = Random(f"{domain}/{article_of(int(number))}")
        text = [" ".join(says.choices(WORDS, k=60)) for _ in range(says.randint(2, 5))]
        title = " ".join(says.choices(WORDS, k=6))
        main = f"<article><h1>{title}</h1>{''.join(f'<p>{part}.</p>' for part in text)}</article>"
    else:
        first = int(number or 0) * LISTED
        to = [f"/news/{n}" for n in range(first, min(first + LISTED, pages))]
        if not kind:
            to = [f"/list/{n}" for n in range(-(-pages // LISTED))]
        title = f"{kind or 'home'} {number}"
        links = "".join(f'<li><a href="{at}">{" ".join(rng.choices(WORDS, k=6))}</a>' for at in to)
        main = f'<h1>{title}</h1><ul class="listing">{links}</ul>'
    ad = " ".join(rng.choices(WORDS, k=20))
    return f"""<!doctype html><html lang="en"><head><meta charset="utf-8">
<title>{title}</title></head><body>{_furniture(domain)}<main>{main}</main><aside>{ad}</aside></body></html>""".encode()


@contextmanager
def serving(pages: int) -> Iterator[tuple[int, list[int]]]:
    """Answer like a proxy that has all domains behind it; yield the port, and how often it did."""
    served = [0]

    def answer(target: bytes) -> bytes:
        _, _, host, path = target.decode().split("/", 3)
        served[0] += 1
        return body_of(int(host.partition(".")[0][1:]), path, pages)

    async def start() -> asyncio.Server:
        loop = asyncio.get_running_loop()
        return await loop.create_server(lambda: Pages(answer), "127.0.0.1", 0)

    with in_thread(start) as port:
        yield port, served
        time.sleep(0.1)  # the crawl closes its connections, and this side of them with it


class SoakSpider(scrapy.Spider):
    """Crawls domain after domain, a few at a time."""

    name = "soak"

    def __init__(self, domains: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.domains = int(domains)

    async def start(self) -> AsyncIterator[scrapy.Request]:
        """Begin with a domain when few requests wait."""
        scheduler: Any = self.crawler.engine._slot.scheduler  # type: ignore[union-attr]
        for domain in range(self.domains):
            while len(scheduler) > MOST_WAITING:
                await asyncio.sleep(0.1)
            yield scrapy.Request(f"http://d{domain}.example/")

    def parse(self, response: Any) -> Iterator[Any]:
        """Follow a listing; deliver an article."""
        for link in response.css("ul.listing a::attr(href)").getall():
            yield response.follow(link)
        if "/news/" in response.url:
            yield {"url": response.url}


def _run(given: argparse.Namespace, store: str | None) -> list[dict[str, float]]:
    """Crawl until the end, and return all samples."""
    folder, samples = given.folder, list[dict[str, float]]()
    settings = {
        "ADDONS": {"simhash_gate.Addon": 0},
        "JOBDIR": folder / "job",
        # Scrapy's own remembers every URL: what is to be seen is what the gate takes.
        "DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter",
        "LOG_LEVEL": "WARNING",
        "TELNETCONSOLE_ENABLED": False,
        "MEMUSAGE_ENABLED": False,
    }
    if given.everything:
        settings |= {
            **ALL_ON,
            "SIMHASH_GATE_STORE": f"sqlite:///{folder}/store.sqlite",
            "SIMHASH_GATE_DURABLE": "page",
            "SIMHASH_GATE_JOURNAL": folder / "journal",
            "SIMHASH_GATE_REPORT": folder / "report.html",
            "SIMHASH_GATE_VERDICTS": folder / "verdicts.jsonl",
        }
    if store:
        settings["SIMHASH_GATE_STORE"] = store
    words = ["runspider", __file__, "-a", f"domains={given.domains}", "-o", f"{folder}/items.jsonl"]
    with serving(given.pages) as (port, served), (folder / "log").open("ab") as errors:
        # No clock goes wrong here: one that can takes a twentieth of the crawl.
        environ = {"http_proxy": f"http://127.0.0.1:{port}", "LD_PRELOAD": ""}
        words += settings_of(settings)
        process = Process(words, folder, environ=environ, cwd=folder, stderr=errors)
        began = time.monotonic()
        while not process.is_over:
            time.sleep(0.2)
            pages, seconds = served[0], time.monotonic() - began
            if not samples or pages // given.every > samples[-1]["pages"] // given.every:
                samples.append(_sample(process, folder, store) | {"pages": pages, "at": seconds})
                print(samples[-1], file=sys.stderr, flush=True)
    return samples


def _sample(process: Process, folder: Path, store: str | None) -> dict[str, float]:
    pid = process.popen.pid
    readers = process.readers()
    # Of itself, and of those that it has waited for: user, then system.
    own, ended = _ticks(pid)
    return {
        MEMORY[0]: _resident(pid),
        MEMORY[1]: sum(map(_resident, readers)),
        "open files": len(os.listdir(f"/proc/{pid}/fd")),  # noqa: PTH208
        "threads": len(os.listdir(f"/proc/{pid}/task")),  # noqa: PTH208
        CPU[0]: own / TICK,
        CPU[1]: (ended + sum(_ticks(reader)[0] for reader in readers)) / TICK,
        STORE: _size(folder, store),
    }


def _size(folder: Path, store: str | None) -> float:
    """Return the bytes of a store."""
    if store:
        from redis import Redis

        with Redis.from_url(store) as client:
            return float(client.info("memory")["used_memory"])
    files = [*folder.glob("store.sqlite*"), *(folder / "job").glob("**/*.sqlite*")]
    return sum(path.stat().st_size for path in files)


def _ticks(pid: int) -> tuple[int, int]:
    """Return the CPU time of a process, and that of its children that ended."""
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12]), int(fields[13]) + int(fields[14])
    return 0, 0


def _resident(pid: int) -> float:
    with suppress(OSError, IndexError):
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
    return 0


def _rows(samples: list[dict[str, float]]) -> Iterator[dict[str, float]]:
    """Yield the lines of the table: a sample and what came since the one before."""
    for last, sample in pairwise(samples):
        more = {name: sample[name] - last[name] for name in sample}
        if more["pages"]:
            yield {
                "pages": int(sample["pages"]),
                **{name: round(sample[name]) for name in (*MEMORY, "open files", "threads")},
                STORE: sample[STORE] / sample["pages"] / 1e3,
                **{name: more[name] / more["pages"] * 1e3 for name in CPU},
                "pages/s": more["pages"] / more["at"],
            }


def figures(given: argparse.Namespace) -> dict[str, int]:
    """Return what the items come to."""
    articles, twice = set(), 0
    for item in lines_of(given.folder / "items.jsonl"):
        _, _, host, _, number = item["url"].split("/")
        key = (host, article_of(int(number)))
        twice += key in articles
        articles.add(key)
    wanted = given.domains * len({article_of(page) for page in range(given.pages)})
    return {"articles": wanted, "delivered": len(articles), "delivered_twice": twice}


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    flags: dict[str, tuple[Any, ...]] = {
        "folder": (Path, "of the crawl", {"type": lambda path: Path(path).absolute()}),
        "--domains": (1000, "how many there are"),
        "--pages": (1000, "articles of a domain"),
        "--everything": (False, "with all features on"),
        "--redis": (False, "on a Redis server of its own"),
        "--every": (10_000, "pages between samples"),
    }
    return options_of(__doc__, arguments, flags)


def main(arguments: Sequence[str] | None = None) -> int:
    """Crawl, print a table; return 1 if something is missing."""
    given = parsed(arguments)
    given.folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        redis = None
        if given.redis:
            redis = redis_server(given.folder / "redis", save="")
            stack.callback(redis.kill)
        rows = [*_rows(_run(given, redis and redis.url))]
    print(table(rows))
    found = figures(given)
    print(json.dumps(found))
    return int(found["delivered"] < found["articles"])


if __name__ == "__main__":
    sys.exit(main())

"""`python -m benchmarks.reliability.soak FOLDER`: one crawl of very many pages, and what it takes.

Domains are generated: listings lead to articles, and of five articles one is a copy. The crawl is
one process from its beginning to its end, or to a pause: the same command goes on then. Linux only.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import scrapy

from benchmarks.reliability.demo import ALL_ON
from benchmarks.reliability.process import Process
from benchmarks.speed.measure import markdown_table

LISTED = 20
MOST_WAITING = 50
WORDS = [
    "".join(Random(n).choices("bdfgklmnprstvz aeiou", k=7)).replace(" ", "x") for n in range(5000)
]
MEMORY = "RSS of the crawl, MB", "of its readers, MB"
COLUMNS = ("pages", "pages/s", *MEMORY, "open files", "store, MB")


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


class Sites(asyncio.Protocol):
    """Answers like a proxy that has all domains behind it."""

    pages = 0
    served = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take a connection."""
        self._transport: Any = transport
        self._received = b""

    def data_received(self, data: bytes) -> None:
        """Answer what is there in full."""
        *requests, self._received = (self._received + data).split(b"\r\n\r\n")
        for request in requests:
            _, _, host, path = request.split(b" ", 2)[1].decode().split("/", 3)
            body = body_of(int(host.partition(".")[0][1:]), path, Sites.pages)
            Sites.served += 1
            head = (
                f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
            )
            self._transport.write(head.encode() + body)

    @classmethod
    @contextmanager
    def running(cls, pages: int) -> Iterator[int]:
        """Serve in a thread while the block runs; yield the port."""
        cls.pages, cls.served = pages, 0
        loop = asyncio.new_event_loop()
        server = loop.run_until_complete(loop.create_server(cls, "127.0.0.1", 0))
        thread = threading.Thread(target=loop.run_forever)
        thread.start()
        try:
            yield server.sockets[0].getsockname()[1]
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            server.close()
            loop.close()


class SoakSpider(scrapy.Spider):
    """Crawls domain after domain, a few at a time; a paused crawl goes on with the next one."""

    name = "soak"

    def __init__(self, domains: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.domains = int(domains)
        self.state: dict[str, int] = {}

    async def start(self) -> AsyncIterator[scrapy.Request]:
        """Begin with a domain when few requests wait."""
        scheduler: Any = self.crawler.engine._slot.scheduler  # type: ignore[union-attr]
        while (domain := self.state.get("next", 0)) < self.domains:
            while len(scheduler) > MOST_WAITING:
                await asyncio.sleep(0.1)
            self.state["next"] = domain + 1
            yield scrapy.Request(f"http://d{domain}.example/")

    def parse(self, response: Any) -> Iterator[Any]:
        """Follow a listing; deliver an article."""
        for link in response.css("ul.listing a::attr(href)").getall():
            yield response.follow(link)
        if "/news/" in response.url:
            yield {"url": response.url}


def _run(given: argparse.Namespace) -> list[dict[str, float]]:
    """Crawl until the end, or until the time is over; return all samples, those of before too."""
    folder, log = given.folder, given.folder / "samples.jsonl"
    samples = list(_lines(log))
    done = samples[-1] if samples else {"pages": 0, "seconds": 0.0}
    settings = {
        **({**ALL_ON, "SIMHASH_GATE_AUDIT": 0.01} if given.everything else {}),
        "ADDONS": json.dumps({"simhash_gate.Addon": 0}),
        "JOBDIR": folder / "job",
        # Scrapy's own remembers every URL: what is to be seen is what the gate takes.
        "DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter",
        "LOG_LEVEL": "WARNING",
        "TELNETCONSOLE_ENABLED": False,
        "MEMUSAGE_ENABLED": False,
    }
    if given.everything:
        settings |= {
            "SIMHASH_GATE_STORE": f"sqlite:///{folder}/store.sqlite",
            "SIMHASH_GATE_DURABLE": "page",
            "SIMHASH_GATE_JOURNAL": folder / "journal",
            "SIMHASH_GATE_REPORT": folder / "report.html",
            "SIMHASH_GATE_VERDICTS": folder / "verdicts.jsonl",
        }
    options = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
    words = ["runspider", __file__, "-a", f"domains={given.domains}", "-o", f"{folder}/items.jsonl"]
    with Sites.running(given.pages) as port, (folder / "log").open("ab") as errors:
        process = Process(
            [*words, *options], folder, environ={"http_proxy": f"http://127.0.0.1:{port}"},
            cwd=folder, stderr=errors,
        )  # fmt: skip
        began, over = time.monotonic(), False
        while not process.is_over:
            time.sleep(0.2)
            pages, seconds = done["pages"] + Sites.served, time.monotonic() - began
            if not samples or pages // given.every > samples[-1]["pages"] // given.every:
                samples.append(_sample(process, folder, pages, done["seconds"] + seconds))
                with log.open("a") as file:
                    file.write(json.dumps(samples[-1]) + "\n")
                print(samples[-1], file=sys.stderr, flush=True)
            if seconds > given.seconds and not over:
                over = True
                process.signal(signal.SIGINT)
        # The crawl closes its connections, and this side of them with it.
        time.sleep(0.1)
    return samples


def _sample(process: Process, folder: Path, pages: float, seconds: float) -> dict[str, float]:
    stores = [*folder.glob("store.sqlite*"), *(folder / "job").glob("**/*.sqlite*")]
    return {
        "pages": pages,
        "seconds": round(seconds, 1),
        MEMORY[0]: _resident(process.popen.pid),
        MEMORY[1]: sum(map(_resident, process.readers())),
        "open files": len(os.listdir(f"/proc/{process.popen.pid}/fd")),  # noqa: PTH208
        "store, MB": sum(path.stat().st_size for path in stores) / 1e6,
    }


def _resident(pid: int) -> float:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _table(samples: list[dict[str, float]]) -> str:
    rows, last = [], {"pages": 0.0, "seconds": 0.0}
    for sample in samples:
        seconds = sample["seconds"] - last["seconds"]
        figures = {**sample, "pages/s": (sample["pages"] - last["pages"]) / max(seconds, 0.001)}
        rows.append([f"{figures[name]:,.0f}" for name in COLUMNS])
        last = sample
    return markdown_table(COLUMNS, rows)


def figures(given: argparse.Namespace) -> dict[str, int]:
    """Return what the items come to."""
    articles, twice = set(), 0
    for item in _lines(given.folder / "items.jsonl"):
        _, _, host, _, number = item["url"].split("/")
        key = (host, article_of(int(number)))
        twice += key in articles
        articles.add(key)
    wanted = given.domains * len({article_of(page) for page in range(given.pages)})
    return {"articles": wanted, "delivered": len(articles), "delivered_twice": twice}


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.reliability.soak", description=__doc__, allow_abbrev=False
    )
    parser.add_argument("folder", type=lambda path: Path(path).absolute(), help="of the crawl")
    parser.add_argument("--domains", type=int, default=1000, help="(1000)")
    parser.add_argument("--pages", type=int, default=1000, help="articles of a domain (1000)")
    parser.add_argument("--everything", action="store_true", help="with all features on")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="pause after so many")
    parser.add_argument("--every", type=int, default=10_000, help="pages between samples (10,000)")
    parser.add_argument("--plot", type=Path, help="an SVG of this and of the crawls in --also")
    parser.add_argument("--also", type=Path, nargs="*", default=[], help="folders of other crawls")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Crawl, and print a table; return 1 if the crawl came to its end and something is missing."""
    given = parsed(arguments)
    given.folder.mkdir(parents=True, exist_ok=True)
    print(_table(_run(given)))
    found = figures(given)
    print(json.dumps(found))
    if given.plot:
        _plot(given.plot, [given.folder, *given.also])
    is_over = not any((given.folder / "job" / "requests.queue").glob("*"))
    return int(is_over and found["delivered"] < found["articles"])


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with suppress(FileNotFoundError), path.open() as lines:
        yield from map(json.loads, lines)


def _plot(path: Path, folders: list[Path]) -> None:
    from benchmarks.speed.plots import save_lines

    points = [
        (f"{folder.name}: {what[:-4]}", sample["pages"], sample[what])
        for folder in folders
        for sample in _lines(folder / "samples.jsonl")
        for what in MEMORY
    ]
    save_lines(points, path, "pages", "MB")


if __name__ == "__main__":
    sys.exit(main())

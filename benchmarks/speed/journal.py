"""`python -m benchmarks.speed.journal`: what it costs to keep a dropped page in the journal.

CPU time of one thread, in milliseconds a page. All methods take turns on every page; ratios are of
the same round, and medians over the rounds.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from statistics import mean, median
from typing import BinaryIO

from scrapy import Request, Spider

from benchmarks.speed.measure import markdown_table
from benchmarks.speed.page_set import load
from simhash_gate import read_page
from simhash_gate.common.wording import how_many
from simhash_gate.journal.dropped import Drop, Stored
from simhash_gate.journal.segments import Segments
from simhash_gate.journal.warc import LEVEL, pack
from simhash_gate.plugin.requests import RequestWriter

Method = Callable[[bytes], object]

PAGES, ROUNDS = 190, 7
URL = "https://news.example.com/2024/06/a-story-with-a-long-name-1091"
HEADERS = [(b"Content-Type", b"text/html; charset=utf-8"), (b"Server", b"nginx"), (b"Age", b"7")]
BARE, LOOP, KEEP, READ = "gzip alone", "on the event loop", "on its thread", "reading the page"
PEER = "warcio, the same two records"


class Bees(Spider):
    """A spider whose requests are kept."""

    name = "bees"


def methods(segments: Segments, peer: BinaryIO) -> dict[str, Method]:
    """Return what is timed, by name; each takes the body of a page."""
    spider = Bees()
    writer = RequestWriter(spider)
    meta = {"depth": 3, "download_timeout": 180.0, "download_slot": "news.example.com"}
    request = Request(URL, spider.parse, headers={"Referer": URL}, meta=meta)
    said, unsaid = writer.json_of(request)
    drop = Drop(
        URL, time.time(), "bees", "9c1f", "duplicate", "distance 2, threshold 3", URL, 2, 3,
        "A story", 400, "b0621b61d9d51ad2", said, unsaid, {"flags": [], "encoding": "utf-8"},
    )  # fmt: skip
    found: dict[str, Method] = {
        BARE: lambda body: gzip.compress(body, LEVEL),
        LOOP: lambda _: writer.json_of(request),
        KEEP: lambda body: segments.append(pack(drop, Stored(200, HEADERS, body))),
        READ: lambda body: read_page(body, url=URL).markdown,
    }
    if find_spec("warcio"):
        found[PEER] = _warcio(peer, drop)
    return found


def _warcio(file: BinaryIO, drop: Drop) -> Method:
    from warcio.statusandheaders import StatusAndHeaders
    from warcio.warcwriter import WARCWriter

    writer = WARCWriter(file, gzip=True)
    about = json.dumps(drop.as_json()).encode()
    headers = [(name.decode(), value.decode()) for name, value in HEADERS]

    def keep(body: bytes) -> None:
        http = StatusAndHeaders("200 OK", headers, protocol="HTTP/1.1")
        response = writer.create_warc_record(URL, "response", io.BytesIO(body), http_headers=http)
        metadata = writer.create_warc_record(URL, "metadata", io.BytesIO(about))
        writer.write_request_response_pair(response, metadata)
        for record in (response, metadata):
            record.raw_stream.close()

    return keep


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print the table; 2 where there are no pages."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed.journal", description=__doc__)
    parser.add_argument("--pages", type=Path, metavar="DIR", help="real pages, as .html files")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="(%(default)s)")
    options = parser.parse_args(arguments)
    try:
        pages = load(options.pages, PAGES)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as peer:
        with closing(Segments(Path(folder), 1 << 30)) as segments:
            contenders = methods(segments, peer)
            rounds = [_round(pages, contenders) for _ in range(options.rounds)]
        written = sum(path.stat().st_size for path in Path(folder).iterdir())
    size = sum(map(len, pages))
    share = written / options.rounds / size
    mean = f"mean {size / len(pages) / 1000:.0f} kB"
    print(f"{how_many(len(pages), 'page')}, {mean}, kept in {share:.1%} of it\n")
    print(markdown_table(("CPU per page", "ms", f"times {BARE}"), _rows(rounds)))
    return 0


def _rows(rounds: Sequence[Mapping[str, float]]) -> Iterator[tuple[str, str, str]]:
    """Yield each method with its milliseconds, and with its ratio to the bare one."""
    for name in rounds[0]:
        ratio = median(each[name] / each[BARE] for each in rounds)
        yield name, f"{median(each[name] for each in rounds):.3f}", f"{ratio:.2f}"


def _round(pages: list[bytes], contenders: dict[str, Method]) -> dict[str, float]:
    """Return the mean milliseconds a page of each method."""
    times = defaultdict(list)
    for body in pages:
        for name, method in contenders.items():
            start = time.thread_time()
            method(body)
            times[name].append(1000 * (time.thread_time() - start))
    return {name: mean(values) for name, values in times.items()}


if __name__ == "__main__":
    sys.exit(main())

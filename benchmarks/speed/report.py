"""What a report costs: a crawl that asks for one, the one who makes it, the one who opens it.

The crawl is made up: 100,000 pages of 300 sites, two in five a duplicate. The texts of the pages
that differ most are shown, 800 words each. Opening is measured in
Chromium, a new process each time, beside a page that says nothing.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import zlib
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from benchmarks.speed.chromium import running_chromium
from benchmarks.speed.measure import MissingError, add_out, markdown_table, say, write_json
from simhash_gate.common.urls import host_of
from simhash_gate.gate.policy import Policy, registered_domain
from simhash_gate.gate.verdict import Outcome, Verdict, encode, line_of
from simhash_gate.page import Page
from simhash_gate.report.html import render
from simhash_gate.report.summary import Summary
from simhash_gate.stores import Match, Record

BLANK = "<!doctype html><html lang='en'><title>Nothing</title><p>Nothing.</html>"
MIX: dict[Outcome, int] = {
    "new": 45,
    "near": 6,
    "duplicate": 38,
    "unchanged": 4,
    "skipped": 6,
    "error": 1,
}
SITES = 300
SPAN = 8 * 3_600  # seconds that the crawl took


# Asking for a size waits for the layout.
SORT = """() => { const table = document.querySelector("#near-pages table");
    if (table) { table.scrollIntoView(); table.querySelector("button").click();
                 table.getBoundingClientRect(); } }"""


class Opening(NamedTuple):
    """Seconds to the load event, and until a large table was sorted by a click.

    `cpu` is the processor time of the page's main thread for both.
    """

    load: float
    sorted: float
    cpu: float


def crawl(pages: int) -> Iterator[tuple[Verdict, str, float]]:
    """Yield verdicts, their URLs and times; the same ones each time."""
    chance = random.Random(1)
    kept: list[Record] = []
    outcomes = chance.choices([*MIX], [*MIX.values()], k=pages)
    for number, outcome in enumerate(outcomes):
        site = f"site{int(chance.paretovariate(0.6)) % SITES}.com"
        url = f"https://www.{site}/news/2024/05/what-an-article-is-about-{number:07d}.html"
        title = f"A title of the usual length, of article {number:07d}"
        at = 1.7e9 + number * SPAN / pages
        page = _page(title, 300 + number % 100, chance.getrandbits(64))
        if outcome == "new" or not kept:
            kept.append(_record(url, page, at))
            yield Verdict("new", "no similar page is remembered", Policy(), page), url, at
        elif outcome in ("skipped", "error"):
            yield Verdict(outcome, "not html"), url, at
        else:
            # Some kept pages have many copies, most have few.
            record = kept[int(len(kept) * chance.random() ** 3)]
            bits = {"near": chance.randint(4, 8), "duplicate": chance.choice([0, 0, 0, 1, 2, 3])}
            match = Match(record, bits.get(outcome, 0))
            reason = f"distance {match.distance}, threshold 3; only '12:04' → '12:31' differs"
            yield Verdict(outcome, reason, Policy(), page, match), url, at


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures and write them to `report.json`; return the exit status."""
    options = _options(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    verdicts = list(crawl(options.pages))
    lines, loop = _timed(lambda: [_line(*verdict) for verdict in verdicts])
    data, writing = _timed(lambda: b"".join(map(encode, lines)))
    summary, summing = _timed(lambda: _summary(lines))
    report, rendering = _timed(lambda: render(summary, name="crawl", texts=_texts))
    path, blank = options.out / "report.html", options.out / "blank.html"
    path.write_bytes(report)
    blank.write_text(BLANK)
    say(f"{len(verdicts):,} verdicts, {len(data) / 1e6:.0f} MB as a log: opening {path}")
    try:
        rounds = [(_open(path), _open(blank)) for _ in range(options.rounds)]
    except MissingError as error:
        say(str(error))
        return 1
    figures = {
        "pages": len(verdicts),
        "log MB": len(data) / 1e6,
        "report MB": len(report) / 1e6,
        "event loop, µs a page": 1e6 * loop / len(verdicts),
        "writing, µs a page": 1e6 * writing / len(verdicts),
        "summing up, µs a page": 1e6 * summing / len(verdicts),
        "rendering, s": rendering,
        "load event, s": median(opened.load for opened, _ in rounds),
        "load event of a blank page, s": median(blank.load for _, blank in rounds),
        "a table sorted, s": median(opened.sorted for opened, _ in rounds),
        "of both, the main thread's CPU, s": median(opened.cpu for opened, _ in rounds),
        "the slowest, s": max(opened.sorted for opened, _ in rounds),
    }
    print(markdown_table(("", ""), [(name, f"{figure:,.4g}") for name, figure in figures.items()]))
    write_json(options.out / "report.json", figures, ("jinja2", "playwright"))
    return 0


def _open(path: Path) -> Opening:
    """Open a page in a new browser; sort its largest table, if it has any."""
    with running_chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        devtools = page.context.new_cdp_session(page)
        devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
        began = time.perf_counter()
        page.goto(path.absolute().as_uri(), wait_until="load")
        load = time.perf_counter() - began
        page.evaluate(SORT)
        done = time.perf_counter() - began
        metrics = devtools.send("Performance.getMetrics")["metrics"]
        (cpu,) = (metric["value"] for metric in metrics if metric["name"] == "TaskDuration")
        return Opening(load, done, cpu)


def _line(verdict: Verdict, url: str, at: float) -> dict[str, Any]:
    return line_of(verdict, url=url, dropped=verdict.rejected, size=80_000, at=at)


def _summary(lines: Sequence[dict[str, Any]]) -> Summary:
    summary = Summary()
    for line in lines:
        summary.add_line(line)
    return summary


def _texts(names: Collection[str]) -> dict[str, str]:
    """Return pages of 800 words, each with five of its own."""
    said = [f"word{number * 7 % 900}" for number in range(800)]
    return {
        name: " ".join(
            f"{word}-{zlib.crc32(name.encode()) % 97}" if place % 160 == 159 else word
            for place, word in enumerate(said)
        )
        for name in names
    }


def _timed(run: Any) -> tuple[Any, float]:
    """Return a result and the CPU seconds that it took."""
    began = time.process_time()
    return run(), time.process_time() - began


def _page(title: str, words: int, fingerprint: int) -> Page:
    return Page(title, words, fingerprint, fingerprint, listing=False, reason=None)


def _record(url: str, page: Page, at: float) -> Record:
    assert page.fingerprint is not None
    digits = f"{page.fingerprint:040x}"
    scope = registered_domain(host_of(url))
    known = (page.fingerprint, page.digest, page.words, page.title)
    return Record(scope, url, digits, *known, "0123456789ab", "run", at, at)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed.report", description=__doc__)
    parser.add_argument("--pages", type=int, default=100_000, help="of the crawl (%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="of opening it (%(default)s)")
    add_out(parser, "report.json and report.html")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())

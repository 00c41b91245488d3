"""`python -m benchmarks.quality.audit`: does the audit's interval hold the share of wrong drops?

The demonstration site is crawled once for each seed, with a share of the duplicates audited. It
knows which article, version or product it served at each URL: a drop is wrong if the page that was
kept instead showed another one.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

from benchmarks.speed.measure import markdown_table, say
from crawler.site.process import running_site, truth
from crawler.truth import Served

DROPPED = re.compile(r"Dropped (\S+): \S+ of (\S+) \(distance")
STAT = re.compile(r"'simhash_gate/audit/(\w+)': ([\d.]+)")


class Outcome(NamedTuple):
    """One crawl: true figures, and what the audit said of them."""

    seed: int
    drops: int
    wrong_drops: int
    compared: int
    wrong: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """The true share of wrong drops."""
        return self.wrong_drops / self.drops if self.drops else 0.0

    @property
    def holds(self) -> bool:
        """Whether the interval holds the true share."""
        return self.low <= self.share <= self.high


def crawl(
    seed: int,
    *,
    articles: int,
    threshold: int,
    share: float,
    fields: str = "",
    versions: bool = True,
) -> Outcome:
    """Crawl the site of a seed, and compare the audit with the truth.

    Without `versions`, another version of the same article is no wrong drop.
    """
    with running_site(articles, seed) as site, tempfile.TemporaryDirectory() as folder:
        settings = {
            "SIMHASH_GATE_THRESHOLD": threshold,
            "SIMHASH_GATE_VERIFY": False,  # the closer look leaves next to nothing to find
            "SIMHASH_GATE_AUDIT": share,
            **({"SIMHASH_GATE_AUDIT_FIELDS": fields} if fields else {}),
            "LOG_LEVEL": "INFO",
        }
        command = [sys.executable, "-m", "scrapy", "crawl", "demo", "-a", f"site={site}"]
        command += ["-O", str(Path(folder) / "items.jsonl")]
        command += [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
        log = subprocess.run(command, check=True, capture_output=True, text=True).stderr
        shown = {entry.path: _identity(entry, versions=versions) for entry in truth(site).log}
    drops = [tuple(map(_path, pair)) for pair in DROPPED.findall(log)]
    stats = {name: float(value) for name, value in STAT.findall(log)}
    return Outcome(
        seed,
        len(drops),
        sum(shown[kept] != shown[page] for page, kept in drops),
        int(stats.get("compared", 0)),
        int(stats.get("wrong", 0)),
        stats.get("wrong_low", 0.0),
        stats.get("wrong_high", 1.0),
    )


COLUMNS = (
    *("seed", "drops", "wrong, by the site", "compared", "wrong, by the items"),
    *("interval", "holds"),
)


def row(o: Outcome) -> tuple[str, ...]:
    """Return an outcome as a row of the table."""
    wrong, interval = f"{o.wrong_drops} ({o.share:.1%})", f"{o.low:.1%} to {o.high:.1%}"
    counts = f"{o.seed} {o.drops}".split()
    return (*counts, wrong, str(o.compared), str(o.wrong), interval, "yes" if o.holds else "no")


def main(arguments: Sequence[str] | None = None) -> int:
    """Crawl, print the table and how many intervals hold the true share."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.audit", description=__doc__)
    parser.add_argument("--seeds", type=int, default=20, metavar="N", help="(%(default)s)")
    parser.add_argument("--articles", type=int, default=80, metavar="N", help="(%(default)s)")
    parser.add_argument("--threshold", type=int, default=12, metavar="BITS", help="(%(default)s)")
    parser.add_argument("--share", type=float, default=0.3, help="that is audited (%(default)s)")
    parser.add_argument("--fields", default="", help="that count (those of the spider)")
    parser.add_argument(
        "--any-version", action="store_true", help="another version is no wrong drop"
    )
    options = parser.parse_args(arguments)
    outcomes = []
    for seed in range(1, options.seeds + 1):
        outcome = crawl(
            seed,
            articles=options.articles,
            threshold=options.threshold,
            share=options.share,
            fields=options.fields,
            versions=not options.any_version,
        )
        outcomes.append(outcome)
        say(f"seed {seed}: {'holds' if outcome.holds else 'misses'}")
    print(markdown_table(COLUMNS, map(row, outcomes)))
    print(f"\n{sum(o.holds for o in outcomes)} of {len(outcomes)} intervals hold the true share.")
    return 0


def _identity(entry: Served, *, versions: bool) -> tuple[object, ...]:
    """Return what a page showed, by what the site says of it."""
    if entry.article:
        return (entry.article, entry.version if versions else 0)
    if entry.offer:  # a product, variant and price
        return (entry.offer,)
    if entry.path.startswith("/story/"):
        return ("not found",)
    path, _, query = entry.path.partition("?")
    return (path, urlencode([pair for pair in parse_qsl(query) if pair[0] != "sid"]))


def _path(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


if __name__ == "__main__":
    sys.exit(main())

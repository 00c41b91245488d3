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

from benchmarks.speed.measure import options_of, say, table
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


def crawl(seed: int, given: argparse.Namespace) -> Outcome:
    """Crawl the site of a seed, and compare the audit with the truth."""
    with running_site(given.articles, seed) as site, tempfile.TemporaryDirectory() as folder:
        settings = {
            "SIMHASH_GATE_THRESHOLD": given.threshold,
            "SIMHASH_GATE_VERIFY": False,  # the closer look leaves next to nothing to find
            "SIMHASH_GATE_AUDIT": given.share,
            **({"SIMHASH_GATE_AUDIT_FIELDS": given.fields} if given.fields else {}),
            "LOG_LEVEL": "INFO",
        }
        command = [sys.executable, "-m", "scrapy", "crawl", "demo", "-a", f"site={site}"]
        command += ["-O", str(Path(folder) / "items.jsonl")]
        command += [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
        log = subprocess.run(command, check=True, capture_output=True, text=True).stderr
        shown = {entry.path: _identity(entry) for entry in truth(site).log}
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


def row(o: Outcome) -> dict[str, str]:
    """Return an outcome as a row of the table."""
    return {
        "seed": f"{o.seed}",
        "drops": f"{o.drops}",
        "wrong, by the site": f"{o.wrong_drops} ({o.share:.1%})",
        "compared": f"{o.compared}",
        "wrong, by the items": f"{o.wrong}",
        "interval": f"{o.low:.1%} to {o.high:.1%}",
        "holds": "yes" if o.holds else "no",
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Crawl, print the table and how many intervals hold the true share."""
    options = options_of(
        __doc__,
        arguments,
        {
            "--seeds": (20, "how many crawls"),
            "--articles": (80, "of the site"),
            "--threshold": (12, "in bits"),
            "--share": (0.3, "of the duplicates that is audited"),
            "--fields": (str, "that count (those of the spider)"),
        },
    )
    outcomes = []
    for seed in range(1, options.seeds + 1):
        outcome = crawl(seed, options)
        outcomes.append(outcome)
        say(f"seed {seed}: {'holds' if outcome.holds else 'misses'}")
    print(table(map(row, outcomes)))
    print(f"\n{sum(o.holds for o in outcomes)} of {len(outcomes)} intervals hold the true share.")
    return 0


def _identity(entry: Served) -> tuple[object, ...]:
    """Return what a page showed, by what the site says of it."""
    if entry.article:
        return (entry.article, entry.version)
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

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
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from benchmarks.reliability.process import settings_of
from benchmarks.speed.measure import options_of, say, table
from crawler.site.process import running_site, truth
from crawler.truth import Served

DROPPED = re.compile(r"Dropped (\S+): \S+ of (\S+) \(distance")
STAT = re.compile(r"'simhash_gate/audit/(\w+)': ([\d.]+)")


def crawl(seed: int, given: argparse.Namespace) -> dict[str, Any]:
    """Crawl the site of a seed, and compare the audit with the truth: a row of the table."""
    with running_site(given.articles, seed) as site, tempfile.TemporaryDirectory() as folder:
        settings = {
            "SIMHASH_GATE_THRESHOLD": 12,
            "SIMHASH_GATE_VERIFY": False,  # the closer look leaves next to nothing to find
            "SIMHASH_GATE_AUDIT": given.share,
            "LOG_LEVEL": "INFO",
        }
        command = [sys.executable, "-m", "scrapy", "crawl", "demo", "-a", f"site={site}"]
        command += ["-O", str(Path(folder) / "items.jsonl"), *settings_of(settings)]
        log = subprocess.run(command, check=True, capture_output=True, text=True).stderr
        shown = {entry.path: _identity(entry) for entry in truth(site).log}
    drops = [tuple(map(_path, pair)) for pair in DROPPED.findall(log)]
    stats = {name: float(value) for name, value in STAT.findall(log)}
    wrong = sum(shown[kept] != shown[page] for page, kept in drops)
    share = wrong / len(drops) if drops else 0.0
    low, high = stats.get("wrong_low", 0.0), stats.get("wrong_high", 1.0)
    return {
        "seed": seed,
        "drops": len(drops),
        "wrong, by the site": f"{wrong} ({share:.1%})",
        "compared": int(stats.get("compared", 0)),
        "wrong, by the items": int(stats.get("wrong", 0)),
        "interval": f"{low:.1%} to {high:.1%}",
        "holds": "yes" if low <= share <= high else "no",
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Crawl, print the table and how many intervals hold the true share."""
    flags: dict[str, tuple[Any, ...]] = {
        "--seeds": (20, "how many crawls"),
        "--articles": (80, "of the site"),
        "--share": (0.3, "of the duplicates that is audited"),
    }
    options = options_of(__doc__, arguments, flags)
    rows = []
    for seed in range(1, options.seeds + 1):
        rows.append(crawl(seed, options))
        say(f"seed {seed}: holds: {rows[-1]['holds']}")
    print(table(rows))
    held = sum(row["holds"] == "yes" for row in rows)
    print(f"\n{held} of {len(rows)} intervals hold the true share.")
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

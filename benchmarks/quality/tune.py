"""`python -m benchmarks.quality.tune CORPUS_DIR`: thresholds as `simhash-gate tune` suggests them.

For each site: the best threshold on its labelled pairs, the one that `tune` suggests by them, 3,
and the valley of the histogram of all its pages, which needs no labels. Then the same suggestion
from a random half of the pairs, scored on the other half, as a mean over many halves.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.quality.corpus import load
from benchmarks.quality.measure import measure
from benchmarks.quality.methods import create
from benchmarks.quality.table import markdown_table
from simhash_gate.collection.neighbours import FARTHEST, nearest_earlier
from simhash_gate.tuning.threshold import LEAST_OF_EACH, best, count, f1_of, valley

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.quality.corpus import Corpus
    from benchmarks.quality.methods.base import Reading

DEFAULT = 3
HALVES = 200
COLUMNS = (
    "site",
    "pairs",
    "best: F1",
    "`tune` by labels: F1",
    "always 3: F1",
    "valley, no labels: F1",
    "other half, `tune`",
    "other half, always 3",
    "other half, its own best",
)

Labelled = list[tuple[int, bool]]


@dataclass(frozen=True)
class Site:
    """The labelled pairs of a site, by distance, and the fingerprints of all its pages."""

    name: str
    labelled: Labelled
    fingerprints: list[int]

    @property
    def valley(self) -> int:
        """The threshold that the histogram suggests."""
        histogram = [0] * (FARTHEST + 1)
        array = np.array(self.fingerprints, np.uint64)
        for _, _, distance in nearest_earlier(array, range(len(array))):
            if distance <= FARTHEST:
                histogram[distance] += 1
        return valley(histogram, DEFAULT).threshold

    def halves(self) -> Iterator[tuple[float, float, float]]:
        """Yield F1 on one half: of the threshold that the other suggests, of 3, and the best."""
        chance = random.Random(0)
        for _ in range(HALVES):
            pairs = chance.sample(self.labelled, len(self.labelled))
            middle = len(pairs) // 2
            known, unknown = f1_of(count(pairs[:middle])), f1_of(count(pairs[middle:]))
            yield unknown[best(known)], unknown[DEFAULT], max(unknown)


def sites(corpus: Corpus, readings: dict[str, Reading]) -> list[Site]:
    """Return the sites that have enough pairs of either label."""
    found: dict[str, Site] = {}
    for page in corpus.pages.values():
        site = found.setdefault(page.site, Site(page.site, [], []))
        if readings[page.id].value is not None:
            site.fingerprints.append(readings[page.id].value)
    for pair in corpus.pairs:
        a, b = readings[pair.a].value, readings[pair.b].value
        if pair.group in ("dup", "update", "diff"):
            distance = 64 if a is None or b is None else (a ^ b).bit_count()
            labelled = distance, pair.group == "dup"
            found[corpus.pages[pair.a].site].labelled.append(labelled)
    return [site for site in found.values() if _is_enough(site.labelled)]


def row(site: Site) -> tuple[str, ...]:
    """Return the figures of a site as they are shown."""
    f1s = f1_of(count(site.labelled))
    top = f1s.index(max(f1s))
    shown = [f"{t}: {f1s[t]:.3f}" for t in (top, best(f1s), DEFAULT, site.valley)]
    return site.name, str(len(site.labelled)), *shown, *_means(site)


def _means(site: Site) -> Iterator[str]:
    for column in zip(*site.halves(), strict=True):
        yield f"{fmean(column):.3f}"


def _is_enough(labelled: Labelled) -> bool:
    duplicates = sum(duplicate for _, duplicate in labelled)
    return min(duplicates, len(labelled) - duplicates) >= LEAST_OF_EACH


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 2 for a corpus that can't be read."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.tune", description=__doc__)
    parser.add_argument("corpus", type=Path, metavar="CORPUS_DIR")
    parser.add_argument("--out", type=Path, default=Path("build/quality"), metavar="DIR")
    options = parser.parse_args(arguments)
    try:
        corpus = load(options.corpus)
    except (OSError, ValueError, KeyError) as error:
        print(f"{options.corpus}: no labelled corpus: {error!r}", file=sys.stderr)
        return 2
    method, cache = create("fingerprint"), options.out / "cache"
    readings = measure(method, corpus.pages.values(), cache, os.cpu_count() or 1)
    print(markdown_table(COLUMNS, map(row, sites(corpus, readings))))
    return 0


if __name__ == "__main__":
    sys.exit(main())

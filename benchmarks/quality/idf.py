"""`python -m benchmarks.quality.idf CORPUS_DIR`: does it help to weigh words by how rare they are?

Tables are made as `simhash-gate idf` does: of the other half of the sites, which is what a table
from elsewhere is worth, and of each site's own pages, which is what one of your own crawl is worth.
Neither sees a label. The features of each page are weighed anew by every table, and hashed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.quality.corpus import load
from benchmarks.quality.scores import score
from benchmarks.quality.table import markdown_table
from simhash_gate.fingerprints.features import weigh
from simhash_gate.fingerprints.simhash import simhash
from simhash_gate.pipeline import Options, read_closely
from simhash_gate.tuning.idf import Frequencies, names_of
from simhash_gate.tuning.threshold import HIGHEST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from benchmarks.quality.corpus import Corpus, Page, Pair

MOST, LEAST_PAGES = 100_000, 2  # what the command takes unless told otherwise
THRESHOLD = 3
COLUMNS = (
    "weights",
    "F1 at 3",
    "P",
    "R",
    "best: F1",
    "`update` 1–5 % called duplicate",
    "worst site: F1 at 3",
)

Table = dict[str, float]
Tables = dict[str, Table]


class Said(NamedTuple):
    """What counts of a page: its shingles, and the digest of its text."""

    shingles: list[str]
    digest: int


def read(page: Page) -> Said:
    """Read one page."""
    reading = read_closely(page.path.read_bytes(), url=page.url)
    return Said(list(reading.features), reading.page.digest)


def table(pages: Iterable[Said], *, shingles: bool) -> Table:
    """Return the table of some pages."""
    found = Frequencies()
    for said in pages:
        if said.shingles:
            found.add(names_of(said.shingles, Options(), shingles=shingles), said.digest)
    return found.weights(MOST, LEAST_PAGES)


def of_each_site(corpus: Corpus, said: dict[str, Said], *, shingles: bool) -> Tables:
    """Return a table for each site, of its own pages."""
    return _tables(corpus, said, lambda site, other: site == other, shingles=shingles)


def of_other_sites(corpus: Corpus, said: dict[str, Said], *, shingles: bool) -> Tables:
    """Return a table for each site, of the half of the sites that it is not in."""
    names = sorted({page.site for page in corpus.pages.values()})
    half = {site: number % 2 for number, site in enumerate(names)}
    return _tables(corpus, said, lambda a, b: half[a] != half[b], shingles=shingles)


def _tables(
    corpus: Corpus, said: dict[str, Said], counts: Callable[[str, str], bool], *, shingles: bool
) -> Tables:
    pages = list(corpus.pages.values())
    return {
        site: table((said[p.id] for p in pages if counts(site, p.site)), shingles=shingles)
        for site in {page.site for page in pages}
    }


def row(name: str, corpus: Corpus, said: dict[str, Said], tables: Tables) -> tuple[str, ...]:
    """Return the figures of all pairs when pages are weighed by the table of their site."""
    fingerprints = {
        page.id: _fingerprint(said[page.id].shingles, tables.get(page.site, {}))
        for page in corpus.pages.values()
    }
    distances = [_distance(fingerprints[pair.a], fingerprints[pair.b]) for pair in corpus.pairs]
    scores = [score(corpus.pairs, distances, threshold) for threshold in range(HIGHEST + 1)]
    best = max(range(HIGHEST + 1), key=lambda threshold: scores[threshold].f1)
    usual = scores[THRESHOLD]
    return (
        name,
        *(f"{figure:.3f}" for figure in (usual.f1, usual.precision, usual.recall)),
        f"{best}: {scores[best].f1:.3f}",
        f"{100 * usual.update_1_to_5.share:.1f} %",
        _worst_site(corpus, distances),
    )


def _worst_site(corpus: Corpus, distances: Sequence[int | None]) -> str:
    sites: dict[str, list[tuple[Pair, int | None]]] = {}
    for pair, distance in zip(corpus.pairs, distances, strict=True):
        sites.setdefault(corpus.pages[pair.a].site, []).append((pair, distance))
    shares = {}
    for site, found in sites.items():
        scores = score([pair for pair, _ in found], [distance for _, distance in found], THRESHOLD)
        if scores.true_duplicates.total:
            shares[site] = scores.f1
    worst = min(shares, key=lambda site: shares[site])
    return f"{shares[worst]:.3f} {worst}"


def _fingerprint(shingles: Sequence[str], weights: Table) -> int | None:
    features = dict.fromkeys(shingles, 1.0)
    return simhash(weigh(features, weights) if weights else features) if features else None


def _distance(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else (a ^ b).bit_count()


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 2 for a corpus that can't be read."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.idf", description=__doc__)
    parser.add_argument("corpus", type=Path, metavar="CORPUS_DIR")
    options = parser.parse_args(arguments)
    try:
        corpus = load(options.corpus)
    except (OSError, ValueError, KeyError) as error:
        print(f"{options.corpus}: no labelled corpus: {error!r}", file=sys.stderr)
        return 2
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(os.cpu_count() or 1, mp_context=context) as pool:
        said = dict(
            zip(corpus.pages, pool.map(read, corpus.pages.values(), chunksize=16), strict=True)
        )
    tables = {
        "none": {},
        "words, of other sites": of_other_sites(corpus, said, shingles=False),
        "words, of the site's own pages": of_each_site(corpus, said, shingles=False),
        "shingles, of the site's own pages": of_each_site(corpus, said, shingles=True),
    }
    print(markdown_table(COLUMNS, [row(name, corpus, said, t) for name, t in tables.items()]))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""`python -m benchmarks.quality CORPUS_DIR`: us and our peers on the same pairs, in one table."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.quality.corpus import load
from benchmarks.quality.measure import measure
from benchmarks.quality.methods import OURS, PEERS, MissingError, create
from benchmarks.quality.scores import score
from benchmarks.quality.table import Result, distances, markdown_table, to_json
from simhash_gate.wording import how_many

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.quality.corpus import Corpus

QUICK = 10  # every tenth pair


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, write what it rests on; 2 for a corpus that can't be read."""
    options = _options(arguments)
    try:
        corpus = load(options.corpus)
    except (OSError, ValueError, KeyError) as error:
        _say(f"{options.corpus}: no labelled corpus: {error!r}")
        return 2
    if options.quick:
        corpus = corpus.sample(QUICK)
    results = list(_results([*OURS, *options.peers], corpus, options))
    print(markdown_table(results))
    options.out.mkdir(parents=True, exist_ok=True)
    written = options.out / "results.json"
    written.write_text(json.dumps(to_json(results, corpus), indent=1) + "\n", "utf-8")
    _say(f"wrote {written}")
    try:
        from benchmarks.quality.plots import save_plots
    except ModuleNotFoundError as error:
        _say(f"no plots: need {error.name}: pip install --group peers")
    else:
        for path in save_plots(results, corpus, options.out):
            _say(f"wrote {path}")
    return 0


def _results(names: Sequence[str], corpus: Corpus, options: argparse.Namespace) -> Iterator[Result]:
    for name in names:
        try:
            method = create(name)
        except MissingError as missing:
            _say(f"{name}: left out: {missing}")
            continue
        readings = measure(name, method, corpus, options.out / "cache", options.workers)
        found = list(distances(method, corpus, readings))
        with_text = [page.id for page in corpus.pages.values() if page.words]
        errors = [f"{id_}: {r.error}" for id_, r in readings.items() if r.error]
        if errors:
            _say(f"{name}: failed on {how_many(len(errors), 'page')}, the first {errors[0]}")
        result = Result(
            name,
            method,
            found,
            score(corpus.pairs, found, method.threshold),
            sum(readings[id_].value is None for id_ in with_text) / max(1, len(with_text)),
            sum(r.milliseconds for r in readings.values()) / max(1, len(readings)),
            errors,
        )
        _say(f"{name}: F1 {result.scores.f1:.3f}")
        yield result


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("corpus", type=Path, metavar="CORPUS_DIR")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("build/quality"),
        metavar="DIR",
        help="for results.json, the plots and what is remembered between runs (%(default)s)",
    )
    parser.add_argument(
        "--peers",
        type=_peers,
        default=list(PEERS),
        metavar="NAME,...",
        help=f"which to compare with, or none: {', '.join(PEERS)} (all)",
    )
    parser.add_argument("--quick", action="store_true", help=f"every {QUICK}th pair only")
    parser.add_argument(
        "--workers",
        type=int,
        default=os.cpu_count() or 1,
        metavar="N",
        help="processes (%(default)s)",
    )
    return parser.parse_args(arguments)


def _peers(names: str) -> list[str]:
    found = [name for name in names.split(",") if name not in ("", "none")]
    unknown = [name for name in found if name not in PEERS]
    if unknown:
        raise argparse.ArgumentTypeError(f"unknown {unknown[0]!r}; known are {', '.join(PEERS)}")
    return found


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())

"""`python -m benchmarks.urls CRAWL...`: rules about URLs, ours and others', on a crawl on disk.

A crawl is anything with pages and their URLs: a manifest, a WARC or WACZ file, an HttpCache; also
what `benchmarks.quality.archives` fetches. With `--generate SCENARIO` it is one of a site that is
made up; several make one table of what was avoided and lost.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path

from benchmarks.speed.measure import markdown_table, say, write_json
from benchmarks.urls.generated import SCENARIOS, generate
from benchmarks.urls.method import Method
from benchmarks.urls.simulate import Figures, as_json, crawl, halves, shuffled
from benchmarks.urls.truth import Visit, load

METHODS = {
    "none": "method.Nothing",
    "learned": "learned.Learned",
    "discarder": "discarder.Discarder",
    "maybedont": "maybedont_.MaybeDont",
    "duster": "duster.Duster",
    "pattern-tree": "pattern_tree.PatternTree",
}
PACKAGES = ("duplicate-url-discarder", "duplicate-url-discarder-rules", "MaybeDont", "datasketch")
COLUMNS = (
    *("method", "written", "requests", "avoided", "of the avoidable", "too early", "unknown"),
    *(
        "contents lost",
        "probes",
        "wrong",
        "taken back",
        "rules",
        "memory MB",
        "µs to decide",
        "µs to learn",
    ),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table for each order, and write all figures; 2 for a crawl without URLs."""
    options = _options(arguments)
    methods = dict(_found(options.methods))
    if len(options.generate) > 1:
        _compare(methods, options)
        return 0
    visits = _visits(options)
    if not visits:
        say(f"{' '.join(options.crawl)}: no page whose URL is known")
        return 2
    found = {}
    for title, run, order in _ways(visits, options.seed):
        figures = {}
        for name, method in methods.items():
            figures[name] = run(method, order, seed=options.seed)
            say(f"{title}: {name}: {figures[name].avoided:,} avoided, {figures[name].lost:,} lost")
        rows = [_row(method, figures[name]) for name, method in methods.items()]
        print(f"\n{title}: {_told(figures)}\n\n{markdown_table(COLUMNS, rows)}")
        found[title] = {name: as_json(each) for name, each in figures.items()}
    write_json(options.out / "urls.json", {"orders": found}, PACKAGES)
    return 0


def _compare(methods: dict[str, type[Method]], options: argparse.Namespace) -> None:
    """Print what each method avoids and loses of each site that is made up."""
    rows, found = [], {}
    for scene in options.generate:
        visits = [*generate(scene, options.articles, options.seed)]
        figures = {name: crawl(it, visits, seed=options.seed) for name, it in methods.items()}
        told = [f"{100 * it.share:.0f} %, {it.lost:,}" for it in figures.values()]
        rows.append((f"`{scene}`", f"{next(iter(figures.values())).avoidable:,}", *told))
        found[scene] = {name: as_json(each) for name, each in figures.items()}
        say(f"{scene}: {', '.join(told)}")
    titles = (f"{method.title}: avoided, lost" for method in methods.values())
    print(markdown_table(("scene", "avoidable", *titles), rows))
    write_json(options.out / "scenes.json", {"scenes": found}, PACKAGES)


def _visits(options: argparse.Namespace) -> list[Visit]:
    if options.generate:
        return [*generate(options.generate[0], options.articles, options.seed)]
    complaints: Counter[str] = Counter()
    cache = options.out / "truth.jsonl"
    visits = load(
        options.crawl,
        cache,
        lambda _, message: complaints.update((message,)),
        workers=options.workers,
    )
    for message, number in complaints.most_common():
        say(f"{number} × {message}")
    return visits


def _ways(
    visits: Sequence[Visit], seed: int
) -> Iterator[tuple[str, Callable[..., Figures], Sequence[Visit]]]:
    mixed = shuffled(visits, seed)
    yield "In the order of the crawl", crawl, visits
    yield f"Shuffled (seed {seed})", crawl, mixed
    yield "Learned on the first half of each site, used on the second", halves, visits
    yield f"The same, shuffled (seed {seed})", halves, mixed


def _found(names: Sequence[str]) -> Iterator[tuple[str, type[Method]]]:
    for name in names:
        module, _, kind = METHODS[name].rpartition(".")
        try:
            yield name, getattr(import_module(f"{__package__}.{module}"), kind)
        except ModuleNotFoundError as error:
            say(f"{name}: left out: needs {error.name}: pip install --group peers")


def _told(figures: dict[str, Figures]) -> str:
    one = next(iter(figures.values()))
    return f"{one.requests:,} requests, {one.contents:,} contents, {one.avoidable:,} avoidable"


def _row(method: type[Method], figures: Figures) -> tuple[str, ...]:
    share = f"{100 * figures.share:.1f} %" if figures.avoidable else "–"
    return (
        method.title,
        method.origin or "–",
        f"{figures.fetched:,}",
        f"{figures.avoided:,}",
        share,
        f"{figures.early:,}",
        f"{figures.unknown:,}",
        f"{figures.lost:,}",
        f"{figures.probes:,}",
        f"{figures.wrong_probes:,}",
        f"{figures.taken_back:,}",
        f"{figures.rules:,}",
        f"{figures.bytes / 1e6:.1f}" if figures.bytes else "–",
        f"{figures.microseconds(figures.decide_seconds):.1f}",
        f"{figures.microseconds(figures.learn_seconds):.1f}",
    )


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.urls", description=__doc__)
    parser.add_argument("crawl", nargs="*", metavar="CRAWL", help="its pages, with their URLs")
    parser.add_argument(
        "--generate",
        nargs="+",
        default=(),
        choices=SCENARIOS,
        metavar="SCENARIO",
        help=f"sites of the demonstration in place of a crawl: {', '.join(SCENARIOS)}",
    )
    parser.add_argument(
        "--articles", type=int, default=1000, help="of the site that is generated (%(default)s)"
    )
    parser.add_argument(
        "--methods",
        default=",".join(METHODS),
        metavar="NAME,...",
        help="which to compare (%(default)s)",
    )
    parser.add_argument("--seed", type=int, default=1, help="of all that is random (%(default)s)")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("build/urls"),
        metavar="DIR",
        help="for figures, and for what is known of the pages once they were read (%(default)s)",
    )
    parser.add_argument(
        "--workers",
        type=int,
        default=os.cpu_count() or 1,
        metavar="N",
        help="processes that read pages (%(default)s)",
    )
    options = parser.parse_args(arguments)
    if bool(options.generate) == bool(options.crawl):
        parser.error("name a crawl, or --generate a scenario")
    options.methods = [name for name in options.methods.split(",") if name]
    unknown = [name for name in options.methods if name not in METHODS]
    if unknown:
        parser.error(f"unknown method {unknown[0]!r}; known are {', '.join(METHODS)}")
    return options


if __name__ == "__main__":
    sys.exit(main())

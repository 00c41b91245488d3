"""`python -m benchmarks.quality.captures FOLDER`: captures of pages over years, crawled day by day.

FOLDER has `pairs.jsonl`: two captures of a URL, one after the other (`a`, `b`: paths; `url`,
`before` and `after`: Unix times; `collection`), `label` (`same`, `format` or `changed`) and the
share of words that `changed`. All captures of a collection are one site. Each day is a crawl of its
own on one SQLite store; a URL that was captured again on that day is in another crawl of it. The
table tells how many captures were called unchanged, or copies of another URL's page: by the gate,
by year, and by what others read of both captures of a pair.
"""

from __future__ import annotations

import math
import os
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime, timezone
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from benchmarks.quality.measure import measure
from benchmarks.quality.methods import BY_TEXT, METHODS
from benchmarks.quality.sets import TINY_CHANGE, Page, lines_of
from benchmarks.speed.measure import options_of, say, table, those_there
from simhash_gate import Gate, Visit, open_store, pipeline_version, read_page
from simhash_gate.identity.keys import key_of

GATE = "**simhash_gate**, all years"
KINDS = ("same", "format", "changed < 1 %", "changed ≥ 1 %")


def main(arguments: Sequence[str] | None = None) -> int:
    """Crawl the captures, print the table; 2 where there are none."""
    flags: dict[str, tuple[Any, ...]] = {
        "folder": (Path, "of the captures"),
        "--no-peers": (False, "of the gate only"),
        "--workers": (os.cpu_count() or 1, "processes"),
    }
    options = options_of(__doc__, arguments, flags)
    folder: Path = options.folder
    seen: defaultdict[str, Counter[str]] = defaultdict(Counter)
    try:
        pairs = [*lines_of(folder / "pairs.jsonl")]
        names = sorted({pair["collection"] for pair in pairs})
    except (OSError, ValueError, KeyError) as error:
        say(f"{folder}: no captures: {error!r}")
        return 2
    with tempfile.TemporaryDirectory() as made:
        for name in names:
            own = [pair for pair in pairs if pair["collection"] == name]
            for year, counts in crawl(folder, own, f"sqlite:///{made}/{name}.sqlite", name):
                seen[f"{year}"].update(counts)
                seen[GATE].update(counts)
    pages = [Page(name, folder / name, url, "", {}) for name, url in sorted(_paths(pairs).items())]
    peers = () if options.no_peers else BY_TEXT
    runs = {name: partial(measure, name, pages, options.workers) for name in peers}
    for name, readings in those_there(runs):
        method, counts = METHODS[name], seen[METHODS[name].title]
        for pair in pairs:
            one, other = (readings[pair[side]].value for side in ("a", "b"))
            apart = math.inf if one is None or other is None else method.distance(one, other)
            _count(counts, _kind(pair), apart <= method.threshold)
    print(
        table(
            {"method": name, **{kind: _share(counts, kind) for kind in KINDS}}
            for name, counts in sorted(seen.items(), key=lambda row: not row[0].isdigit())
        )
    )
    return 0


def _paths(pairs: list[Any]) -> dict[str, str]:
    return {pair[side]: pair["url"] for pair in pairs for side in ("a", "b")}


def _kind(pair: Any) -> str:
    small = f"changed {'<' if pair['changed'] < TINY_CHANGE else '≥'} 1 %"
    return small if pair["label"] == "changed" else str(pair["label"])


def _count(counts: Counter[str], kind: str, called: bool) -> None:
    counts.update({kind: 1, f"{kind}: called": int(called)})


def crawl(
    folder: Path, pairs: list[Any], store_url: str, name: str
) -> list[tuple[int, Counter[str]]]:
    """Crawl a collection day by day; return what was called unchanged, by year."""
    captures = {(pair["before"], pair["url"]): pair["a"] for pair in pairs}
    kinds = {}
    for pair in pairs:
        capture = pair["after"], pair["url"]
        captures[capture] = pair["b"]
        kinds[capture] = _kind(pair)
    seen: defaultdict[int, Counter[str]] = defaultdict(Counter)
    store, visits, crawls = open_store(store_url), Counter[tuple[int, str]](), []
    for at, url in sorted(captures):
        day = int(at // 86_400)
        crawls.append(((day, visits[day, url]), at, url))
        visits[day, url] += 1
    number = 0
    for number, (_, its) in enumerate(groupby(sorted(crawls), itemgetter(0)), 1):
        run = f"{name} {number}"
        store.begin(run)
        gate = Gate(store, run=run, pipeline=pipeline_version())
        for _, at, url in its:
            page = read_page((folder / captures[at, url]).read_bytes(), url=url)
            verdict = gate.judge(page, visit=Visit(url, name, key_of(url), at))
            if (kind := kinds.get((at, url))) is not None:
                year = datetime.fromtimestamp(at, timezone.utc).year
                _count(seen[year], kind, verdict.outcome in ("unchanged", "duplicate"))
        gate.keep_memories()
        store.end(run)
    kept = sum(1 for _ in store.records(name))
    store.close()
    told = f"{len(captures)} captures of {len({url for _, url in captures})} URLs"
    say(f"{name}: {told}, {number} crawls, {kept} records at the end")
    return sorted(seen.items())


def _share(counts: Counter[str], kind: str) -> str:
    return f"{counts[f'{kind}: called']} of {counts[kind]}" if counts[kind] else "-"


if __name__ == "__main__":
    raise SystemExit(main())

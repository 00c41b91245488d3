"""`python -m benchmarks.quality.captures FOLDER`: captures of pages over years, crawled day by day.

FOLDER has `pairs.jsonl`: two captures of a URL, one after the other (`a`, `b`: paths; `url`,
`before` and `after`: Unix times; `collection`), `label` (`same`, `format` or `changed`) and the
share of words that `changed`. All captures of a collection are one site. Each day is a crawl of its
own on one SQLite store; a URL that was captured again on that day is in another crawl of it. The
table tells by year how many captures were called unchanged, or copies of another URL's page.
"""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime, timezone
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from benchmarks.quality.sets import TINY_CHANGE, lines_of
from benchmarks.speed.measure import options_of, say, table
from simhash_gate import Gate, Visit, open_store, pipeline_version, read_page
from simhash_gate.identity.keys import key_of

KINDS = ("same", "format", "changed < 1 %", "changed ≥ 1 %")


def main(arguments: Sequence[str] | None = None) -> int:
    """Crawl the captures, print the table; 2 where there are none."""
    flags = {"folder": (Path, "of the captures")}
    folder: Path = options_of(__doc__, arguments, flags).folder
    try:
        pairs = [*lines_of(folder / "pairs.jsonl")]
        names = sorted({pair["collection"] for pair in pairs})
    except (OSError, ValueError, KeyError) as error:
        say(f"{folder}: no captures: {error!r}")
        return 2
    with tempfile.TemporaryDirectory() as made:
        for name in names:
            own = [pair for pair in pairs if pair["collection"] == name]
            number, rows = crawl(folder, own, f"sqlite:///{made}/{name}.sqlite", name)
            print(f"{name}: {number} crawls\n\n{table(rows)}\n")
    return 0


def crawl(folder: Path, pairs: list[Any], store_url: str, name: str) -> tuple[int, list[Any]]:
    """Crawl a collection day by day; return how many crawls, and a row for each year."""
    captures = {(pair["before"], pair["url"]): pair["a"] for pair in pairs}
    kinds = {}
    for pair in pairs:
        capture = pair["after"], pair["url"]
        small = f"changed {'<' if pair['changed'] < TINY_CHANGE else '≥'} 1 %"
        captures[capture] = pair["b"]
        kinds[capture] = small if pair["label"] == "changed" else pair["label"]
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
                year = seen[datetime.fromtimestamp(at, timezone.utc).year]
                year.update((kind, f"{kind}: {verdict.outcome}"))
        gate.keep_memories()
        store.end(run)
    kept = sum(1 for _ in store.records(name))
    store.close()
    say(f"{name}: {len({url for _, url in captures})} URLs, {kept} records at the end")
    return number, [
        {"year": str(year), **{kind: _share(counts, kind) for kind in KINDS}}
        for year, counts in sorted(seen.items(), key=itemgetter(0))
    ]


def _share(counts: Counter[str], kind: str) -> str:
    called = counts[f"{kind}: unchanged"] + counts[f"{kind}: duplicate"]
    number = counts[kind]
    return f"{called} of {number}" if number else "-"


if __name__ == "__main__":
    raise SystemExit(main())

"""`python -m benchmarks.quality.sites DIR --out CORPUS_DIR`: labelled pairs of pages of many sites.

`DIR/index.json` names pages as found, each with its address: `{"html/0.html": {"url": ...}, ...}`.
Two pages of one site that differ in a word, or in their title, are `diff`. Each page is `dup` of
itself with generated furniture, and that of itself with furniture that says other things.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.quality.furniture import furnish
from benchmarks.quality.text import page_text
from simhash_gate.common.urls import host_of
from simhash_gate.common.wording import how_many
from simhash_gate.fingerprints.words import count_words, words
from simhash_gate.gate.policy import scope_of
from simhash_gate.page.parse import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

INDEX = "index.json"
FEWEST_WORDS = 20  # below are frames, and pages that their scripts make
SURE = {"lang": "", "confidence": "high"}
DIFF = {"label": "diff", "kind": "same-site", "op": "", "changed": 1.0} | SURE
DUP = {"label": "dup", "kind": "noise", "changed": 0.0} | SURE


class Found(NamedTuple):
    """A page of the index, by its name there, and all that a reader sees of it."""

    name: str
    url: str
    body: bytes
    title: str
    words: tuple[str, ...]


def listed(folder: Path) -> dict[str, str]:
    """Return the URL of each page by its name; raises OSError, or ValueError for another index."""
    try:
        index = json.loads((folder / INDEX).read_text("utf-8"))
    except ValueError as error:
        raise ValueError(f"{INDEX} is no JSON: {error}") from error
    if not isinstance(index, dict):
        raise ValueError(f"{INDEX} is no object with a key for each page")
    for name, about in index.items():
        url = about.get("url") if isinstance(about, dict) else None
        if not isinstance(url, str) or not host_of(url):
            raise ValueError(f"{INDEX}: {name!r} has no url of a site")
    return {name: about["url"] for name, about in index.items()}


def found_pages(folder: Path, left_out: Counter[str]) -> Iterator[Found]:
    """Yield the pages of an index that can be compared, and count the others by why they can't."""
    for name, url in listed(folder).items():
        try:
            body = (folder / name).read_bytes()
        except (FileNotFoundError, IsADirectoryError):
            left_out["no such file"] += 1
            continue
        page = Found(name, url, body, _title(body), tuple(words(page_text(body))))
        if count_words(page.words) < FEWEST_WORDS:
            left_out[f"fewer than {FEWEST_WORDS} words"] += 1
            continue
        yield page


def _title(body: bytes) -> str:
    root = parse(body)
    title = None if root is None else next(root.iter("title"), None)
    return "" if title is None else " ".join(title.text_content().split())


def other_pages(pages: Iterable[tuple[str, Found]]) -> Iterator[tuple[str, str]]:
    """Yield the ids of every two pages of a site, at two URLs, that a reader can tell apart."""
    sites = defaultdict(list)
    for id_, page in pages:
        address = page.url.partition("#")[0]
        sites[scope_of(page.url, "domain")].append((id_, address, (page.title, page.words)))
    for site in sites.values():
        for (a, url_a, said_a), (b, url_b, said_b) in combinations(site, 2):
            if url_a != url_b and said_a != said_b:
                yield a, b


def write_corpus(pages: Iterable[Found], out: Path) -> Counter[str]:
    """Write a corpus of some pages, and return how many pairs have which label.

    Raises OSError, and ValueError for no pages.
    """
    (out / "pages").mkdir(parents=True, exist_ok=True)
    lines: list[dict[str, Any]] = []
    pairs: list[dict[str, Any]] = []
    found: list[tuple[str, Found]] = []
    for number, page in enumerate(pages):
        id_ = f"p{number:05}"
        furnished, changed = f"{id_}-furnished", f"{id_}-changed"
        copies = {
            id_: page.body,
            furnished: furnish(page.body, page.name, "furnished"),
            changed: furnish(page.body, page.name, "changed"),
        }
        about = {"url": page.url, "words": count_words(page.words), "source": page.name}
        for copy, body in copies.items():
            path = f"pages/{copy}.html"
            (out / path).write_bytes(body)
            lines.append({"id": copy, "path": path, **about})
        pairs.append({"a": id_, "b": furnished, "op": "added", **DUP})
        pairs.append({"a": furnished, "b": changed, "op": "changed", **DUP})
        found.append((id_, page._replace(body=b"")))
    if not found:
        raise ValueError("none of the pages in its index can be compared")
    pairs += [{"a": a, "b": b, **DIFF} for a, b in other_pages(found)]
    for name, objects in {"pages": lines, "pairs": pairs}.items():
        text = "".join(json.dumps(line) + "\n" for line in objects)
        (out / f"{name}.jsonl").write_text(text, "utf-8")
    return Counter(pair["label"] for pair in pairs)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the corpus, and say what is in it; 2 if there is none to write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.sites", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--out", type=Path, required=True, metavar="CORPUS_DIR")
    options = parser.parse_args(arguments)
    left_out: Counter[str] = Counter()
    try:
        labels = write_corpus(found_pages(options.folder, left_out), options.out)
    except (OSError, ValueError) as error:
        print(f"{options.folder}: no corpus made: {error}", file=sys.stderr)
        return 2
    for why, number in left_out.items():
        print(f"left out: {how_many(number, 'page')}: {why}", file=sys.stderr)
    pairs = " and ".join(f"{labels[label]:,} pairs `{label}`" for label in ("dup", "diff"))
    print(f"wrote {options.out}: {pairs}, of {how_many(labels['dup'] // 2, 'page', ',')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""A labelled corpus on disk: `pages.jsonl`, `pairs.jsonl`, `pages/`, as in docs/benchmarks.md."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from simhash_gate.gate.policy import scope_of

Group = Literal["dup", "update", "diff", "small", "low"]

REAL_CHANGE = 0.05  # of the words: from here on an update is worth fetching


@dataclass(frozen=True)
class Page:
    """One page: where its bytes are, how many words it is said to have, and the site it is of."""

    id: str
    path: Path
    url: str
    words: int = 0
    site: str = ""


@dataclass(frozen=True)
class Pair:
    """Two pages and what is true of them; `changed` is the share of words that differ."""

    a: str
    b: str
    label: str
    kind: str
    op: str
    changed: float
    lang: str
    confidence: str

    @property
    def group(self) -> Group:
        """What the pair counts as: updates too small, and labels too unsure, are told apart."""
        if self.confidence == "low":
            return "low"
        if self.label == "update":
            return "update" if self.changed >= REAL_CHANGE else "small"
        return "dup" if self.label == "dup" else "diff"


@dataclass(frozen=True)
class Corpus:
    """Pages by id, and labelled pairs of them."""

    pages: dict[str, Page]
    pairs: list[Pair]

    def sample(self, step: int) -> Corpus:
        """Return every `step`-th pair, with its pages."""
        pairs = self.pairs[::step]
        ids = dict.fromkeys(id_ for pair in pairs for id_ in (pair.a, pair.b))
        return Corpus({id_: self.pages[id_] for id_ in ids}, pairs)


def load(folder: Path) -> Corpus:
    """Read a corpus; raises OSError, or ValueError for lines that are not what they should be."""
    pages = {
        line["id"]: Page(
            line["id"],
            folder / line["path"],
            line["url"],
            line["words"],
            line.get("site") or scope_of(line["url"], "domain"),
        )
        for line in lines_of(folder / "pages.jsonl")
    }
    fields = Pair.__dataclass_fields__
    pairs = [
        Pair(**{name: line[name] for name in fields}) for line in lines_of(folder / "pairs.jsonl")
    ]
    return Corpus(pages, pairs)


def lines_of(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file of JSON Lines; raises OSError, or ValueError that says where."""
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                yield json.loads(line)
            except ValueError as error:
                raise ValueError(f"{path.name}, line {number}: {error}") from error

"""Labelled pairs: how often is a page rightly called a duplicate, and how often wrongly?"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import ClassVar

from benchmarks.quality.corpus import Corpus, Page, load
from benchmarks.quality.labelled import LabelledSet, Result, about, finite, percent, share
from benchmarks.quality.methods import OURS, PEERS, create
from benchmarks.quality.methods.base import Method, Reading
from benchmarks.quality.scores import Rate, score


class Pairs(LabelledSet):
    """A corpus of pairs, each with a label."""

    ours = OURS
    peers = PEERS
    create = staticmethod(create)
    columns: ClassVar[tuple[str, ...]] = (
        "method",
        "F1",
        "P",
        "R",
        "recall of `dup`, mean over kinds",
        "called duplicate of `update` ≥ 5 % and `diff`, mean over kinds",
        "worst noise operator",
        "worst language",
        "`update` 1–5 % called duplicate",
        "`update` < 1 % called duplicate",
        "no fingerprint",
        "CPU ms a page",
    )

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus

    @classmethod
    def load(cls, folder: Path) -> Pairs:
        """Read `pages.jsonl` and `pairs.jsonl`."""
        return cls(load(folder))

    @property
    def pages(self) -> Collection[Page]:
        return self.corpus.pages.values()

    @property
    def counts(self) -> dict[str, int]:
        """Pages and pairs."""
        return {"pages": len(self.pages), "pairs": len(self.corpus.pairs)}

    def sample(self, step: int) -> Pairs:
        return Pairs(self.corpus.sample(step))

    def result(self, method: Method, readings: Mapping[str, Reading]) -> Result:
        """Score the distances that a method gives the pairs."""
        found = list(distances(method, self.corpus, readings))
        with_text = [page.id for page in self.pages if page.words]
        missing = sum(readings[id_].value is None for id_ in with_text) / max(1, len(with_text))
        scores = score(self.corpus.pairs, found, method.threshold)
        known = about(method, readings)
        row = (
            method.title,
            *map(share, (scores.f1, scores.precision, scores.recall)),
            *map(share, (scores.mean_recall, scores.mean_false)),
            *map(_named, (scores.worst_operator, scores.worst_language)),
            *map(percent, (scores.update_1_to_5.share, scores.update_below_1.share)),
            percent(missing),
            f"{known['milliseconds']:.1f}",
        )
        names = ("f1", "precision", "recall", "mean_recall", "mean_false")
        worst = {"worst_operator": scores.worst_operator, "worst_language": scores.worst_language}
        figures = {
            **known,
            "unit": method.unit,
            "threshold": method.threshold,
            **{name: getattr(scores, name) for name in names},
            **{name: value and value[0] for name, value in worst.items()},
            **asdict(scores),
            "without_fingerprint": missing,
        }
        told = {name: finite(value) for name, value in figures.items()}
        return Result(f"F1 {scores.f1:.3f}", row, told)


def distances(
    method: Method, corpus: Corpus, readings: Mapping[str, Reading]
) -> Iterable[float | None]:
    """Yield the distance of each pair; None where a page has no value."""
    for pair in corpus.pairs:
        a, b = readings[pair.a].value, readings[pair.b].value
        yield None if a is None or b is None else method.distance(a, b)


def _named(worst: tuple[str, Rate] | None) -> str:
    return "–" if worst is None else f"{worst[1].share:.3f} {worst[0]}"

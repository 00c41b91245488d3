"""The results of all methods: the table that is printed, and the JSON that is kept."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchmarks.quality.corpus import Corpus
    from benchmarks.quality.methods import Method
    from benchmarks.quality.methods.base import Reading
    from benchmarks.quality.scores import Rate, Scores

COLUMNS = (
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


@dataclass(frozen=True)
class Result:
    """One method on one corpus; `distances` in the order of the corpus's pairs."""

    name: str
    method: Method
    distances: list[float | None]
    scores: Scores
    without_fingerprint: float
    milliseconds: float
    errors: list[str]


def distances(
    method: Method, corpus: Corpus, readings: dict[str, Reading]
) -> Iterable[float | None]:
    """Yield the distance of each pair; None where a page has no value."""
    for pair in corpus.pairs:
        a, b = readings[pair.a].value, readings[pair.b].value
        yield None if a is None or b is None else method.distance(a, b)


def markdown_table(results: Sequence[Result]) -> str:
    """Return the one table: a row a method, in Markdown."""
    rows = [COLUMNS, tuple("---" if i == 0 else "--:" for i in range(len(COLUMNS)))]
    rows += [_row(result) for result in results]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def to_json(results: Sequence[Result], corpus: Corpus) -> dict[str, Any]:
    """Return all figures, with the counts that they rest on."""
    return {
        "pages": len(corpus.pages),
        "pairs": len(corpus.pairs),
        "methods": {result.name: _figures(result) for result in results},
    }


def _row(result: Result) -> tuple[str, ...]:
    scores = result.scores
    return (
        result.method.title,
        *map(_share, (scores.f1, scores.precision, scores.recall)),
        *map(_share, (scores.mean_recall, scores.mean_false)),
        *map(_named, (scores.worst_operator, scores.worst_language)),
        *map(_percent, (scores.update_1_to_5.share, scores.update_below_1.share)),
        _percent(result.without_fingerprint),
        f"{result.milliseconds:.1f}",
    )


def _figures(result: Result) -> dict[str, Any]:
    scores = result.scores
    names = ("f1", "precision", "recall", "mean_recall", "mean_false")
    figures: dict[str, Any] = {
        "title": result.method.title,
        "versions": result.method.versions(),
        "unit": result.method.unit,
        "threshold": result.method.threshold,
        **{name: getattr(scores, name) for name in names},
        **{name: value and value[0] for name, value in _worst(scores).items()},
        **asdict(scores),
        "without_fingerprint": result.without_fingerprint,
        "milliseconds": result.milliseconds,
        "errors": len(result.errors),
    }
    return {name: _finite(value) for name, value in figures.items()}


def _worst(scores: Scores) -> dict[str, tuple[str, Rate] | None]:
    return {"worst_operator": scores.worst_operator, "worst_language": scores.worst_language}


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


def _share(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"


def _percent(value: float) -> str:
    return "–" if math.isnan(value) else f"{100 * value:.1f} %"


def _named(worst: tuple[str, Rate] | None) -> str:
    return "–" if worst is None else f"{worst[1].share:.3f} {worst[0]}"

"""What a set of labelled pages is: pages that methods read, and what is told of each method."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from hashlib import md5
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from benchmarks.quality.corpus import Page
from benchmarks.quality.methods.base import Reader, Reading

HALVES = "half the rules are made on", "other half"


class Result(NamedTuple):
    """What one method is worth on a set: one figure, its row of the table, and all figures."""

    headline: str
    row: tuple[str, ...]
    figures: dict[str, Any]


class LabelledSet(ABC):
    """Labelled pages; `ours` and `peers` name the methods that can be measured on them."""

    ours: ClassVar[Collection[str]]
    peers: ClassVar[Collection[str]]
    columns: ClassVar[tuple[str, ...]]

    @classmethod
    @abstractmethod
    def load(cls, folder: Path) -> LabelledSet:
        """Read a set; raises OSError, or ValueError or KeyError for lines that are none of it."""

    @property
    @abstractmethod
    def pages(self) -> Collection[Page]:
        """All pages, in order."""

    @property
    def counts(self) -> dict[str, int]:
        """What the figures rest on."""
        return {"pages": len(self.pages)}

    @abstractmethod
    def sample(self, step: int) -> LabelledSet:
        """Return the `step`-th part of the set."""

    @staticmethod
    @abstractmethod
    def create(name: str) -> Reader:
        """Return a method by its name; raises `MissingError` for what is not installed."""

    @abstractmethod
    def result(self, reader: Any, readings: Mapping[str, Reading]) -> Result:
        """Score what a method read of each page, by the page's id."""


def half_of(domain: str) -> str:
    """Tell which half of the sites a registered domain is of: rules are made on one alone."""
    return HALVES[int(md5(domain.encode()).hexdigest(), 16) % 2]


def about(reader: Reader, readings: Mapping[str, Reading]) -> dict[str, Any]:
    """Return what is told of any method: its versions, errors, and mean CPU time of a page."""
    spent = sum(reading.milliseconds for reading in readings.values())
    return {
        "title": reader.title,
        "versions": reader.versions(),
        "milliseconds": spent / max(1, len(readings)),
        "errors": sum(bool(reading.error) for reading in readings.values()),
    }


def share(value: float) -> str:
    """Write a share with three digits."""
    return "–" if math.isnan(value) else f"{value:.3f}"


def percent(value: float, digits: int = 1) -> str:
    """Write a share in per cent."""
    return "–" if math.isnan(value) else f"{100 * value:.{digits}f} %"


def finite(value: Any) -> Any:
    """Return a figure as JSON has it: None for no figure."""
    return None if isinstance(value, float) and math.isnan(value) else value

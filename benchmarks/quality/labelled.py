"""What a set of labelled pages is: pages that methods read, and what is told of each method."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from hashlib import md5
from pathlib import Path
from typing import Any, ClassVar

from benchmarks.quality.corpus import Page
from benchmarks.quality.methods.base import Reader, Reading

HALVES = "half the rules are made on", "other half"


class Result(ABC):
    """What one method is worth on a set."""

    name: str

    @property
    @abstractmethod
    def headline(self) -> str:
        """The one figure to tell while others are measured."""

    @property
    @abstractmethod
    def row(self) -> tuple[str, ...]:
        """The method's row in the table."""

    @property
    @abstractmethod
    def figures(self) -> dict[str, Any]:
        """All figures, with the counts that they rest on."""


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
    def result(self, name: str, reader: Any, readings: Mapping[str, Reading]) -> Result:
        """Score what a method read of each page, by the page's id."""


def half_of(domain: str) -> str:
    """Tell which half of the sites a registered domain is of: rules are made on one alone."""
    return HALVES[int(md5(domain.encode()).hexdigest(), 16) % 2]


def milliseconds(readings: Mapping[str, Reading]) -> float:
    """Return the mean CPU time of a page."""
    return sum(reading.milliseconds for reading in readings.values()) / max(1, len(readings))

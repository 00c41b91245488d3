"""What a method is: a page's bytes to a value, and two values to a distance."""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import simhash_gate
from benchmarks.quality import text
from simhash_gate import hamming_distance


class MissingError(Exception):
    """What the method needs is not installed; the message says how to get it."""


class Reading(NamedTuple):
    """A page's value, None for nothing to compare, and the CPU time it took."""

    value: Any
    milliseconds: float
    error: str | None = None


class Method(ABC):
    """Two pages are called duplicates when `distance` is at most `threshold`.

    `unit` names what the distance counts, or is None for a method that answers yes (0) or no (1).
    `needs` are the distributions, and `built_on` the files of simhash_gate, that decide the values;
    `title` is the table's row.
    """

    title: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ("lxml",)
    unit: ClassVar[str | None] = None
    threshold: ClassVar[float] = 0
    built_on: ClassVar[tuple[str, ...]] = (
        "page/parse.py",
        "fingerprints/features.py",
        "fingerprints/simhash.py",
    )

    def prepare(self) -> None:
        """Get ready, once in each process; raise `MissingError` if that is impossible."""
        return

    @abstractmethod
    def fingerprint(self, body: bytes, url: str) -> Any:
        """Return a page's value, which can be pickled; None for nothing to compare."""

    def distance(self, a: Any, b: Any) -> float:
        """Return how far two values are apart; by default 0 for equal ones and 1 for others."""
        return float(a != b)

    def measure(self, body: bytes, url: str) -> Reading:
        """Read one page, and take the time; what fails on a page has no value for it."""
        start = time.process_time()
        value, failure = None, None
        try:
            value = self.fingerprint(body, url)
        except Exception as error:  # a library may raise anything on an odd page
            failure = f"{type(error).__name__}: {error}"
        return Reading(value, 1000 * (time.process_time() - start), failure)

    def sources(self) -> list[Path]:
        """The files of this repository that decide the values."""
        package = Path(simhash_gate.__file__).parent
        own = sys.modules[type(self).__module__].__file__ or ""
        shared = [path for pattern in self.built_on for path in sorted(package.glob(pattern))]
        return [Path(own), Path(text.__file__), *shared]

    def versions(self) -> dict[str, str]:
        """The versions of the distributions that it needs."""
        return {name: version(name) for name in self.needs}


class HammingMethod(Method):
    """A method whose values are 64-bit fingerprints."""

    unit = "bits"
    threshold = 3

    def distance(self, a: int, b: int) -> float:
        """Return the Hamming distance."""
        return hamming_distance(a, b)

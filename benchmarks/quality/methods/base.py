"""What a method is: a page's bytes to a value, and what two values say of their pages."""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import simhash_gate
from benchmarks.quality import text
from simhash_gate import hamming_distance, simhash
from simhash_gate.fingerprints.features import shingles
from simhash_gate.fingerprints.words import words


class Reading(NamedTuple):
    """A page's value, None for nothing to compare, and the CPU time it took."""

    value: Any
    milliseconds: float
    error: str | None = None


class Content(NamedTuple):
    """The main content of a page as plain text, and its title; None of a method without titles."""

    text: str
    title: str | None


class Reader(ABC):
    """Reads a page's value. `title` is the table's row.

    `needs` are the distributions, and `built_on` the files of simhash_gate, that decide the values.
    """

    title: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ("lxml",)
    built_on: ClassVar[tuple[str, ...]] = (
        "page/parse.py",
        "fingerprints/features.py",
        "fingerprints/simhash.py",
    )

    def prepare(self) -> None:
        """Get ready, once in each process; raise `MissingError` if that is impossible."""
        return

    @abstractmethod
    def read(self, body: bytes, url: str) -> Any:
        """Return a page's value, which can be pickled; None for a page without."""

    def measure(self, body: bytes, url: str) -> Reading:
        """Read one page, and take the time; what fails on a page has no value for it."""
        start = time.process_time()
        value, failure = None, None
        try:
            value = self.read(body, url)
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


class Extractor(Reader):
    """A method whose values are a page's `Content`."""

    @abstractmethod
    def read(self, body: bytes, url: str) -> Content:
        """Return the page's content."""


class Method(Reader):
    """Two pages are called duplicates when `distance` is at most `threshold`.

    `unit` names what the distance counts, or is None for a method that answers yes (0) or no (1).
    """

    unit: ClassVar[str | None] = None
    threshold: ClassVar[float] = 0

    def read(self, body: bytes, url: str) -> Any:
        """Return the page's fingerprint."""
        return self.fingerprint(body, url)

    @abstractmethod
    def fingerprint(self, body: bytes, url: str) -> Any:
        """Return a page's value, which can be pickled; None for nothing to compare."""

    def distance(self, a: Any, b: Any) -> float:
        """Return how far two values are apart; by default 0 for equal ones and 1 for others."""
        return float(a != b)

    def window(self) -> Window:
        """Return the pages of a site of which none has come yet."""
        return Nearest(self)


class Window(ABC):
    """The pages of one site that were kept."""

    @abstractmethod
    def see(self, id_: str, value: Any) -> str | None:
        """Keep the site's next page, or return the id of the kept page that it is dropped for."""


class Nearest(Window):
    """Drops a page for the nearest that was kept, if that is within the method's threshold."""

    def __init__(self, method: Method) -> None:
        self._method = method
        self._kept: dict[str, Any] = {}

    def see(self, id_: str, value: Any) -> str | None:
        """Compare a page with all that were kept."""
        apart = {kept: self._method.distance(other, value) for kept, other in self._kept.items()}
        nearest = min(apart, key=apart.__getitem__, default=None)
        if nearest is not None and apart[nearest] <= self._method.threshold:
            return nearest
        self._kept[id_] = value
        return None


class HammingMethod(Method):
    """A method whose values are 64-bit fingerprints."""

    unit = "bits"
    threshold = 3

    def distance(self, a: int, b: int) -> float:
        """Return the Hamming distance."""
        return hamming_distance(a, b)


class OurFeatures(HammingMethod):
    """Our features, each shingle counted once, of another extractor's text; nothing is masked."""

    @abstractmethod
    def text(self, body: bytes, url: str) -> str:
        """Return the text of a page."""

    def fingerprint(self, body: bytes, url: str) -> int | None:
        found = shingles(words(self.text(body, url)))
        return simhash(dict.fromkeys(found, 1.0)) if found else None

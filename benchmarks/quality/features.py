"""Other features than the gate's own, for `--set features`: what each does to decisions."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from pathlib import Path

from simhash_gate.features import Idf, character_shingles, shingles, stop_words

COUNTS = Path("build/quality/features.json").absolute()
"""How many pages of the corpus have each shingle and each word."""
TITLES = {
    "Words": "words",
    "Pairs": "2 words",
    "Fives": "5 words",
    "Characters": "5 characters",
    "NoStopWords": "3 words, no stop words (en)",
    "Weighted": "3 words by IDF",
    "WeightedWords": "words by IDF",
}


class Words:
    """Each word by itself."""

    features: Callable[[list[str]], list[str]] = staticmethod(lambda words: words)

    def __call__(self, words: list[str]) -> dict[str, float]:
        """Return features of one weight."""
        return dict.fromkeys(self.features(words), 1.0)


class Pairs(Words):
    """Two words in a row."""

    features = staticmethod(partial(shingles, size=2))


class Fives(Words):
    """Five words in a row."""

    features = staticmethod(partial(shingles, size=5))


class Characters(Words):
    """Five characters in a row."""

    features = staticmethod(lambda words: character_shingles(" ".join(words)))


class NoStopWords(Words):
    """Three words in a row of those that are no stop words."""

    def __init__(self) -> None:
        stops = stop_words("en")
        self.features = lambda words: shingles([word for word in words if word not in stops])


class WeightedWords(Words):
    """Each word by itself, by how few pages of the corpus have it."""

    @cached_property
    def _idf(self) -> Idf:
        return Idf.load(COUNTS)

    def __call__(self, words: list[str]) -> dict[str, float]:
        """Return features and their weights."""
        return self._idf.weigh(self.features(words))


class Weighted(WeightedWords):
    """Three words in a row, by how few pages of the corpus have them."""

    features = staticmethod(shingles)

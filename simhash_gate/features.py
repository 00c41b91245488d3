"""Features of a text for fingerprints of one's own: shingles of any size, weights, stop words.

`SIMHASH_GATE_FEATURES` names a class. Its instances are called with the words of a page, in order,
and return a weight for each feature. Without it, pages are hashed as `fingerprints.simhash` says.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from simhash_gate.common.files import whole_file
from simhash_gate.common.wording import need, require
from simhash_gate.page import Page


def shingles(words: Sequence[str], size: int = 3) -> list[str]:
    """Return each `size` words in a row, joined by spaces; fewer words are one shingle.

    After Broder, "On the resemblance and containment of documents" (SEQUENCES 1997), section 2.
    """
    return [" ".join(words[at : at + size]) for at in _places(words, size)]


def character_shingles(text: str, size: int = 5) -> list[str]:
    """Return each `size` characters in a row; a shorter text is one shingle."""
    return [text[at : at + size] for at in _places(text, size)]


def _places(row: Sequence[str], size: int) -> range:
    if size not in range(1, 1 << 32):
        raise ValueError(f"expected a size of at least 1, not {size!r}")
    return range(max(1, len(row) - size + 1) if row else 0)


class SingleWords:
    """Each word by itself, however often it comes."""

    def __call__(self, words: Sequence[str]) -> dict[str, float]:
        """Return features of one weight."""
        return dict.fromkeys(words, 1.0)


def stop_words(*languages: str) -> frozenset[str]:
    """Return the stop words of languages, by their codes in ISO 639-1, such as `en`.

    Raises `MissingExtraError` where `simhash-gate[features]` is not installed, and ValueError for a
    language that has no list.
    """
    lists = need("stopwordsiso", "stop_words", "features")
    if unknown := [language for language in languages if not lists.has_lang(language)]:
        raise ValueError(f"no stop words of {', '.join(unknown)}")
    return frozenset(lists.stopwords(languages))


class Idf:
    """Weights of features by how many pages have them: `log((1 + pages) / (1 + df)) + 1`.

    After Spärck Jones, "A statistical interpretation of term specificity and its application in
    retrieval" (Journal of Documentation 28, 1972); smoothed, so that no weight is 0 or infinite.
    """

    def __init__(self, pages: int, counts: Mapping[str, int]) -> None:
        self.pages = pages
        self.counts = counts

    @classmethod
    def fit(
        cls, pages: Iterable[Page], features: Callable[[list[str]], Iterable[str]] = shingles
    ) -> Idf:
        """Count on how many pages each feature is. Features of one page alone need no entry."""
        counts, number = Counter[str](), 0
        for page in pages:
            require(page, Page, "a Page, as read_page() returns it")
            counts.update({*features(page.said.split())})
            number += 1
        return cls(number, {feature: count for feature, count in counts.items() if count > 1})

    def weigh(self, features: Iterable[str]) -> dict[str, float]:
        """Return the weight of each feature, however often it comes."""
        return {
            feature: math.log((1 + self.pages) / (1 + self.counts.get(feature, 1))) + 1
            for feature in features
        }

    def save(self, path: str | Path) -> None:
        """Write the counts as JSON. Raises OSError."""
        with whole_file(path, private=False) as file:
            file.write(json.dumps({"pages": self.pages, "counts": self.counts}).encode())

    @classmethod
    def load(cls, path: str | Path) -> Idf:
        """Read what `save` wrote. Raises OSError, and ValueError or KeyError for another file."""
        known = json.loads(Path(path).read_bytes())
        return cls(known["pages"], known["counts"])

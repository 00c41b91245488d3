"""The fingerprints of one scope and pipeline version, and which records have them."""

from __future__ import annotations

from collections import defaultdict

from simhash_gate.fingerprints.index import HammingIndex


class Shelf:
    """Finds the numbers of records by their fingerprint, and by what is near it."""

    def __init__(self) -> None:
        self._index = HammingIndex()
        self._numbers: defaultdict[int, list[int]] = defaultdict(list)

    def __bool__(self) -> bool:
        return bool(self._numbers)

    def add(self, number: int, fingerprint: int) -> None:
        """Put a record there."""
        self._index.insert(fingerprint)
        self._numbers[fingerprint].append(number)

    def remove(self, number: int, fingerprint: int) -> None:
        """Take a record out that is there."""
        self._numbers[fingerprint].remove(number)
        if not self._numbers[fingerprint]:
            del self._numbers[fingerprint]
            self._index.remove(fingerprint)

    def numbers(self, fingerprint: int) -> list[int]:
        """Return the numbers of the records with exactly this fingerprint."""
        return self._numbers.get(fingerprint, [])

    def near(self, fingerprint: int, radius: int, limit: int) -> list[tuple[int, int]]:
        """Return number and distance of what is within `limit` bits, as far as it is come across.

        What is within `radius` is among it, for certain.
        """
        return [
            (number, distance)
            for other in set(self._index.candidates(fingerprint, radius))
            if (distance := (other ^ fingerprint).bit_count()) <= limit
            for number in self._numbers[other]
        ]

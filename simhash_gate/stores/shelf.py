"""The fingerprints of one scope and pipeline version, and which records have them."""

from __future__ import annotations

from simhash_gate.fingerprints.index import HammingIndex


class Shelf:
    """Finds the numbers of records by their fingerprint, and by what is near it.

    Fingerprints are taken as they are: who adds one has seen that it has 64 bits.
    """

    def __init__(self) -> None:
        self._index = HammingIndex()
        # By slot of the index. Most fingerprints are of one record: a list of one takes far more.
        self._numbers: list[int | list[int]] = [0]

    def __bool__(self) -> bool:
        return len(self._index) > 0

    def add(self, number: int, fingerprint: int) -> None:
        """Put a record there."""
        slot = self._index.slot(fingerprint)
        found = self._numbers[slot]
        if not slot:
            self._index.insert_new(fingerprint)
            self._numbers.append(number)
        elif isinstance(found, int):
            self._numbers[slot] = [found, number]
        else:
            found.append(number)

    def add_if_alone(
        self, number: int, fingerprint: int, radius: int, limit: int
    ) -> list[tuple[int, int]]:
        """Put a record there if nothing is `near`; else return that."""
        found = self._index.candidates(fingerprint, radius, limit)
        if found:
            return self._with_numbers(found, fingerprint)
        self._index.insert_new(fingerprint)
        self._numbers.append(number)
        return []

    def remove(self, number: int, fingerprint: int) -> None:
        """Take a record out that is there."""
        rest = [other for other in self.numbers(fingerprint) if other != number]
        slot = self._index.slot(fingerprint)
        self._numbers[slot] = rest
        if not rest:
            self._index.remove(fingerprint)
            self._numbers[slot] = self._numbers[-1]
            self._numbers.pop()

    def numbers(self, fingerprint: int) -> list[int]:
        """Return the numbers of the records with exactly this fingerprint."""
        slot = self._index.slot(fingerprint)
        found = self._numbers[slot] if slot else []
        return [found] if isinstance(found, int) else found

    def near(self, fingerprint: int, radius: int, limit: int) -> list[tuple[int, int]]:
        """Return number and distance of what is within `limit` bits, as far as it is come across.

        What is within `radius` is among it, for certain.
        """
        found = self._index.candidates(fingerprint, radius, limit)
        return self._with_numbers(found, fingerprint) if found else []

    def _with_numbers(self, slots: list[int], fingerprint: int) -> list[tuple[int, int]]:
        near = []
        for slot in set(slots):
            distance = (self._index.at(slot) ^ fingerprint).bit_count()
            numbers = self._numbers[slot]
            if isinstance(numbers, int):
                near.append((numbers, distance))
            else:
                near.extend((number, distance) for number in numbers)
        return near

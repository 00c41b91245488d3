"""The fingerprints of one scope and pipeline version, and which records have them."""

from __future__ import annotations

from simhash_gate.fingerprints.index import HammingIndex


class Shelf:
    """Finds the numbers of records by their fingerprint, and by what is near it.

    Fingerprints are taken as they are: who adds one has seen that it has 64 bits.
    """

    def __init__(self) -> None:
        self._index = HammingIndex()
        # Most fingerprints are of one record: its number alone takes a third of a list.
        self._numbers: dict[int, int | list[int]] = {}

    def __bool__(self) -> bool:
        return bool(self._numbers)

    def add(self, number: int, fingerprint: int) -> None:
        """Put a record there."""
        found = self._numbers.get(fingerprint)
        if found is None:
            self._numbers[fingerprint] = number
            self._index.insert_new(fingerprint)
        elif isinstance(found, int):
            self._numbers[fingerprint] = [found, number]
        else:
            found.append(number)

    def add_if_alone(
        self, number: int, fingerprint: int, radius: int, limit: int
    ) -> list[tuple[int, int]]:
        """Put a record there if nothing is `near`; else return that."""
        found = self._index.insert_if_alone(fingerprint, radius, limit)
        if found:
            return self._with_numbers(found, fingerprint)
        self._numbers[fingerprint] = number
        return []

    def remove(self, number: int, fingerprint: int) -> None:
        """Take a record out that is there."""
        rest = [other for other in self.numbers(fingerprint) if other != number]
        if rest:
            self._numbers[fingerprint] = rest
        else:
            del self._numbers[fingerprint]
            self._index.remove(fingerprint)

    def numbers(self, fingerprint: int) -> list[int]:
        """Return the numbers of the records with exactly this fingerprint."""
        found = self._numbers.get(fingerprint, [])
        return [found] if isinstance(found, int) else found

    def near(self, fingerprint: int, radius: int, limit: int) -> list[tuple[int, int]]:
        """Return number and distance of what is within `limit` bits, as far as it is come across.

        What is within `radius` is among it, for certain.
        """
        found = self._index.candidates(fingerprint, radius, limit)
        return self._with_numbers(found, fingerprint) if found else []

    def _with_numbers(self, found: list[int], fingerprint: int) -> list[tuple[int, int]]:
        near = []
        for other in set(found):
            distance, numbers = (other ^ fingerprint).bit_count(), self._numbers[other]
            if isinstance(numbers, int):
                near.append((numbers, distance))
            else:
                near.extend((number, distance) for number in numbers)
        return near

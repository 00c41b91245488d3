"""The addresses of one host that were skipped, and those that are fetched to test the atoms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from simhash_gate.identity.atoms import Atom
from simhash_gate.identity.group import FEW

if TYPE_CHECKING:
    from simhash_gate.identity.reduction import Reduction

FIRSTS, EVERY = 3, 25
"""The first 3 skips by an atom are fetched to test it, and later one in 25."""
STRANGE = 3
"""An atom fails if 3 of its tests, and more than a third, bring pages that no verdict tells of."""
RECHECK = 5
"""When a test fails, the last 5 skips by the same atoms are fetched."""


class Skip(NamedTuple):
    """The atoms by which an address can be skipped. A `test` is fetched all the same."""

    atoms: tuple[Atom, ...]
    test: bool


class Skips:
    """Decides which skips are fetched as tests, and which ones after all."""

    def __init__(self, reduction: Reduction) -> None:
        self._reduction = reduction
        self._counts: Counter[tuple[str, Atom]] = Counter()
        self._testing: dict[str, str] = {}
        self._skipped: dict[str, str] = {}
        self._tested = 0
        self._results: Counter[tuple[Atom, bool]] = Counter()
        self._recheck: set[str] = set()

    def ask(self, url: str, stand_in: str, *, skip: bool = True) -> Skip:
        """Decide whether to skip an address for which another one stands, or to test it.

        Without `skip`, every address is a test.
        """
        atoms = self._reduction.reasons(url, stand_in)
        path, kind_of_url = self._reduction.place(url)
        # A site that writes anything in place of a name does so in all its parts.
        alike = {atom._replace(name="") if atom.kind == "place" else atom for atom in atoms}
        count = min((self._counts["", atom] for atom in alike), default=0)
        # An atom is tested in each part of the site; with few contents for it, under each word.
        whole, kind = self._reduction.whole, path.kind
        places = {
            (place, atom)
            for atom in atoms
            if not (atom.is_listed and atom in whole.acts)
            for place in (kind.rpartition("/")[0], kind)
            if place != kind or self._reduction.speaking(kind_of_url, atom) < FEW
        }
        strange = not all(self._counts[place] for place in places)
        self._counts.update((*places, *(("", atom) for atom in alike)))
        # The first skips are tested, those in a new place, and those by doubted atoms; later one
        # after 4, 8, 16 ... skips, and one in 25.
        first = count < FIRSTS or strange or not whole.doubted.isdisjoint(atoms)
        if atoms and (not skip or first or (count & (count - 1)) == 0 or count % EVERY == 0):
            self._testing[url] = stand_in
            return Skip(atoms, test=True)
        self._skipped[url] = stand_in
        return Skip(atoms, test=False)

    def sample(self, count: int) -> list[str]:
        """Return skipped addresses, spread evenly, to be fetched as tests.

        While atoms are doubted, these are up to `EVERY` addresses that were skipped by them. Else
        there are none if nothing was skipped since the last call.
        """
        doubts = self._reduction.whole.doubted
        urls = [*self._by(doubts)][::-1]
        if urls:
            count = EVERY
        elif len(self._skipped) > self._tested:
            urls = [*self._skipped]
        count = min(count, len(urls))
        taken = [urls[(n + 1) * len(urls) // count - 1] for n in range(count)]
        self._test(taken)
        self._tested = len(self._skipped)
        return taken

    def take(self, is_meant: Callable[[str, str], bool]) -> list[str]:
        """Return the skipped addresses that are meant, and forget their skips.

        `is_meant` gets an address and its stand-in.
        """
        urls = [url for url, stand_in in self._skipped.items() if is_meant(url, stand_in)]
        for url in urls:
            del self._skipped[url]
        return urls

    def recheck(self, url: str, atoms: Collection[Atom]) -> list[str]:
        """Return the last addresses that the atoms of a failed test skipped, to be tested too.

        The list is empty if the failed test was itself such an address.
        """
        if url in self._recheck:
            return []
        last = [*islice(self._by(atoms), RECHECK)]
        self._test(last)
        self._recheck.update(last)
        return last

    def came(self, url: str) -> str:
        """Return the stand-in of an address that came as a test, else "". End the test."""
        return self._testing.pop(url, "")

    def is_too_strange(self, url: str, tested: str, *, strange: bool) -> bool:
        """Count a test of an address for its stand-in `tested`. Return whether one of its atoms
        failed, because too many of the atom's tests were `strange`."""
        failed = False
        for atom in self._reduction.reasons(url, tested):
            self._results[atom, strange] += 1
            wrong, right = self._results[atom, True], self._results[atom, False]
            failed = failed or (wrong >= STRANGE and 2 * wrong > right)
        return strange and failed

    def make_room(self) -> None:
        """Forget in which parts of the site atoms were tested."""
        self._counts = Counter({key: tests for key, tests in self._counts.items() if not key[0]})

    def _by(self, atoms: Collection[Atom]) -> Iterator[str]:
        """Yield the addresses that any of these atoms skipped, the latest first."""
        for url, stand_in in reversed(self._skipped.items()) if atoms else ():
            if not {*atoms}.isdisjoint(self._reduction.reasons(url, stand_in)):
                yield url

    def _test(self, urls: Collection[str]) -> None:
        for url in urls:
            self._testing[url] = self._skipped.pop(url)

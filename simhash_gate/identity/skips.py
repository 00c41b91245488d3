"""What was skipped at one host, and which skips are fetched to test what acts."""

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
"""So many of the first skips by an atom are fetched to test it, and one in so many later ones."""
STRANGE = 3
"""So many tests, and more than a third, that bring what nobody can tell of are a failure."""
RECHECK = 5
"""So many of the last skips are fetched when a test fails."""


class Skip(NamedTuple):
    """By which atoms a page need not be fetched. If it is a `test`, it is fetched all the same."""

    atoms: tuple[Atom, ...]
    test: bool


class Skips:
    """Says of each skip whether it is a test, and which are to be fetched after all."""

    def __init__(self, reduction: Reduction) -> None:
        self._reduction = reduction
        self._counts: Counter[tuple[str, Atom]] = Counter()
        self._testing: dict[str, str] = {}
        self._skipped: dict[str, str] = {}
        self._tested = 0
        self._results: Counter[tuple[Atom, bool]] = Counter()
        self._recheck: set[str] = set()

    def ask(self, url: str, stand_in: str, *, skip: bool = True) -> Skip:
        """Return what is to be done with an address for which another one stands.

        Without `skip` every one is a test.
        """
        atoms = self._reduction.reasons(url, stand_in)
        path, its_kind = self._reduction.place(url)
        # What a site writes in place of a name, it does so in all its parts.
        alike = {atom._replace(name="") if atom.kind == "place" else atom for atom in atoms}
        count = min((self._counts["", atom] for atom in alike), default=0)
        # Where few contents speak for an atom it is tested under each word, else in each part.
        whole, kind = self._reduction.whole, path.kind
        places = {
            (place, atom)
            for atom in atoms
            if not (atom.is_listed and atom in whole.acts)
            for place in (kind.rpartition("/")[0], kind)
            if place != kind or self._reduction.speaking(its_kind, atom) < FEW
        }
        strange = not all(self._counts[each] for each in places)
        self._counts.update((*places, *(("", atom) for atom in alike)))
        first = count < FIRSTS or strange or not whole.doubted.isdisjoint(atoms)
        if atoms and (not skip or first or (count & (count - 1)) == 0 or count % EVERY == 0):
            self._testing[url] = stand_in
            return Skip(atoms, test=True)
        self._skipped[url] = stand_in
        return Skip(atoms, test=False)

    def sample(self, count: int) -> list[str]:
        """Return addresses, spread evenly, that were skipped since, to be fetched as tests.

        While atoms are doubted, they are of those that were skipped by these, and more.
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
        """Return those addresses that were skipped for others that are meant, and skip no more."""
        found = [url for url, stand_in in self._skipped.items() if is_meant(url, stand_in)]
        for url in found:
            del self._skipped[url]
        return found

    def recheck(self, url: str, atoms: Collection[Atom]) -> list[str]:
        """Return the last skips by the atoms of a test that failed, to be fetched as tests too.

        None are if it was one of these.
        """
        if url in self._recheck:
            return []
        last = [*islice(self._by(atoms), RECHECK)]
        self._test(last)
        self._recheck.update(last)
        return last

    def came(self, url: str) -> str:
        """Return the stand-in of an address that is fetched as a test, else ""."""
        return self._testing.pop(url, "")

    def is_too_strange(self, url: str, tested: str, *, strange: bool) -> bool:
        """Count a test; tell whether too many of its atoms brought what nobody can tell of."""
        failed = False
        for atom in self._reduction.reasons(url, tested):
            self._results[atom, strange] += 1
            wrong, right = (self._results[atom, known] for known in (True, False))
            failed = failed or (wrong >= STRANGE and 2 * wrong > right)
        return strange and failed

    def make_room(self) -> None:
        """Forget in which parts of the site atoms were tested."""
        self._counts = Counter({key: tests for key, tests in self._counts.items() if not key[0]})

    def _by(self, atoms: Collection[Atom]) -> Iterator[str]:
        """Yield what was skipped by any of some atoms, the latest first."""
        for url, stand_in in reversed(self._skipped.items()) if atoms else ():
            if not {*atoms}.isdisjoint(self._reduction.reasons(url, stand_in)):
                yield url

    def _test(self, urls: Collection[str]) -> None:
        for url in urls:
            self._testing[url] = self._skipped.pop(url)

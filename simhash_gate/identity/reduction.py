"""Reduce the addresses of one host to the parts that all addresses of a page have in common."""

from __future__ import annotations

from simhash_gate.identity.address import ANY, Address, Words, address_of
from simhash_gate.identity.atoms import OF_QUERY, Atom
from simhash_gate.identity.group import AddressGroup
from simhash_gate.identity.lists import is_one_of

AFTER = " after "
"""Stands in the name of a kind that was cut at a number."""
MOST_PLACED = 50_000
"""Addresses with a query whose place is remembered (1.1 KB each). Others are placed at once."""


class Reduction:
    """Reduces addresses: by the acting atoms of the path, then by those of the query for its kind.

    A kind is a path where numbers and names are masked. `matters` are names that track visitors
    elsewhere, and make a difference here.
    """

    def __init__(self, tracking: frozenset[str]) -> None:
        self.whole = AddressGroup("")
        self.kinds: dict[str, AddressGroup] = {}
        self.matters: set[str] = set()
        self._tracking = tracking
        self._cuts: dict[str, tuple[int, ...]] = {}
        self._words = Words()
        self._placed: dict[str, tuple[Address, str]] = {}

    def address(self, url: str) -> Address:
        """Return an address without the parameters that track visitors."""
        address = address_of(url)
        if not address.query:
            return address
        query = tuple(pair for pair in address.query if not self.is_tracking(pair[0]))
        return address if query == address.query else address._replace(query=query)

    def is_tracking(self, name: str) -> bool:
        """Tell whether a parameter only tracks visitors."""
        return is_one_of(self._tracking, name) and name not in self.matters

    def is_listed(self, atom: Atom) -> bool:
        """Tell whether an atom seldom matters on any site."""
        return atom.is_listed or (atom.kind == "drop" and self.is_tracking(atom.name))

    def place(self, url: str) -> tuple[Address, str]:
        """Return an address as the atoms of the path leave it, and its kind."""
        place = self._placed.get(url)
        if place is None:
            path = self.whole.ready.apply(self.address(url))
            place = path, self.kind(path)
            if path.query:
                if len(self._placed) >= MOST_PLACED:
                    self._placed.clear()
                self._placed[url] = place
        return place

    def key(self, url: str) -> Address:
        """Return an address as all acting atoms leave it: the same for all addresses of a page."""
        path, kind = self.place(url)
        group = self.kinds.get(kind) if path.query else None
        return group.ready.apply(path) if group else path

    def kind(self, path: Address) -> str:
        """Return the kind of an address that the atoms of the path have reduced."""
        kind = self._words.masked(path.host, path.masked)
        kind = kind if path.path else f"{kind}/"
        cut = self._cuts.get(kind)
        if cut is not None and path.numbers > cut:
            kind += AFTER + "/".join(map(str, cut))
        return kind

    def group(self, kind: str) -> AddressGroup:
        """Return the group of a kind, a new one if there is none."""
        return self.kinds.get(kind) or self.kinds.setdefault(kind, AddressGroup(kind))

    def speaking(self, kind: str, atom: Atom) -> int:
        """Return how many contents speak for an atom, in a kind or, for the path, on the host."""
        group = self.kinds.get(kind) if atom.kind in OF_QUERY else self.whole
        return len(group.contents.get(atom, ())) if group else 0

    def cut(self, kind: str, number: tuple[int, ...]) -> bool:
        """Move addresses with higher numbers to a kind of their own. Return False if it was cut."""
        if kind in self._cuts or AFTER in kind:
            return False
        self._cuts[kind] = number
        return True

    def met(self, path: Address) -> list[tuple[str, AddressGroup]]:
        """Count the words of a path. Return the kinds that were merged, each with its new group."""
        before = self._words.count(path.host, path.masked)
        merged = []
        if before:
            self._placed.clear()
        for kind in [kind for kind in self.kinds if before and kind.startswith(f"{before}/")]:
            word, *rest = kind[len(before) + 1 :].split("/", 1)
            if self._words.word(before, word) != word and AFTER not in kind:
                one, other = self.kinds.pop(kind), self.group("/".join((before, ANY, *rest)))
                other.take_over(one)
                merged.append((kind, other))
        return merged

    def regroup(self) -> None:
        """Forget the kinds of addresses, after other atoms of the path act or a kind was cut."""
        self._placed.clear()
        self._words.forget_counts()
        for group in self.kinds.values():
            group.pages.clear()

    def reasons(self, url: str, other: str) -> tuple[Atom, ...]:
        """Return the acting atoms that apply to the differences of two addresses."""
        atoms: list[Atom] = []
        if "?" in url or "?" in other:
            mine, theirs = dict(address_of(url).query), dict(address_of(other).query)
            atoms = [
                Atom("drop", name)
                for name in sorted({*mine} | {*theirs})
                if mine.get(name) != theirs.get(name) and self.is_tracking(name)
            ]
        atoms += self.whole.ready.between(self.address(url), self.address(other))
        (one, kind), (two, _) = self.place(url), self.place(other)
        group = self.kinds.get(kind)
        if group is not None and one.query != two.query:
            atoms += group.ready.between(one, two)
        return tuple(atoms)

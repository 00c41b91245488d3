"""What the addresses of one host are reduced to: what all addresses of a page have in common."""

from __future__ import annotations

from simhash_gate.identity.address import ANY, Address, Words, address_of
from simhash_gate.identity.atoms import OF_QUERY, Atom
from simhash_gate.identity.group import AddressGroup
from simhash_gate.identity.lists import is_one_of

AFTER = " after "
"""Is in the name of a kind that was cut at a number."""
MOST_PLACED, MOST_LATEST = 50_000, 500
"""Addresses whose place is remembered: with a query, 1.1 KB for each; the latest without one."""


class Reduction:
    """Reduces addresses by what acts: atoms of the path on all, atoms of the query by kind.

    A kind is what a site's program makes in one way: a path, where numbers and names are masked.
    `matters` are names that track visitors elsewhere, and say something here.
    """

    def __init__(self, tracking: frozenset[str]) -> None:
        self.whole = AddressGroup("")
        self.kinds: dict[str, AddressGroup] = {}
        self.matters: set[str] = set()
        self._tracking = tracking
        self._cuts: dict[str, tuple[int, ...]] = {}
        self._words = Words()
        self._placed: dict[str, tuple[Address, str]] = {}
        self._latest: dict[str, tuple[Address, str]] = {}

    def address(self, url: str) -> Address:
        """Return an address without what only tells of visitors."""
        address = address_of(url)
        if not address.query:
            return address
        query = tuple(pair for pair in address.query if not self.is_tracking(pair[0]))
        return address if query == address.query else address._replace(query=query)

    def is_tracking(self, name: str) -> bool:
        """Tell whether a parameter only tells of visitors."""
        return is_one_of(self._tracking, name) and name not in self.matters

    def is_listed(self, atom: Atom) -> bool:
        """Tell whether an atom seldom matters on any site."""
        return atom.is_listed or (atom.kind == "drop" and self.is_tracking(atom.name))

    def place(self, url: str) -> tuple[Address, str]:
        """Return what is left of an address once atoms of the path acted, and its kind."""
        placed, most = (self._placed, MOST_PLACED) if "?" in url else (self._latest, MOST_LATEST)
        found = placed.get(url)
        if found is None:
            path = self.whole.ready.apply(self.address(url))
            if len(placed) >= most:
                placed.clear()
            found = placed[url] = path, self.kind(path)
        return found

    def key(self, url: str) -> Address:
        """Return what all addresses of a page have in common, as far as is known."""
        path, kind = self.place(url)
        group = self.kinds.get(kind) if path.query else None
        return group.ready.apply(path) if group else path

    def kind(self, path: Address) -> str:
        """Return the kind of an address on which atoms of the path acted."""
        kind = self._words.masked(path.host, path.masked)
        kind = kind if path.path else f"{kind}/"
        cut = self._cuts.get(kind)
        if cut is not None and path.numbers > cut:
            kind += AFTER + "/".join(map(str, cut))
        return kind

    def group(self, kind: str) -> AddressGroup:
        """Return what is known of addresses of a kind."""
        return self.kinds.get(kind) or self.kinds.setdefault(kind, AddressGroup(kind))

    def speaking(self, kind: str, atom: Atom) -> int:
        """Return how many contents speak for an atom: on a kind, or on all if it is of the path."""
        group = self.kinds.get(kind) if atom.kind in OF_QUERY else self.whole
        return len(group.contents.get(atom, ())) if group else 0

    def cut(self, kind: str, number: tuple[int, ...]) -> bool:
        """Let addresses of a kind with higher numbers be of another one; once for each kind."""
        if kind in self._cuts or AFTER in kind:
            return False
        self._cuts[kind] = number
        return True

    def met(self, path: Address) -> list[tuple[str, AddressGroup]]:
        """Count the words of a path. Return kinds that became one with another, each with that."""
        before = self._words.count(path.host, path.masked)
        merged = []
        if before:
            self._forget_places()
        for kind in [kind for kind in self.kinds if before and kind.startswith(f"{before}/")]:
            word, *rest = kind[len(before) + 1 :].split("/", 1)
            if self._words.word(before, word) != word and AFTER not in kind:
                one, other = self.kinds.pop(kind), self.group("/".join((before, ANY, *rest)))
                other.take_over(one)
                merged.append((kind, other))
        return merged

    def regroup(self) -> None:
        """Forget where addresses stood: other atoms of the path act, or kinds are told apart."""
        self._forget_places()
        self._words.forget_counts()
        for group in self.kinds.values():
            group.pages.clear()

    def _forget_places(self) -> None:
        self._placed.clear()
        self._latest.clear()

    def reasons(self, url: str, other: str) -> tuple[Atom, ...]:
        """Return the atoms by which two addresses are one, or would be if they were not."""
        found: list[Atom] = []
        if "?" in url or "?" in other:
            mine, theirs = dict(address_of(url).query), dict(address_of(other).query)
            found = [
                Atom("drop", name)
                for name in sorted({*mine} | {*theirs})
                if mine.get(name) != theirs.get(name) and self.is_tracking(name)
            ]
        found += self.whole.ready.between(self.address(url), self.address(other))
        (one, kind), (two, _) = self.place(url), self.place(other)
        group = self.kinds.get(kind)
        if group is not None and one.query != two.query:
            found += group.ready.between(one, two)
        return tuple(found)

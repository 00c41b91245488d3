"""What is known of addresses of one kind: pages, and what of them speaks for which atom."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator

from simhash_gate.identity.address import Address
from simhash_gate.identity.atoms import OF_QUERY, Atom, PathAtoms, QueryAtoms, are_numbers

OWN = 5
"""Contents that speak for an atom before it acts."""
VALUES = 3
"""Values of a parameter before an atom is about all of them."""
FEW = 30
"""Values after which one content is enough: all may be a form to log in."""
TOLERATED = 0.01
"""Share of its pages that may contradict an atom; each of these is fetched."""
SURE = 3
"""An atom that so many pages contradict does not come back."""
MOST_PAGES = 2_000
"""Pages of one kind, and of a host, that atoms are tried on: the latest ones."""
MOST_ATOMS = 400
_LOOKED_AT = 3


class AddressGroup:
    """What is known of addresses of one kind; with the name "", of all addresses of a host."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.pages: dict[Address, str] = {}
        self.contents: defaultdict[Atom, set[str]] = defaultdict(set)
        self.values: defaultdict[str, set[str]] = defaultdict(set)
        self.out: set[Atom] = set()
        self.denied: set[Atom] = set()
        self.doubted: set[Atom] = set()
        self.act(())
        self.grown = 0
        self.next = 2
        self.dirty = False
        self.highest: tuple[int, ...] = ()
        self.below = 0

    def act(self, atoms: tuple[Atom, ...]) -> None:
        """Let these atoms act, and no others."""
        self.acts = atoms
        self.ready = self._ready(atoms)

    def is_fit(self, atoms: tuple[Atom, ...]) -> bool:
        """Tell whether these atoms act, on the values that they are known for by now."""
        return atoms == self.acts and (not self.name or self._ready(atoms) == self.ready)

    def _ready(self, atoms: Collection[Atom]) -> QueryAtoms | PathAtoms:
        return QueryAtoms.of(atoms, self.values) if self.name else PathAtoms(atoms)

    def add(self, address: Address, content: str) -> None:
        """Take notice of a page."""
        self.put(address, content)
        self.grown += 1

    def put(self, address: Address, content: str) -> None:
        """Remember a page, within bounds."""
        self.pages[address] = content
        if len(self.pages) > MOST_PAGES:
            del self.pages[next(iter(self.pages))]

    def with_one_less(self, address: Address) -> Iterator[tuple[Atom, str]]:
        """Yield pages that a parameter less would be, by what such a parameter says."""
        for pair in address.query:
            query = tuple(other for other in address.query if other != pair)
            content = self.pages.get(address._replace(query=query))
            if content is not None:
                yield Atom("default", *pair), content

    def take_over(self, other: AddressGroup) -> None:
        """Let what speaks for atoms of another kind speak for this one."""
        for atom, contents in other.contents.items():
            self.contents[atom] |= contents
        for name, values in other.values.items():
            self.values[name] |= values
        self.denied |= other.denied
        self.dirty = True

    def speak(self, atom: Atom, content: str) -> None:
        """Note a content that speaks for an atom."""
        known = self.contents[atom]
        if len(known) < FEW and content not in known:
            known.add(content)
            few = len(known) <= OWN if atom.kind == "drop" else atom.is_listed and len(known) == 1
            is_covered = atom.kind in ("default", "value") and Atom("drop", atom.name) in self.acts
            self.dirty = self.dirty or (not is_covered and (few or len(known) == OWN))
        if len(self.contents) > MOST_ATOMS:
            most = sorted(self.contents, key=lambda each: -len(self.contents[each]))
            for each in most[MOST_ATOMS // 2 :]:
                del self.contents[each]

    def show(self, name: str, values: Collection[str]) -> None:
        """Note values of a parameter that made no difference."""
        known = self.values[name]
        if len(known) < FEW:
            were = are_numbers(known)
            known.update(values)
            self.dirty = self.dirty or (were and not are_numbers(known))

    def note_numbers(self, numbers: tuple[int, ...]) -> None:
        """Note the numbers in the paths of two addresses with one content."""
        self.below += numbers < self.highest
        self.highest = max(numbers, self.highest)

    def contradicted(
        self,
        trial: set[Atom],
        plain: Callable[[Address], str | None],
        against: Callable[[str, str, Collection[Atom]], list[Atom]],
    ) -> Atom | None:
        """Return the atom that is most to blame where different contents would have one key.

        `plain` returns the content of an address without a query, if it is known; `against`
        tells which of the atoms that make two contents one these contradict. Of those that act, one
        that few pages contradict is `doubted`, until more of them tell.
        """
        tally = _Tally()
        ready = self._ready(trial)
        groups: dict[Address, dict[str, Address]] = {}
        for address, content in self.pages.items():
            key = ready.apply(address)
            contents = groups.get(key)
            if contents is None:
                contents = groups[key] = {}
                if self.name and not key.query and (its_content := plain(key)):
                    contents[its_content] = key
            for other, its_address in [*contents.items()][:_LOOKED_AT]:
                same = other == content
                if same and its_address == address:
                    continue
                found = ready.between(address, its_address)
                tally.add(found if same else against(other, content, found), same=same)
            contents.setdefault(content, address)
        bad = tally.bad()
        few = {atom for atom in bad if tally.wrong[atom] < SURE}
        if not self.name:  # where one of the query falls, a narrower one may act
            self.doubted = {atom for atom in few if atom in self.acts and tally.right[atom]}
        worst = tally.worst(self, bad - self.doubted)
        if worst is not None and (worst not in few or not (tally.right[worst] or worst.is_listed)):
            self.out.add(worst)
        return worst


class _Tally:
    """How many pairs of pages speak for each atom and against it, and by how many alone."""

    def __init__(self) -> None:
        self.wrong, self.right = Counter[Atom](), Counter[Atom]()
        self._alone: tuple[Counter[str], Counter[str]] = (Counter(), Counter())

    def add(self, atoms: Collection[Atom], *, same: bool) -> None:
        (self.right if same else self.wrong).update(atoms)
        names = {_name(atom) for atom in atoms}
        if len(names) == 1:
            self._alone[same].update(names)

    def bad(self) -> set[Atom]:
        """Return the atoms that too many pairs contradict."""
        return {
            atom
            for atom, wrong in self.wrong.items()
            if wrong > TOLERATED * (wrong + self.right[atom])
        }

    def worst(self, group: AddressGroup, bad: Collection[Atom]) -> Atom | None:
        """Return the atom to blame: one that stands alone between two contents, then a wide one."""

        def blame(atom: Atom) -> tuple[float, ...]:
            against, for_it = (each[_name(atom)] for each in self._alone)
            share = self.wrong[atom] / (self.wrong[atom] + self.right[atom])
            wide = {"drop": 2, "value": 1}.get(atom.kind, 0)
            contents = len(group.contents.get(atom, ()))
            return against / (against + for_it + 1), wide, share, -contents

        return max(sorted(bad), key=blame, default=None)


def _name(atom: Atom) -> str:  # of one name, atoms are alternatives
    return atom.name if atom.kind in OF_QUERY else f"{atom.kind} {atom.name}"

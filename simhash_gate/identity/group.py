"""Addresses of one kind: their pages, and which contents speak for which atom."""

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
"""An atom acts on if no larger share of its pages contradicts it. Those pages are fetched."""
SURE = 3
"""An atom that this many pages contradict never acts again."""
MOST_PAGES = 2_000
"""Pages of one kind, and of a host, that atoms are tried on: the latest ones."""
MOST_ATOMS = 400
_LOOKED_AT = 3


class AddressGroup:
    """Addresses of one kind and their atoms. The name "" stands for all addresses of a host."""

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
        """Let these atoms act, and no other ones."""
        self.acts = atoms
        self.ready = self._ready(atoms)

    def is_fit(self, atoms: tuple[Atom, ...]) -> bool:
        """Tell whether exactly these atoms act, with the values that are known now."""
        return atoms == self.acts and (not self.name or self._ready(atoms) == self.ready)

    def _ready(self, atoms: Collection[Atom]) -> QueryAtoms | PathAtoms:
        return QueryAtoms.of(atoms, self.values) if self.name else PathAtoms(atoms)

    def add(self, address: Address, content: str) -> None:
        """Remember a page that was fetched now."""
        self.put(address, content)
        self.grown += 1

    def put(self, address: Address, content: str) -> None:
        """Remember a page. Forget the oldest one if there are too many."""
        self.pages[address] = content
        if len(self.pages) > MOST_PAGES:
            del self.pages[next(iter(self.pages))]

    def with_one_less(self, address: Address) -> Iterator[tuple[Atom, str]]:
        """Yield the content of each page whose address lacks one parameter, with its atom."""
        for pair in address.query:
            query = tuple(other for other in address.query if other != pair)
            content = self.pages.get(address._replace(query=query))
            if content is not None:
                yield Atom("default", *pair), content

    def take_over(self, other: AddressGroup) -> None:
        """Add the contents and values of another kind to those of this one."""
        for atom, contents in other.contents.items():
            self.contents[atom] |= contents
        for name, values in other.values.items():
            self.values[name] |= values
        self.denied |= other.denied
        self.dirty = True

    def speak(self, atom: Atom, content: str) -> None:
        """Note a content that speaks for an atom."""
        contents = self.contents[atom]
        if len(contents) < FEW and content not in contents:
            contents.add(content)
            count = len(contents)
            few = count <= OWN if atom.kind == "drop" else atom.is_listed and count == 1
            is_covered = atom.kind in ("default", "value") and Atom("drop", atom.name) in self.acts
            self.dirty = self.dirty or (not is_covered and (few or count == OWN))
        if len(self.contents) > MOST_ATOMS:
            most = sorted(self.contents, key=lambda atom: -len(self.contents[atom]))
            for weak in most[MOST_ATOMS // 2 :]:
                del self.contents[weak]

    def show(self, name: str, values: Collection[str]) -> None:
        """Note values of a parameter that made no difference."""
        shown = self.values[name]
        if len(shown) < FEW:
            were_numbers = are_numbers(shown)
            shown.update(values)
            self.dirty = self.dirty or (were_numbers and not are_numbers(shown))

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
        """Return the atom most to blame for giving different contents one key, None if none is.

        `plain` returns the content of an address without a query, if it is known. `against` returns
        the given atoms that two contents contradict. An acting atom that few pages contradict is
        only `doubted`, until more pages contradict it.
        """
        tally = _Tally()
        ready = self._ready(trial)
        groups: dict[Address, dict[str, Address]] = {}
        for address, content in self.pages.items():
            key = ready.apply(address)
            contents = groups.get(key)
            if contents is None:
                contents = groups[key] = {}
                if self.name and not key.query and (content_of_key := plain(key)):
                    contents[content_of_key] = key
            for other, other_address in [*contents.items()][:_LOOKED_AT]:
                same = other == content
                if same and other_address == address:
                    continue
                atoms = ready.between(address, other_address)
                tally.add(atoms if same else against(other, content, atoms), same=same)
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
    """Counts the pairs of pages for and against each atom, and those where it stands alone."""

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
        """Return the atom to blame: first one that stands alone, then a wide one."""

        def blame(atom: Atom) -> tuple[float, ...]:
            wrong_alone, right_alone = (counts[_name(atom)] for counts in self._alone)
            share = self.wrong[atom] / (self.wrong[atom] + self.right[atom])
            wide = {"drop": 2, "value": 1}.get(atom.kind, 0)
            contents = len(group.contents.get(atom, ()))
            return wrong_alone / (wrong_alone + right_alone + 1), wide, share, -contents

        return max(sorted(bad), key=blame, default=None)


def _name(atom: Atom) -> str:  # atoms of one name are alternatives
    return atom.name if atom.kind in OF_QUERY else f"{atom.kind} {atom.name}"

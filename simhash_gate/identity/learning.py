"""What the pages of one host have shown not to matter in their addresses.

Atoms are read off pairs of addresses with one content, and tried together: some come only as a
bundle. Those go by which addresses of different contents would be one. What is left acts, if enough
contents speak for it. The idea is that of Bar-Yossef, Keidar and Schonfeld (Do not crawl in the
DUST, 2007); what differs is that a skip is tested by fetching, and taken back.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from functools import cache

from simhash_gate.identity.address import Address
from simhash_gate.identity.atoms import OF_QUERY, Atom, between, in_effect
from simhash_gate.identity.contents import Contents
from simhash_gate.identity.group import FEW, OWN, VALUES, AddressGroup
from simhash_gate.identity.lists import TRACKING
from simhash_gate.identity.reduction import AFTER, Reduction
from simhash_gate.identity.skips import RECHECK, Skips

POOLED = 2
"""Contents that speak for an atom before it acts where `ALL` do on other kinds of URLs."""
ALL = 2 * OWN
BELOW = 9
"""A kind is cut at a number if an atom held for so many lower ones, as by chance in 1 of 10."""


class Host:
    """What the pages of one host, or of one domain, have shown.

    `known` has the address that stands for each key. `back` are addresses that were skipped, and
    are to be fetched after all; `changes` are atoms that act from now on, or no longer, with their
    kind of addresses and the contents for them. Who reads these two empties them.
    """

    def __init__(self, tracking: frozenset[str] = TRACKING) -> None:
        self.known: dict[int, str] = {}
        self.back: list[str] = []
        self.changes: list[tuple[str, Atom, int, bool]] = []
        self.earlier: dict[tuple[str, Atom], int] = {}
        self.contents = Contents()
        self.reduction = Reduction(tracking)
        self._whole = self.reduction.whole
        self.skips = Skips(self.reduction)
        self._more: dict[str, list[str]] = {}
        self._split: set[int] = set()
        self._pooled: defaultdict[Atom, Counter[str]] = defaultdict(Counter)
        self._anywhere: defaultdict[str, set[str]] = defaultdict(set)
        self._moved: set[str] = set()

    # ---- requests ----------------------------------------------------------------------------

    def stand_in(self, url: str) -> str | None:
        """Return the address of a fetched page that has the key of this one, if there is one."""
        key = self.reduction.key(url).digest
        found = self.known.get(key)
        return None if found == url or key in self._split else found

    def forget(self, url: str) -> list[str]:
        """Let a page stand for nothing any more; return what was skipped for it."""
        key = self.reduction.key(url).digest
        if self.known.get(key) == url:
            del self.known[key]
        self.contents.of.pop(url, None)
        return self.skips.take(lambda _, stand_in: stand_in == url)

    # ---- pages -------------------------------------------------------------------------------

    def saw(
        self,
        url: str,
        kept: str = "",
        same: bool | None = None,
        nearly: bool = False,
        *,
        stands: bool = True,
        hashes: bytes = b"",
    ) -> bool:
        """Take notice of a page that was fetched. Return False if it failed a test.

        It is the `same` as that of `kept`, another one than that and than all that it is unlike, or
        None: nobody knows. Where it is `nearly` the same, it may be another view of that. If it
        does not stand for others, it still tells what it is. `hashes` is what `name_and_words`
        returns of it.
        """
        tested = self.skips.came(url)
        key = self.reduction.key(url).digest
        if not stands:
            self._moved.add(url)
        if same is None:
            if stands:
                self.known.setdefault(key, url)
            return True
        content = self.contents.add(url, kept, same=same, nearly=nearly, hashes=hashes)
        if old := self.contents.make_room():
            self._forget(old)
        group = self._add(url, content)
        if same and kept != url:
            self._speak(url, kept, content)
        self._speak_of_others(url, kept, content)
        failed = bool(tested) and (self._differs(tested, url) or self._is_strange(url, tested))
        others = [tested, self.known.get(key, url)]
        if any(self._cut(group, url, each) for each in others if self._differs(each, url)):
            self._regroup()
        elif failed:
            self._failed(url, tested)
        key = self.reduction.key(url).digest
        stand_in = self.known.setdefault(key, url) if stands else self.known.get(key, url)
        if self._differs(stand_in, url):
            self._split.add(key)
            group.dirty = True
            self._whole.dirty = self._whole.dirty or bool(self._whole.acts)
            self.back += self.skips.take(lambda other, _: self.reduction.key(other).digest == key)
        self._fit(group)
        self._fit(self._whole)
        return not failed

    def _add(self, url: str, content: str) -> AddressGroup:
        if self._met(self.reduction.place(url)[0]):
            self._regroup()
        path, kind = self.reduction.place(url)
        group = self.reduction.group(kind)
        for atom, other in group.with_one_less(path):
            if atom not in group.denied and self._against(content, other, (atom,)):
                self._deny(group, atom)
        group.add(path, content)
        self._whole.add(self.reduction.address(url), content)
        return group

    def _deny(self, group: AddressGroup, atom: Atom) -> None:
        """Note that an atom makes a difference in a kind; others where it acts are fitted anew."""
        group.denied.add(atom)
        for kind in [*self._pooled.get(atom, ())]:
            if (other := self.reduction.kinds.get(kind)) is not None and atom in other.acts:
                other.dirty = True
                self._fit(other)

    def _met(self, path: Address) -> bool:
        """Count the words of a path; tell whether kinds became one by that."""
        merged = self.reduction.met(path)
        for kind, group in merged:
            for atom, contents in group.contents.items():
                if self._pooled[atom].pop(kind, 0):
                    self._pooled[atom][group.name] = len(contents)
        return bool(merged)

    def _forget(self, old: set[str]) -> None:
        self._moved -= old
        self.known = {key: url for key, url in self.known.items() if url not in old}
        self._more = {key: more for key, more in self._more.items() if key not in old}
        self.skips.make_room()

    def _differs(self, other: str, url: str) -> bool:
        """Tell whether the pages of two addresses are clearly of different contents."""
        one, two = self.contents.of.get(other), self.contents.of[url]
        if one is None or one == two:
            return False
        return bool(self._against(one, two, self.reduction.reasons(url, other) or (Atom("value"),)))

    def _against(self, one: str, other: str, atoms: Collection[Atom]) -> list[Atom]:
        """Return those of the atoms that make two contents one that these contradict.

        In another view, a page may say some words more or less: by an atom that seldom matters
        anywhere, or by values that make no difference in other parts of the site.
        """
        if not self.contents.are_two(one, other):
            return []
        nearly = self.contents.nearly(one, other)
        return [atom for atom in atoms if not (nearly and self._is_view(atom, one, other))]

    def _is_view(self, atom: Atom, one: str, other: str) -> bool:
        """Tell whether an atom seldom matters, or its values in two URLs do not on other pages."""
        pairs = {*self.reduction.address(one).query, *self.reduction.address(other).query}
        defaults = [Atom("default", *pair) for pair in pairs if pair[0] == atom.name]
        known = (len(self._pooled.get(a, ())) > 1 and self._is_pooled(a, POOLED) for a in defaults)
        return self.reduction.is_listed(atom) or (bool(defaults) and all(known))

    def _is_strange(self, url: str, tested: str) -> bool:
        """Count a test; tell whether too many of its kind brought what nobody can tell of."""
        other = self.contents.of[url]
        strange = not self.contents.look_alike(self.contents.of.get(tested, other), other)
        return self.skips.is_too_strange(url, tested, strange=strange)

    def _speak_of_others(self, url: str, kept: str, content: str) -> None:
        others = self._more.get(content)
        if others is None:
            if content != url:
                self._more[content] = [url]
                if content != kept:
                    self._speak(url, content, content)
            return
        key = self.reduction.key(url)
        for other in (content, *others)[:4]:
            if other not in (kept, url) and self.reduction.key(other) != key:
                self._speak(url, other, content)
        if len(others) < 4:
            others.append(url)

    def _speak(self, url: str, other: str, content: str) -> None:
        """Let two addresses of one content speak for what they differ by."""
        found = between(self.reduction.address(url), self.reduction.address(other))
        if not found:
            return
        path = [atom for atom in found if atom.kind not in OF_QUERY]
        for atom in path:
            self._whole.speak(atom, content)
        if len(path) == len(found) or any(atom not in self._whole.acts for atom in path):
            return
        (address, kind), (other_address, _) = self.reduction.place(url), self.reduction.place(other)
        group = self.reduction.group(kind)
        numbers = address.numbers
        if numbers and numbers == other_address.numbers:
            group.note_numbers(numbers)
        queries = dict(address.query), dict(other_address.query)
        for atom in found[len(path) :]:
            name = atom.name
            values = [each[name] for each in queries if name in each]
            group.show(name, values)
            if len(self._anywhere[name]) < FEW:
                self._anywhere[name].update(values)
            is_wide = atom.kind == "default" or len(group.values[name]) >= VALUES
            for each in (atom, Atom("drop", name)) if is_wide else (atom,):
                group.speak(each, content)
                if AFTER not in group.name:
                    self._pooled[each][group.name] = len(group.contents[each])

    # ---- what acts ---------------------------------------------------------------------------

    def _fit(self, group: AddressGroup) -> None:
        """Choose the atoms that act: those with enough for them, less what pages contradict."""
        if not group.dirty and group.grown < group.next:
            return
        group.next = int(group.grown * 1.2) + (1 if group.grown < FEW else 5)
        dirty, group.dirty = group.dirty, False
        trial = {atom for atom in self._candidates(group) if self._is_enough(group, atom)}
        if not (dirty or group.doubted) and group.is_fit(in_effect(trial)):
            return
        group.doubted = set()
        while trial and (bad := group.contradicted(trial, self._plain, self._against)):
            trial.discard(bad)
        if group.doubted:
            group.next = group.grown + RECHECK
        acts = in_effect(trial)
        if not group.is_fit(acts):
            for atom in sorted({*acts} ^ {*group.acts}):
                contents = len(group.contents.get(atom, ()))
                self.changes.append((group.name, atom, contents, atom in acts))
            group.act(acts)
            if group is self._whole:
                self._regroup()
            else:
                self._rekey(group.name)

    def _candidates(self, group: AddressGroup) -> set[Atom]:
        found = {*group.contents, *(atom for name, atom in self.earlier if name == group.name)}
        if group is not self._whole and AFTER not in group.name:
            there = {name for address in group.pages for name, _ in address.query}
            found |= {Atom("drop", name) for name in there}
        return found - group.out

    def _is_enough(self, group: AddressGroup, atom: Atom) -> bool:
        """Tell whether enough contents speak for an atom, with enough values."""
        own = len(group.contents.get(atom, ()))
        values = group.values.get(atom.name, set())
        if atom.kind == "value" or (atom.kind == "drop" and not atom.is_listed):
            there = values | self._anywhere[atom.name] if atom.kind == "drop" else values
            if len(there) < VALUES:
                return False
        earlier = self.earlier.get((group.name, atom), 0)
        if own >= (1 if atom.is_listed or earlier >= OWN else OWN):
            return True
        if atom.kind in OF_QUERY and AFTER not in group.name and self._is_pooled(atom, own):
            return True
        many = len(values) >= FEW and len(self.contents.of) > 10 * FEW
        return bool(own) and many and atom.kind in ("drop", "value")

    def _is_pooled(self, atom: Atom, own: int) -> bool:
        """Tell whether an atom is known well enough from other kinds of addresses of the host."""
        pooled = self._pooled.get(atom, Counter())
        total, kinds = pooled.total() + ALL * atom.is_listed, len(pooled) + atom.is_listed
        if total < ALL or (own < POOLED and (atom.kind != "drop" or kinds < 2)):
            return False
        groups = self.reduction.kinds.values()
        return 4 * sum(atom in each.out or atom in each.denied for each in groups) <= kinds

    def _plain(self, address: Address) -> str | None:
        return self.contents.of.get(self.known.get(address.digest, ""))

    # ---- what proves wrong -------------------------------------------------------------------

    def _failed(self, url: str, stand_in: str) -> None:
        """Fetch the last skips by the same atoms; if one fails again, the weakest atom goes."""
        if self.reduction.key(url) != self.reduction.key(stand_in):
            return  # what made them one acts no more
        atoms = {*self.reduction.reasons(url, stand_in)}
        group = self.reduction.group(self.reduction.place(url)[1])
        last = self.skips.recheck(url, atoms)
        self.back += last
        if last or not atoms:
            return

        def strength(atom: Atom) -> tuple[bool, int, Atom]:
            owner = group if atom in group.acts else self._whole
            return atom.is_listed, len(owner.contents.get(atom, ())), atom

        weakest = min(atoms, key=strength)
        if weakest.kind == "drop" and self.reduction.is_tracking(weakest.name):
            self.reduction.matters.add(weakest.name)
            self._regroup()
            return
        owner = group if weakest in group.acts else self._whole
        owner.out.add(weakest)
        owner.dirty = True
        self._pooled.pop(weakest, None)

    def _cut(self, group: AddressGroup, url: str, stand_in: str) -> bool:
        """Cut a kind at a number, if an atom held for many lower ones, and fails above them."""
        (path, _), (other, _) = self.reduction.place(url), self.reduction.place(stand_in)
        above = path.numbers == other.numbers and path.numbers > group.highest
        if not above or group.below < BELOW or not self.reduction.cut(group.name, group.highest):
            return False
        kind = self.reduction.kind(path)
        self.changes += [(kind, atom, 0, False) for atom in group.acts]
        return True

    def _regroup(self) -> None:
        """Sort the pages into kinds anew: other atoms of the path act, or kinds are told apart."""
        pages = [
            (self._whole.ready.apply(it), content) for it, content in self._whole.pages.items()
        ]
        self.reduction.regroup()
        for path, _ in pages:
            self._met(path)
        for path, content in pages:
            self.reduction.group(self.reduction.kind(path)).put(path, content)
        self._rekey()

    def _rekey(self, kind: str = "") -> None:
        """Give all pages, or those of a kind, the keys of now; take back what others skipped."""

        def is_meant(url: str) -> bool:
            if not kind or "?" not in url:
                return not kind
            path, its_kind = self.reduction.place(url)
            return its_kind == kind and bool(path.query)

        @cache
        def key_of(url: str) -> int:
            return self.reduction.key(url).digest

        both = dict.fromkeys((*self.contents.of, *self.known.values()))
        meant = dict.fromkeys(filter(is_meant, both))
        self.known = {key: url for key, url in self.known.items() if url not in meant}
        for url in meant:
            if url not in self._moved:
                self.known.setdefault(key_of(url), url)

        def is_other(url: str, stand_in: str) -> bool:
            key = key_of(url) if is_meant(url) else None
            return key is not None and (key != key_of(stand_in) or key in self._split)

        self.back += self.skips.take(is_other)

    # ---- what is known -----------------------------------------------------------------------

    def trust(self, kind: str, atom: Atom) -> None:
        """Let an atom act on addresses of a kind without a page that confirms it."""
        group = self.reduction.group(kind) if kind else self._whole
        group.act(in_effect({*group.acts, atom}))
        self._regroup()

    @property
    def _groups(self) -> tuple[AddressGroup, ...]:
        return self._whole, *self.reduction.kinds.values()

    def atoms(self) -> Iterator[tuple[str, Atom, int, bool]]:
        """Yield each atom with its kind of addresses, the contents for it, and whether it acts."""
        for group in self._groups:
            for atom, contents in group.contents.items():
                yield group.name, atom, len(contents), atom in group.acts

"""Learn which parts of addresses make no difference to the pages of one host.

Atoms are read off pairs of addresses with one content. They are tried together, since some come
only as a bundle. An atom is removed if it would make addresses of different contents one. The
others act once enough contents speak for them. The idea is that of Bar-Yossef, Keidar and Schonfeld
(Do not crawl in the DUST, 2007). Here, skips are also tested by fetching, and taken back.
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
    """Learns from the pages of one host, or of one domain, which parts of addresses do not matter.

    `stand_ins` maps a key to the address that stands for it. `back` lists skipped addresses that
    are to be fetched after all. `changes` lists atoms that start or stop acting: kind of addresses,
    atom, number of contents for it, whether it acts. The caller empties these two lists.
    """

    def __init__(self, tracking: frozenset[str] = TRACKING) -> None:
        self.stand_ins: dict[int, str] = {}
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
        stand_in = self.stand_ins.get(key)
        return None if stand_in == url or key in self._split else stand_in

    def forget(self, url: str) -> list[str]:
        """Stop using a page as a stand-in. Return the addresses that were skipped for it."""
        key = self.reduction.key(url).digest
        if self.stand_ins.get(key) == url:
            del self.stand_ins[key]
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
        """Note what the page of a fetched address shows. Return False if it failed a test.

        `same` is True if the page has the content of the address `kept`, False if its content is
        another, and None if that is unknown. With `nearly`, it may be another view of `kept`.
        Without `stands`, it is never a stand-in. `hashes` comes from `name_and_words`.
        """
        tested = self.skips.came(url)
        key = self.reduction.key(url).digest
        if not stands:
            self._moved.add(url)
        if same is None:
            if stands:
                self.stand_ins.setdefault(key, url)
            return True
        content = self.contents.add(url, kept, same=same, nearly=nearly, hashes=hashes)
        if old := self.contents.make_room():
            self._forget(old)
        group = self._add(url, content)
        if same and kept != url:
            self._speak(url, kept, content)
        self._speak_of_others(url, kept, content)
        failed = bool(tested) and (self._differs(tested, url) or self._is_strange(url, tested))
        # A site may have changed its addresses at a number: then the atoms still hold below it.
        others = [tested, self.stand_ins.get(key, url)]
        if any(self._cut(group, url, other) for other in others if self._differs(other, url)):
            self._regroup()
        elif failed:
            self._failed(url, tested)
        key = self.reduction.key(url).digest
        stand_in = self.stand_ins.get(key, url)
        if stands:
            self.stand_ins[key] = stand_in
        if self._differs(stand_in, url):
            # Two contents have one key: nothing is skipped by it until the atoms are chosen anew.
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
        # Without the parameter, the page is another one: so this value of it matters here.
        for atom, other in group.with_one_less(path):
            if atom not in group.denied and self._against(content, other, (atom,)):
                self._deny(group, atom)
        group.add(path, content)
        self._whole.add(self.reduction.address(url), content)
        return group

    def _deny(self, group: AddressGroup, atom: Atom) -> None:
        """Note that an atom matters in a kind of addresses. Fit the other kinds where it acts."""
        group.denied.add(atom)
        for kind in [*self._pooled.get(atom, ())]:
            if (other := self.reduction.kinds.get(kind)) is not None and atom in other.acts:
                other.dirty = True
                self._fit(other)

    def _met(self, path: Address) -> bool:
        """Count the words of a path. Return whether that merged kinds of addresses."""
        merged = self.reduction.met(path)
        for kind, group in merged:
            for atom, contents in group.contents.items():
                if self._pooled[atom].pop(kind, 0):
                    self._pooled[atom][group.name] = len(contents)
        return bool(merged)

    def _forget(self, old: set[str]) -> None:
        self._moved -= old
        self.stand_ins = {key: url for key, url in self.stand_ins.items() if url not in old}
        self._more = {key: more for key, more in self._more.items() if key not in old}
        self.skips.make_room()

    def _differs(self, other: str, url: str) -> bool:
        one, two = self.contents.of.get(other), self.contents.of[url]
        if one is None or one == two:
            return False
        return bool(self._against(one, two, self.reduction.reasons(url, other) or (Atom("value"),)))

    def _against(self, one: str, other: str, atoms: Collection[Atom]) -> list[Atom]:
        """Return the atoms that two contents contradict: they would make both one, and are wrong.

        Nearly the same content may be another view of a page, with a few words more or less. It
        does not contradict atoms that select a view.
        """
        if not self.contents.are_two(one, other):
            return []
        nearly = self.contents.nearly(one, other)
        return [atom for atom in atoms if not (nearly and self._is_view(atom, one, other))]

    def _is_view(self, atom: Atom, one: str, other: str) -> bool:
        """Tell whether an atom selects a view: it is listed, or no other kind needs its values."""
        if self.reduction.is_listed(atom):
            return True
        pairs = {*self.reduction.address(one).query, *self.reduction.address(other).query}
        defaults = [Atom("default", *pair) for pair in pairs if pair[0] == atom.name]
        return bool(defaults) and all(
            len(self._pooled.get(each, ())) > 1 and self._is_pooled(each, POOLED)
            for each in defaults
        )

    def _is_strange(self, url: str, tested: str) -> bool:
        """Count a test. Return whether too many tests of its atoms brought unclear pages."""
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
        """Count one content for each atom by which two addresses of this content differ."""
        atoms = between(self.reduction.address(url), self.reduction.address(other))
        if not atoms:
            return
        of_path = [atom for atom in atoms if atom.kind not in OF_QUERY]
        for atom in of_path:
            self._whole.speak(atom, content)
        # Only addresses whose paths are one can show that their queries do not matter.
        if len(of_path) == len(atoms) or any(atom not in self._whole.acts for atom in of_path):
            return
        (address, kind), (other_address, _) = self.reduction.place(url), self.reduction.place(other)
        group = self.reduction.group(kind)
        numbers = address.numbers
        if numbers and numbers == other_address.numbers:
            group.note_numbers(numbers)
        queries = dict(address.query), dict(other_address.query)
        for atom in atoms[len(of_path) :]:
            name = atom.name
            values = [query[name] for query in queries if name in query]
            group.show(name, values)
            if len(self._anywhere[name]) < FEW:
                self._anywhere[name].update(values)
            is_wide = atom.kind == "default" or len(group.values[name]) >= VALUES
            for spoken_for in (atom, Atom("drop", name)) if is_wide else (atom,):
                group.speak(spoken_for, content)
                if AFTER not in group.name:
                    self._pooled[spoken_for][group.name] = len(group.contents[spoken_for])

    # ---- what acts ---------------------------------------------------------------------------

    def _fit(self, group: AddressGroup) -> None:
        """Choose the atoms that act: those with enough contents that no page contradicts."""
        if not group.dirty and group.grown < group.next:
            return
        # Choosing compares all pages of the group, so it comes less often as the group grows.
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
        atoms = {*group.contents, *(atom for name, atom in self.earlier if name == group.name)}
        if group is not self._whole and AFTER not in group.name:
            names = {name for address in group.pages for name, _ in address.query}
            atoms |= {Atom("drop", name) for name in names}
        return atoms - group.out

    def _is_enough(self, group: AddressGroup, atom: Atom) -> bool:
        """Tell whether enough contents speak for an atom, with enough values."""
        contents = len(group.contents.get(atom, ()))
        values = group.values.get(atom.name, set())
        if atom.kind == "value" or (atom.kind == "drop" and not atom.is_listed):
            anywhere = self._anywhere[atom.name] if atom.kind == "drop" else set()
            if len(values | anywhere) < VALUES:
                return False
        # One content is enough for an atom that acted in an earlier crawl, or seldom matters.
        earlier = self.earlier.get((group.name, atom), 0)
        if contents >= (1 if atom.is_listed or earlier >= OWN else OWN):
            return True
        if atom.kind in OF_QUERY and AFTER not in group.name and self._is_pooled(atom, contents):
            return True
        # With this many values, one content is enough: all may lead to one form to log in.
        many = len(values) >= FEW and len(self.contents.of) > 10 * FEW
        return bool(contents) and many and atom.kind in ("drop", "value")

    def _is_pooled(self, atom: Atom, contents: int) -> bool:
        """Tell whether other kinds of addresses of the host have enough contents for an atom.

        `contents` is the number of those that speak for it in the kind itself.
        """
        pooled = self._pooled.get(atom, Counter())
        total, kinds = pooled.total() + ALL * atom.is_listed, len(pooled) + atom.is_listed
        if total < ALL or (contents < POOLED and (atom.kind != "drop" or kinds < 2)):
            return False
        groups = self.reduction.kinds.values()
        return 4 * sum(atom in group.out or atom in group.denied for group in groups) <= kinds

    def _plain(self, address: Address) -> str | None:
        return self.contents.of.get(self.stand_ins.get(address.digest, ""))

    # ---- what proves wrong -------------------------------------------------------------------

    def _failed(self, url: str, stand_in: str) -> None:
        """Fetch the last skips by the same atoms. If one fails again, remove the weakest atom."""
        if self.reduction.key(url) != self.reduction.key(stand_in):
            return  # the atoms that made them one have stopped acting
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
        """Cut a kind at a number if an atom holds for many lower numbers, and fails above them."""
        (path, _), (other, _) = self.reduction.place(url), self.reduction.place(stand_in)
        above = path.numbers == other.numbers and path.numbers > group.highest
        if not above or group.below < BELOW or not self.reduction.cut(group.name, group.highest):
            return False
        kind = self.reduction.kind(path)
        self.changes += [(kind, atom, 0, False) for atom in group.acts]
        return True

    def _regroup(self) -> None:
        """Sort the pages into kinds anew, after other atoms of the path act or a kind was cut."""
        apply, unreduced = self._whole.ready.apply, self._whole.pages
        pages = [(apply(address), content) for address, content in unreduced.items()]
        self.reduction.regroup()
        for path, _ in pages:
            self._met(path)
        for path, content in pages:
            self.reduction.group(self.reduction.kind(path)).put(path, content)
        self._rekey()

    def _rekey(self, kind: str = "") -> None:
        """Give the pages (of a kind) their new keys. Take back skips whose stand-in has another."""

        def is_meant(url: str) -> bool:
            if not kind or "?" not in url:
                return not kind
            path, kind_of_url = self.reduction.place(url)
            return kind_of_url == kind and bool(path.query)

        @cache
        def key_of(url: str) -> int:
            return self.reduction.key(url).digest

        # dict.fromkeys keeps the order: the address that came first stands for the others.
        urls = dict.fromkeys((*self.contents.of, *self.stand_ins.values()))
        meant = dict.fromkeys(filter(is_meant, urls))
        self.stand_ins = {key: url for key, url in self.stand_ins.items() if url not in meant}
        for url in meant:
            if url not in self._moved:
                self.stand_ins.setdefault(key_of(url), url)

        def is_other(url: str, stand_in: str) -> bool:
            key = key_of(url) if is_meant(url) else None
            return key is not None and (key != key_of(stand_in) or key in self._split)

        self.back += self.skips.take(is_other)

    # ---- what is known -----------------------------------------------------------------------

    def trust(self, kind: str, atom: Atom) -> None:
        """Let an atom act on a kind of addresses at once, before a page confirms it."""
        group = self.reduction.group(kind) if kind else self._whole
        group.act(in_effect({*group.acts, atom}))
        self._regroup()

    def atoms(self) -> Iterator[tuple[str, Atom, int, bool]]:
        """Yield (kind of addresses, atom, number of contents for it, whether it acts)."""
        for group in (self._whole, *self.reduction.kinds.values()):
            for atom, contents in group.contents.items():
                yield group.name, atom, len(contents), atom in group.acts

"""What the pages of one host have shown not to matter in their addresses.

Atoms are read off pairs of addresses with one content, and tried together: some come only as a
bundle. Those go by which addresses of different contents would be one. What is left acts, if enough
contents speak for it. The idea is that of Bar-Yossef, Keidar and Schonfeld (Do not crawl in the
DUST, 2007); what differs is that a skip is tested by fetching, and taken back.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from simhash_gate.identity.address import ANY, DEEPEST, SIGNS, address_of, mask
from simhash_gate.identity.atoms import OF_QUERY, Atom, between, in_effect
from simhash_gate.identity.group import FEW, OWN, VALUES, Group
from simhash_gate.identity.likeness import are_alike, are_unlike
from simhash_gate.identity.lists import TRACKING, is_one_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from simhash_gate.identity.address import Address

POOLED = 2
"""Contents that speak for an atom before it acts where `ALL` do on other kinds of URLs."""
ALL = 2 * OWN
FIRSTS, EVERY = 3, 25
"""So many of the first skips by an atom are fetched to test it, and one in so many later ones."""
STRANGE = 3
"""So many tests, and more than a third, that bring what nobody can tell of are a failure."""
RECHECK = 5
"""So many of the last skips are fetched when a test fails."""
MANY = 30
"""After so many words at one place of a path, those that come seldom are names there: less than
four times, or than in one of as many."""
BELOW = 19
"""A kind is cut at a number if an atom held for so many lower ones, as by chance in 1 of 20."""
MOST_KNOWN = 100_000
"""Addresses of a host that may stand for others; those met longest ago go first."""
_AFTER = " after "


class Answer(NamedTuple):
    """The address of the page that need not be fetched again, and by which atoms it is that.

    If it is a `test`, it is fetched all the same.
    """

    stand_in: str
    atoms: tuple[Atom, ...]
    test: bool


class Host:
    """What the pages of one host, or of one domain, have shown.

    `known` has the address that stands for each key, `contents` what each page turned out to be:
    the address by which its content came first. `back` are addresses that were skipped, and are to
    be fetched after all; `changes` are atoms that act from now on, or no longer, with their kind of
    addresses and the contents for them. Who reads these two empties them.
    """

    def __init__(self, tracking: frozenset[str] = TRACKING) -> None:
        self.whole = Group("")
        self.contents: dict[str, str] = {}
        self.known: dict[int, str] = {}
        self.back: list[str] = []
        self.changes: list[tuple[str, Atom, int, bool]] = []
        self.earlier: dict[tuple[str, Atom], int] = {}
        self.forbidden: set[Atom] = set()
        self._tracking = tracking
        self._matters: set[str] = set()
        self._kinds: dict[str, Group] = {}
        self._cuts: dict[str, tuple[int, ...]] = {}
        self._words: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._often: dict[str, frozenset[str]] = {}
        self._more: dict[str, list[str]] = {}
        self._split: set[int] = set()
        self._pooled: defaultdict[Atom, Counter[str]] = defaultdict(Counter)
        self._anywhere: defaultdict[str, set[str]] = defaultdict(set)
        self._tests: Counter[tuple[str, Atom]] = Counter()
        self._testing: dict[str, str] = {}
        self._skipped: dict[str, str] = {}
        self._tested = 0
        self._moved: dict[str, None] = {}
        self._said: dict[str, bytes] = {}
        self._apart: dict[tuple[str, str], bool] = {}
        self._results: Counter[tuple[Atom, bool]] = Counter()
        self._recheck: set[str] = set()

    # ---- keys --------------------------------------------------------------------------------

    def address(self, url: str) -> Address:
        """Return an address without what only tells of visitors."""
        address = address_of(url)
        if not address.query:
            return address
        query = tuple(pair for pair in address.query if not self._is_tracking(pair[0]))
        return address if query == address.query else address._replace(query=query)

    def _is_listed(self, atom: Atom) -> bool:
        return atom.is_listed or (atom.kind == "drop" and self._is_tracking(atom.name))

    def _is_tracking(self, name: str) -> bool:
        return is_one_of(self._tracking, name) and name not in self._matters

    def key(self, url: str) -> Address:
        """Return what all addresses of a page have in common, as far as is known."""
        return self.reduced(self.address(url))

    def reduced(self, address: Address) -> Address:
        """Return what an address has in common with all others of its page."""
        address = self.whole.ready.apply(address)
        if address.query and (group := self._kinds.get(self._kind(address))) is not None:
            address = group.ready.apply(address)
        return address

    def _masked(self, address: Address) -> str:
        """Return the kind of an address. Where many words were met, those that come seldom are
        names, too."""
        if not self._often:
            return address.kind
        kind = address.host
        for part in address.path[:DEEPEST]:
            kind += f"/{self._word(kind, mask(part))}"
        return kind if address.path else f"{kind}/"

    def _word(self, before: str, word: str) -> str:
        often = self._often.get(before)
        return word if often is None or word in often or word in SIGNS else ANY

    def _count_words(self, address: Address) -> bool:
        """Count the words of a path; tell whether the words at one place are names from now on."""
        before, many = address.host, ""
        for word in map(mask, address.path[:DEEPEST]):
            if before not in self._often and word not in SIGNS:
                self._words[before][word] += 1
                many = many or (before if len(self._words[before]) >= MANY else "")
            before += f"/{self._word(before, word)}"
        if many:
            words = self._words.pop(many)
            least = max(4, words.total() / MANY)
            self._often[many] = frozenset(word for word in words if words[word] >= least)
            self._merge(many)
        return bool(many)

    def _merge(self, before: str) -> None:
        """Let kinds that differ by a name be one, with all that speaks for their atoms."""
        for kind in [kind for kind in self._kinds if kind.startswith(f"{before}/")]:
            word, *rest = kind[len(before) + 1 :].split("/", 1)
            if self._word(before, word) == word or _AFTER in kind:
                continue
            its, group = self._kinds.pop(kind), self._group_of("/".join((before, ANY, *rest)))
            for atom, contents in its.contents.items():
                group.contents[atom] |= contents
                if self._pooled[atom].pop(kind, 0):
                    self._pooled[atom][group.name] = len(group.contents[atom])
            for name, values in its.values.items():
                group.values[name] |= values
            group.dirty = True

    def _kind(self, address: Address) -> str:
        kind = self._masked(address)
        cut = self._cuts.get(kind)
        if cut is not None and address.numbers > cut:
            kind += _AFTER + "/".join(map(str, cut))
        return kind

    def _group(self, address: Address) -> Group:
        return self._group_of(self._kind(address))

    def _group_of(self, kind: str) -> Group:
        return self._kinds.get(kind) or self._kinds.setdefault(kind, Group(kind))

    def reasons(self, url: str, other: str) -> tuple[Atom, ...]:
        """Return the atoms by which two addresses are one, or would be if they were not."""
        one, two = self.address(url), self.address(other)
        mine, theirs = dict(address_of(url).query), dict(address_of(other).query)
        listed = [
            Atom("drop", name)
            for name in sorted({*mine} | {*theirs})
            if mine.get(name) != theirs.get(name) and self._is_tracking(name)
        ]
        path = self.whole.ready
        found = [*listed, *path.between(one, two)]
        one, two = path.apply(one), path.apply(two)
        group = self._kinds.get(self._kind(one))
        if group is not None and one.query != two.query:
            found += group.ready.between(one, two)
        return tuple(found)

    # ---- requests ----------------------------------------------------------------------------

    def stand_in(self, url: str) -> str | None:
        """Return the address of a fetched page that has the key of this one, if there is one."""
        key = self.key(url).digest
        found = self.known.get(key)
        return None if found == url or key in self._split else found

    def ask(self, url: str, stand_in: str, *, skip: bool = True) -> Answer:
        """Return what is to be done with an address for which another one stands.

        Without `skip` every one is a test.
        """
        atoms = self.reasons(url, stand_in)
        path = self._reduced_path(url)
        group = self._kinds.get(self._kind(path))
        # What a site writes in place of a name, it does so in all its parts.
        alike = {atom._replace(name="") if atom.kind == "place" else atom for atom in atoms}
        count = min((self._tests["", atom] for atom in alike), default=0)
        # Where few contents speak for an atom it is tested under each word, else in each part.
        places = {
            (place, atom)
            for atom in atoms
            if not (atom.is_listed and atom in self.whole.acts)
            for place in (path.kind.rpartition("/")[0], path.kind)
            if place != path.kind or group is None or len(group.contents.get(atom, ())) < FEW
        }
        strange = not all(self._tests[each] for each in places)
        self._tests.update((*places, *(("", atom) for atom in alike)))
        first = count < FIRSTS or strange or not self.whole.doubted.isdisjoint(atoms)
        if atoms and (not skip or first or (count & (count - 1)) == 0 or count % EVERY == 0):
            self._testing[url] = stand_in
            return Answer(stand_in, atoms, test=True)
        self._skipped[url] = stand_in
        return Answer(stand_in, atoms, test=False)

    def _reduced_path(self, url: str) -> Address:
        return self.whole.ready.apply(self.address(url))

    def test(self, count: int) -> list[str]:
        """Return addresses, spread evenly, that were skipped since, to be fetched as tests.

        While atoms are doubted, they are of those that were skipped by these, and more.
        """
        doubts, skipped = self.whole.doubted, self._skipped
        urls = [u for u, its in skipped.items() if doubts and doubts & {*self.reasons(u, its)}]
        if urls:
            count = EVERY
        elif len(skipped) > self._tested:
            urls = [*skipped]
        count = min(count, len(urls))
        taken = [urls[(n + 1) * len(urls) // count - 1] for n in range(count)]
        for url in taken:
            self._testing[url] = skipped.pop(url)
        self._tested = len(skipped)
        return taken

    def forget(self, url: str) -> list[str]:
        """Let a page stand for nothing any more; return what was skipped for it."""
        key = self.key(url).digest
        if self.known.get(key) == url:
            del self.known[key]
        self.contents.pop(url, None)
        return self._taken(lambda _, its: its == url)

    def _taken(self, is_meant: Callable[[str, str], bool]) -> list[str]:
        """Return those addresses that were skipped for others that are meant, and skip no more."""
        found = [url for url, its in self._skipped.items() if is_meant(url, its)]
        for url in found:
            del self._skipped[url]
        return found

    # ---- pages -------------------------------------------------------------------------------

    def saw(
        self,
        url: str,
        kept: str = "",
        same: bool | None = None,
        nearly: bool = False,
        *,
        stands: bool = True,
        said: bytes = b"",
    ) -> bool:
        """Take notice of a page that was fetched. Return False if it failed a test.

        It is the `same` as that of `kept`, another one than that and than all that it is unlike, or
        None: nobody knows. Where it is `nearly` the same, it may be another view of that. If it
        does not stand for others, it still tells what it is. `said` is what `name_and_words`
        returns of it.
        """
        address = self.address(url)
        key = self.reduced(address).digest
        if not stands:
            self._moved[url] = None
        if same is None:
            if stands:
                self.known.setdefault(key, url)
            self._testing.pop(url, None)
            return True
        content = self.contents.get(kept, kept) if same else url
        self._said.setdefault(content, said)
        if kept and not same:
            self._apart[content, self.contents.get(kept, kept)] = nearly
        self.contents[url] = content
        if len(self.contents) > MOST_KNOWN:
            self._make_room()
        group, reduced = self._add(address, content)
        if same and kept != url:
            self._speak(address, kept, content)
        self._speak_of_others(url, address, kept, content)
        tested = self._testing.pop(url, "")
        failed = bool(tested) and (self._differs(tested, url) or self._strange(url, tested))
        others = [tested, self.known.get(key, url)]
        if any(self._cut(group, reduced, each) for each in others if self._differs(each, url)):
            self._regroup()
        elif failed:
            self._failed(url, tested)
        key = self.key(url).digest
        stand_in = self.known.setdefault(key, url) if stands else self.known.get(key, url)
        if self._differs(stand_in, url):
            self._split.add(key)
            group.dirty = True
            self.whole.dirty = self.whole.dirty or bool(self.whole.acts)
            self.back += self._taken(lambda other, _: self.key(other).digest == key)
        self._fit(group)
        self._fit(self.whole)
        return not failed

    def _add(self, address: Address, content: str) -> tuple[Group, Address]:
        """Note a page; return its kind, and its address less what acts on the path."""
        reduced = self.whole.ready.apply(address)
        if self._count_words(reduced):
            self._regroup()
        group = self._group(reduced)
        group.add(reduced, content)
        self.whole.add(address, content)
        return group, reduced

    def _make_room(self) -> None:
        old = {*islice(self.contents, MOST_KNOWN // 10)}
        for url in old:
            del self.contents[url]
            self._moved.pop(url, None)
            self._said.pop(url, None)
        self.known = {its: url for its, url in self.known.items() if url not in old}
        self._more = {key: more for key, more in self._more.items() if key not in old}
        self._apart = {pair: its for pair, its in self._apart.items() if old.isdisjoint(pair)}
        self._tests = Counter({its: tests for its, tests in self._tests.items() if not its[0]})

    def _differs(self, other: str, url: str) -> bool:
        """Tell whether the pages of two addresses are clearly of different contents."""
        one, two = self.contents.get(other), self.contents[url]
        if one is None or one == two:
            return False
        return bool(self._against(one, two, self.reasons(url, other) or (Atom("value"),)))

    def _against(self, one: str, other: str, atoms: Collection[Atom]) -> list[Atom]:
        """Return those of the atoms that make two contents one that these contradict.

        In another view, a page may say some words more or less: by an atom that seldom matters
        anywhere, or by values that make no difference in other parts of the site.
        """
        nearly = self._apart.get((one, other), self._apart.get((other, one)))
        said = (self._said.get(each, b"") for each in (one, other))
        if one == other or (nearly is None and not are_unlike(*said)):
            return []
        return [atom for atom in atoms if not (nearly and self._is_view(atom, one, other))]

    def _is_view(self, atom: Atom, one: str, other: str) -> bool:
        """Tell whether an atom seldom matters, or its values in two URLs do not on other pages."""
        pairs = {*self.address(one).query, *self.address(other).query}
        said = [Atom("default", *pair) for pair in pairs if pair[0] == atom.name]
        known = (len(self._pooled.get(a, ())) > 1 and self._is_pooled(a, POOLED) for a in said)
        return self._is_listed(atom) or (bool(said) and all(known))

    def _strange(self, url: str, tested: str) -> bool:
        """Count a test; tell whether too many of its atoms brought what nobody can tell of."""
        one, other = self.contents.get(tested, self.contents[url]), self.contents[url]
        said = self._said.get(one, b""), self._said.get(other, b"")
        strange = one != other and not are_alike(*said)
        failed = False
        for atom in self.reasons(url, tested):
            self._results[atom, strange] += 1
            wrong, right = (self._results[atom, known] for known in (True, False))
            failed = failed or (wrong >= STRANGE and 2 * wrong > right)
        return strange and failed

    def _speak_of_others(self, url: str, address: Address, kept: str, content: str) -> None:
        others = self._more.get(content)
        if others is None:
            if content != url:
                self._more[content] = [url]
                if content != kept:
                    self._speak(address, content, content)
            return
        key = self.reduced(address)
        for other in (content, *others)[:4]:
            if other not in (kept, url) and self.key(other) != key:
                self._speak(address, other, content)
        if len(others) < 4:
            others.append(url)

    def _speak(self, address: Address, other: str, content: str) -> None:
        """Let two addresses of one content speak for what they differ by."""
        its = self.address(other)
        found = between(address, its)
        if not found:
            return
        path = [atom for atom in found if atom.kind not in OF_QUERY]
        for atom in path:
            self.whole.speak(atom, content)
        if len(path) == len(found) or any(atom not in self.whole.acts for atom in path):
            return
        address, its = (self.whole.ready.apply(each) for each in (address, its))
        group = self._group(address)
        numbers = address.numbers
        if numbers and numbers == its.numbers:
            group.note_numbers(numbers)
        queries = dict(address.query), dict(its.query)
        for atom in found[len(path) :]:
            name = atom.name
            values = [each[name] for each in queries if name in each]
            group.show(name, values)
            if len(self._anywhere[name]) < FEW:
                self._anywhere[name].update(values)
            is_wide = atom.kind == "default" or len(group.values[name]) >= VALUES
            for each in (atom, Atom("drop", name)) if is_wide else (atom,):
                group.speak(each, content)
                if _AFTER not in group.name:
                    self._pooled[each][group.name] = len(group.contents[each])

    # ---- what acts ---------------------------------------------------------------------------

    def _fit(self, group: Group) -> None:
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
            if group is self.whole:
                self._regroup()
            else:
                self._rekey(group.name)

    def _candidates(self, group: Group) -> set[Atom]:
        found = {*group.contents, *(atom for name, atom in self.earlier if name == group.name)}
        if group is not self.whole and _AFTER not in group.name:
            there = {name for address, _ in group.pages for name, _ in address.query}
            found |= {Atom("drop", name) for name in there}
        return found - group.out - self.forbidden

    def _is_enough(self, group: Group, atom: Atom) -> bool:
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
        if atom.kind in OF_QUERY and _AFTER not in group.name and self._is_pooled(atom, own):
            return True
        many = len(values) >= FEW and len(self.contents) > 10 * FEW
        return bool(own) and many and atom.kind in ("drop", "value")

    def _is_pooled(self, atom: Atom, own: int) -> bool:
        """Tell whether an atom is known well enough from other kinds of addresses of the host."""
        pooled = self._pooled.get(atom, Counter())
        total, kinds = pooled.total() + ALL * atom.is_listed, len(pooled) + atom.is_listed
        if total < ALL or (own < POOLED and (atom.kind != "drop" or kinds < 2)):
            return False
        return 4 * sum(atom in each.out for each in self._kinds.values()) <= kinds

    def _plain(self, address: Address) -> str | None:
        return self.contents.get(self.known.get(address.digest, ""))

    # ---- what proves wrong -------------------------------------------------------------------

    def _failed(self, url: str, stand_in: str) -> None:
        """Fetch the last skips by the same atoms; if one fails again, the weakest atom goes."""
        if self.key(url) != self.key(stand_in):
            return  # what made them one acts no more
        atoms = {*self.reasons(url, stand_in)}
        group = self._group(self._reduced_path(url))
        if url not in self._recheck:
            same = (
                u for u, its in reversed(self._skipped.items()) if atoms & {*self.reasons(u, its)}
            )
            last = [*islice(same, RECHECK)]
            for other in last:
                self._testing[other] = self._skipped.pop(other)
                self._recheck.add(other)
            self.back += last
            if last:
                return
        if not atoms:
            return

        def strength(atom: Atom) -> tuple[bool, int, Atom]:
            owner = group if atom in group.acts else self.whole
            return atom.is_listed, len(owner.contents.get(atom, ())), atom

        weakest = min(atoms, key=strength)
        if weakest.kind == "drop" and self._is_tracking(weakest.name):
            self._matters.add(weakest.name)
            self._regroup()
            return
        owner = group if weakest in group.acts else self.whole
        owner.out.add(weakest)
        owner.dirty = True
        self._pooled.pop(weakest, None)

    def _cut(self, group: Group, address: Address, stand_in: str) -> bool:
        """Cut a kind at a number, if an atom held for many lower ones, and fails above them."""
        numbers = address.numbers
        other = self.whole.ready.apply(self.address(stand_in))
        if (
            not numbers
            or other.numbers != numbers
            or group.below < BELOW
            or numbers <= group.highest
            or group.name in self._cuts
            or _AFTER in group.name
        ):
            return False
        self._cuts[group.name] = group.highest
        self.changes += [(self._kind(address), atom, 0, False) for atom in group.acts]
        return True

    def _regroup(self) -> None:
        """Sort the pages into kinds anew: other atoms of the path act, or kinds are told apart."""
        pages = [(self.whole.ready.apply(address), its) for address, its in self.whole.pages]
        self._words.clear()
        for address, _ in pages:
            self._count_words(address)
        for group in self._kinds.values():
            group.pages.clear()
        for address, content in pages:
            self._group(address).pages.append((address, content))
        self._rekey()

    def _rekey(self, kind: str = "") -> None:
        """Give all pages, or those of a kind, the keys of now; take back what others skipped."""

        @cache
        def of(url: str) -> tuple[bool, int]:
            path = self._reduced_path(url)
            group = self._kinds.get(self._kind(path)) if path.query else None
            is_meant = not kind or (group is not None and group.name == kind)
            return is_meant, (group.ready.apply(path) if group else path).digest

        both = dict.fromkeys((*self.contents, *self.known.values()))
        urls = [url for url in both if (not kind or "?" in url) and of(url)[0]]
        old = {*urls}
        self.known = {key: url for key, url in self.known.items() if url not in old}
        for url in (url for url in urls if url not in self._moved):
            self.known.setdefault(of(url)[1], url)

        def is_other(url: str, stand_in: str) -> bool:
            is_meant, key = of(url)
            return is_meant and (key != of(stand_in)[1] or key in self._split)

        self.back += self._taken(is_other)

    # ---- what is known -----------------------------------------------------------------------

    def forbid(self, atom: Atom) -> None:
        """Let an atom never act; a name that tracks visitors elsewhere says something here."""
        self.forbidden.add(atom)
        if atom.kind == "drop":
            self._matters.add(atom.name)
        for group in (self.whole, *self._kinds.values()):
            if atom in group.acts:
                group.dirty = True
                self._fit(group)
        self._rekey()

    def trust(self, kind: str, atom: Atom) -> None:
        """Let an atom act on addresses of a kind without a page that confirms it."""
        group = self._group_of(kind) if kind else self.whole
        group.act(in_effect({*group.acts, atom}))

    @property
    def active(self) -> int:
        """How many atoms act."""
        return sum(len(group.acts) for group in (self.whole, *self._kinds.values()))

    def told(self) -> Iterator[tuple[str, Atom, int, bool]]:
        """Yield each atom with its kind of addresses, the contents for it, and whether it acts."""
        for group in (self.whole, *self._kinds.values()):
            for atom, contents in group.contents.items():
                yield group.name, atom, len(contents), atom in group.acts

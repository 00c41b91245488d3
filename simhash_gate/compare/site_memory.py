"""What a site repeats: the sentences that its pages of different names share.

A sentence on pages of several names belongs to the template; few pages suffice to learn it (Vieira
et al., A fast and robust method for web page template detection and removal, CIKM 2006; Geraci and
Maggini, A fast method for web template extraction via a multi-sequence alignment approach, 2011:
16 pages). It is used in verdicts only: a fingerprint depends on nothing that was crawled before.
"""

from __future__ import annotations

import struct
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from itertools import compress

from simhash_gate.compare.sketch import Sketch, hash_of
from simhash_gate.fingerprints.lines import Kind, Lines
from simhash_gate.stores.base import SITE_MEMORY, Blob
from simhash_gate.stores.store import Store

OTHERS = 3
"""So many other pages with names of their own make a sentence the site's."""
MOST_SENTENCES = 8_192
"""Of one scope, about 120 bytes each."""
MOST_LINES = 1_000
"""Lines of one page that it takes in."""
MOST_IN_ALL = 500_000
"""Sentences at hand, 60 MB: those of other scopes are in the store."""
PAGES_BETWEEN = 64
"""So many pages of a scope are learned before the store is told."""

_NAMED = "\n"  # before it stands a name: no sentence has it
_NAME_BITS = 32
_NAME = (1 << _NAME_BITS) - 1
_ENTRY = struct.Struct(">I16s")
_EMPTY = 100  # sentences that take as much as a scope without any
_KEPT = 0.75  # of the sentences, when there is no room for another


class SiteMemory:
    """The sentences of one scope, and the names of up to four pages that have each.

    `learned` counts the pages since the store was told. Where there is no room, the sentences that
    were met longest ago go: first those of one page, then those that the site repeats. It begins
    with what others of the same scope have `encoded`.
    """

    def __init__(self, *encoded: bytes) -> None:
        self._names: dict[int, int] = {}  # by the hash of a sentence: four names of 32 bits
        self.learned = 0
        for data in encoded:
            self.merge(data)

    def __len__(self) -> int:
        return len(self._names)

    def learn(self, name: int, lines: Lines) -> None:
        """Take in a page by its `name_key`, and its lines."""
        self.learned += 1
        said = lines.said()
        for sentence in said.keys[:MOST_LINES].tolist():
            self._add(sentence, name)
        for form in {*said.forms[said.are(Kind.SENTENCE)][:MOST_LINES].tolist()} - {0}:
            self._add(hash_of([f"form {form}", _NAMED]), name)
        self._forget()

    def learn_names(self, names: Collection[str]) -> None:
        """Take in the names of a page: of these, the site's parts have other names beside them."""
        own = hash_of(sorted(names))
        for name in names:
            self._add(hash_of([name, _NAMED]), own)

    def learn_moves(self, name: int, places: Iterable[int]) -> None:
        """Take in where a page became another between two visits, though it said the same."""
        for place in places:
            self._add(hash_of([str(place), _NAMED]), name)

    def moves(self, name: int, place: int) -> bool:
        """Tell if three pages of other names have moved by themselves at a place."""
        return self.is_repeated(name, hash_of([str(place), _NAMED]))

    def own_names(self, sketch: Sketch) -> Sketch:
        """Return a page without those of its names that three pages have beside other names.

        It may be one of these, so that a name is the site's on both pages that are compared.
        """
        names = (sketch.headline, sketch.heading, *sketch.names)
        own = ["" if self.is_repeated(0, hash_of([it, _NAMED])) else it for it in names]
        headline, heading, *others = own
        return replace(sketch, headline=headline, heading=heading, names=tuple(others))

    def is_repeated(self, name: int, sentence: int) -> bool:
        """Tell if three pages of other names have a sentence."""
        return sum(other != name for other in _each(self._names.get(sentence, 0))) >= OTHERS

    def is_usual(self, name: int, form: int) -> bool:
        """Tell if three pages of other names have a sentence that differs in its numbers alone."""
        return form > 0 and self.is_repeated(name, hash_of([f"form {form}", _NAMED]))

    def share(self, name: int, lines: Lines) -> float:
        """Return the share of a page's words, 0 to 1, that the site repeats on other pages."""
        said = lines.said()
        sizes: list[int] = said.sizes.tolist()
        repeated = [self.is_repeated(name, key) for key in said.keys.tolist()]
        return sum(compress(sizes, repeated)) / (sum(sizes) or 1)

    def encode(self) -> bytes:
        """Return what more than one page has, as bytes: 20 for each sentence."""
        known = ((sentence, names) for sentence, names in self._names.items() if names > _NAME)
        return b"".join(_ENTRY.pack(number, names.to_bytes(16, "big")) for number, names in known)

    def merge(self, data: bytes) -> None:
        """Take in what another memory of this scope has encoded."""
        for sentence, names in _ENTRY.iter_unpack(data[: len(data) // _ENTRY.size * _ENTRY.size]):
            for name in _each(int.from_bytes(names, "big")):
                self._add(sentence, name)
        self._forget()

    def _add(self, sentence: int, name: int) -> None:
        """Note that a page of a name has a sentence; four names are enough."""
        names = self._names.get(sentence, 0)
        if name not in _each(names) and not names >> _NAME_BITS * OTHERS:
            self._names[sentence] = names << _NAME_BITS | name

    def _forget(self) -> None:
        if len(self._names) > MOST_SENTENCES:
            order = sorted(self._names, key=lambda sentence: self._names[sentence] > _NAME)
            for sentence in order[: len(order) - int(_KEPT * MOST_SENTENCES)]:
                del self._names[sentence]


class SiteMemories:
    """The memories of the scopes that were met last; a store keeps them for other crawls.

    It is asked when a scope is met, and told after every `PAGES_BETWEEN` pages of one. Each time
    the memories of several crawls become one: what two learn at the same moment may be lost.
    """

    def __init__(self, store: Store, most: int = MOST_IN_ALL) -> None:
        self._store = store
        self._most = most
        self._of: OrderedDict[str, SiteMemory] = OrderedDict()

    def of(self, scope: str) -> SiteMemory:
        """Return the memory of a scope. Raises `StoreError`."""
        memory = self._of.get(scope)
        if memory is None:
            memory = SiteMemory(self._store.get(SITE_MEMORY, scope))
            self._of[scope] = memory
            self._make_room()
        else:
            self._of.move_to_end(scope)
            if memory.learned >= PAGES_BETWEEN:
                self._keep(scope, memory)
                self._make_room()
        return memory

    def keep(self) -> None:
        """Let the store keep what was learned. Raises `StoreError`."""
        for scope, memory in self._of.items():
            if memory.learned:
                self._keep(scope, memory)

    def _make_room(self) -> None:
        taken = sum(map(len, self._of.values())) + _EMPTY * len(self._of)
        while taken > self._most and len(self._of) > 1:
            scope, memory = self._of.popitem(last=False)
            taken -= len(memory) + _EMPTY
            if memory.learned:
                self._keep(scope, memory)

    def _keep(self, scope: str, memory: SiteMemory) -> None:
        memory.learned = 0
        memory.merge(self._store.get(SITE_MEMORY, scope))
        self._store.put(Blob(SITE_MEMORY, scope, "", memory.encode()))


def _each(names: int) -> Iterator[int]:
    while names:
        yield names & _NAME
        names >>= _NAME_BITS

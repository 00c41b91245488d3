"""The trap shield: endless URL spaces are known by what their pages bring, and by how they grow.

A part of a site is a trap if pages that bring nothing new lead to ever more of the same part, which
bring nothing new and lead on in their turn. What is found elsewhere is never held back, nor what
has a kind of address that brings something new, or that leads to no more of its part.

A maze has new text on each page. Its pages lead to more and more of their part and never back, and
the words are those of a generator: no page has a new one. A chain is no maze: each of its pages
leads to one more. These may bring lines alone that are new, in numbers, and images.

Nothing here fetches or holds back: `ask` says what is to be done, `judged` and `found` take what
became of it.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

from mmh3 import hash64

from simhash_gate.identity.address import Address, Words

if TYPE_CHECKING:
    from simhash_gate.fingerprints.sample import Sample

T = TypeVar("T")
Why = Literal["", "barren", "endless"]
"""Why a request is held back: its part of the site brings nothing new, or has no end."""

FULL = 48
"""Pages that may bring nothing new, and lead on, before their part is limited."""
SHARE = 4
"""A part may have a quarter as many of them as it led to pages that bring something new."""
GAIN = 14
"""So many of them one page makes good that brings something new, if such a page led to it."""
FIRST_PROBE = 4
"""The request held back that is fetched all the same; then the 8th, the 16th and so on."""
FIRSTS, FEW = 16, 3
"""Requests of kinds with fewer than so many fetches that a limited part still lets go."""
ENDLESS = 60
"""Pages of known words that lead on before their part is a maze."""
MOST_KNOWN, MOST_SHAPES, MOST_HASHES, MOST_SCOPES = 200_000, 20_000, 400_000, 1_000
_LATEST = 2 * (GAIN + 1)
_GROWTH = 1.5  # links of a maze's page to what was not known
_CHAIN = -18.0  # the growth of 36 pages that lead to one more each
_RETURN = 12  # pages of a maze that a link back to a known page outweighs
_NEW_WORDS = 3
_WORD = re.compile(r"\s[^\W\d_]+")  # with what is before it: another hash than a word elsewhere
_NEW_SHARE, _NEW_PAIRS, _NEW_LINES = 0.15, 3, 4  # an empty month has fewer of these
_TIME = re.compile(r"\b(?:19|20)\d\d\b|\d?\d:\d\d")
_MOST_ANCESTORS = 100


class Origin(NamedTuple):
    """The page that a request was found on: its address and part, whether it brought nothing.

    A request that is `released` was held back before, and goes on.
    """

    page: int
    group: str
    barren: bool
    released: bool = False


@dataclass(eq=False, slots=True)
class Shape:
    """What is known of addresses of one kind that were found on pages of their part: on those that
    brought nothing, or on others. Of the last pages fetched some brought something new, and some
    led to more of the part."""

    name: str
    fetched: int = 0
    fruits: int = 0
    grown: int = 0

    @property
    def is_trap(self) -> bool:
        """Whether its pages bring nothing new and lead on, as far as is known."""
        yields = self.fruits >= FEW and (GAIN + 1) * self.fruits >= self.fetched
        ends = self.fetched >= FEW and 4 * self.grown < self.fetched
        return not yields and not ends


@dataclass(eq=False, slots=True)
class Group:
    """A part of a site: addresses that begin alike. `barren` and `alike` count towards a trap."""

    name: str
    why: Why = ""
    barren: int = 0
    fruits: int = 0
    alike: float = 0.0
    growth: float = 0.0  # links to what was not known, less those that as many of a maze have
    held: int = 0
    firsts: int = FIRSTS
    returned: set[int] = field(default_factory=set)

    def seems(self, alike: float) -> None:
        """Count towards a maze or, below 0, away from it; its growth counts from there on."""
        self.alike = max(0.0, self.alike + alike)
        if self.why == "endless":
            self.alike = min(self.alike, ENDLESS + _RETURN)
        if not self.alike:
            self.growth = min(0.0, max(self.growth, _CHAIN))


@dataclass(eq=False, slots=True)
class TracedRequest:
    """One request: it is `inside` if a page of its own part led to it, and `deep` if that brought
    nothing. `why` it is held back is "" for one that goes on; a `probe` goes on all the same."""

    page: int
    group: Group
    shape: Shape
    origin: Origin | None
    why: Why = ""
    probe: bool = False
    barren: bool = False
    shows: bool = False  # lines or images that are new
    fresh: int = 0

    @property
    def inside(self) -> bool:
        """Whether a page of its own part led to it."""
        return self.origin is not None and self.origin.group == self.group.name

    @property
    def deep(self) -> bool:
        """Whether a page of its own part led to it that brought nothing."""
        return self.inside and self.origin is not None and self.origin.barren

    @property
    def held(self) -> bool:
        """Whether the request is held back."""
        return bool(self.why) and not self.probe

    @property
    def leads_into_trap(self) -> bool:
        """Whether what it leads to may be held back."""
        return self.barren or (self.inside and self.group.why == "endless")

    @property
    def as_origin(self) -> Origin:
        """Return what is noted on the requests that its page leads to."""
        return Origin(self.page, self.group.name, self.barren)


class Change(NamedTuple):
    """A part of a site was limited, or `why` is "", and it is so no longer."""

    why: Why
    group: str


class TrapShield:
    """Says of each request whether it leads into a trap. Its memory is bounded.

    It can be pickled: its hashes are the same in every process.
    """

    def __init__(self) -> None:
        self._groups: OrderedDict[str, Group] = OrderedDict()
        self._shapes: OrderedDict[str, Shape] = OrderedDict()
        self._parents: OrderedDict[int, int] = OrderedDict()
        self._words: OrderedDict[str, Words] = OrderedDict()
        self._hashes: tuple[set[int], set[int]] = set(), set()

    def ask(self, address: Address, scope: str, origin: Origin | None) -> TracedRequest:
        """Return a request, found on a page or on none, with what is to be done with it."""
        parts = _parts(address)
        self._words_of(scope).count(scope, parts)
        group = self._group(address, scope)
        if origin is not None:  # what was a word then may be a name now
            path, *query = origin.group.partition("?")
            host, part, *end = path.split("/")
            now = "/".join((self._masked(scope, (host, part)), *end))
            origin = origin._replace(group=now + "".join(query))
        name = self._masked(scope, parts) + ("?" if address.query else "")
        name += "&".join(sorted({name for name, _ in address.query}))
        visit = TracedRequest(address.digest, group, Shape(name), origin)
        if visit.inside:
            name += " deep" if visit.deep else ""
            shape = visit.shape.name
            visit.shape = _latest(self._shapes, name, lambda _: Shape(shape), MOST_SHAPES)
        self._know(visit.page, origin.page if origin else 0)
        if not group.why or not visit.inside or (origin is not None and origin.released):
            return visit
        if group.why == "barren":
            first = visit.deep and visit.shape.fetched < FEW and group.firsts > 0
            group.firsts -= first
            shown = visit.deep or visit.shape.fetched >= GAIN  # for itself that it is one
            if first or not shown or not visit.shape.is_trap:
                return visit
        visit.why = group.why
        group.held += 1
        visit.probe = group.held >= FIRST_PROBE and group.held & (group.held - 1) == 0
        return visit

    def judged(
        self,
        visit: TracedRequest,
        scope: str,
        *,
        passed: bool,
        title: str,
        sample: Sample,
        offers: object = (),
        markdown: Callable[[], str] = str,
    ) -> list[Change]:
        """Take a page that was fetched; return what changes with it.

        It brings something new if it `passed`, and has 15 % of its pairs of words for the first
        time, other `offers` than any page before or, unless its part is limited, a new word in its
        title; or if it `shows` something new in its `markdown`, and is one of a chain.
        """
        names = self._count_new(scope, map(_hash, _WORD.findall(f" {title.lower()}")))
        sells = bool(offers) and self._count_new(scope, [_hash(repr(offers))])
        pairs = self._count_new(scope, sample.pairs)
        new_words = self._count_new(scope, [word << 1 for word in sample.words])
        share = pairs / len(sample.pairs) if pairs >= _NEW_PAIRS else 0.0
        named = names and not (visit.inside and visit.group.why)  # filters combine what is known
        visit.barren = not (passed and (named or sells or share >= _NEW_SHARE))
        visit.group.growth -= _GROWTH * (visit.inside and not visit.held)
        if visit.barren and passed and visit.inside:
            is_chain = visit.group.growth <= _CHAIN
            visit.shows = (is_chain or bool(visit.group.why)) and self._shows_new(scope, markdown())
            visit.barren = not (visit.shows and is_chain)
        if visit.held:  # fetched all the same, by a shield that only observes
            return []
        shape, group, origin = visit.shape, visit.group, visit.origin
        if visit.inside:
            if shape.fetched >= _LATEST:  # what it brought long ago counts less and less
                shape.fetched, shape.fruits, shape.grown = (
                    each >> 1 for each in (shape.fetched, shape.fruits, shape.grown)
                )
            shape.fetched += 1
            shape.fruits += not visit.barren
        if visit.inside and not visit.barren:
            group.seems(1 - new_words / _NEW_WORDS)
            if group.why == "endless" and group.alike < ENDLESS:
                return [self._limit(group, "")]
            if group.alike >= ENDLESS and group.growth >= 0 and group.why != "endless":
                group.alike = ENDLESS + _RETURN
                return [self._limit(group, "endless")]
        parent = self._groups.get(origin.group) if origin and origin.barren else None
        if visit.barren or parent is None:
            return []
        parent.fruits += 1
        parent.barren = max(0, parent.barren - GAIN)
        return [self._limit(parent, "")] if parent.why == "barren" else []

    def is_known(self, visit: TracedRequest) -> None:
        """Take a page that brings nothing; if it is elsewhere, the part that led to it grows."""
        if visit.origin is not None and not visit.inside:
            self._groups.get(visit.origin.group, visit.group).growth += 1

    def found(self, visit: TracedRequest, address: Address, scope: str) -> list[Change]:
        """Take an address that a page leads to; return what changes with it."""
        group, page = visit.group, address.digest
        if not visit.inside or visit.held or self._group(address, scope) is not group:
            return []
        if page not in self._parents:
            self._know(page, visit.page)
            visit.fresh += 1
            group.growth += 1
            visit.shape.grown += visit.fresh == 1
            if visit.fresh == 1 and visit.barren:
                group.barren = min(group.barren + 1, max(FULL, group.fruits // SHARE))
                if not group.why and group.barren == max(FULL, group.fruits // SHARE):
                    return [self._limit(group, "barren")]
        elif page not in group.returned and page not in self._way_to(visit.page):
            group.returned.add(page)
            group.seems(-_RETURN)
            if group.why == "endless" and group.alike < ENDLESS:
                return [self._limit(group, "")]
        return []

    def __len__(self) -> int:
        """How many hashes, addresses and shapes are remembered."""
        kept = (*self._hashes, self._parents, self._shapes, self._groups)
        return sum(map(len, kept))

    def _limit(self, group: Group, why: Why) -> Change:
        if not why and group.why == "endless":
            group.alike, group.growth = 0.0, 0.0
        group.why, group.held, group.firsts = why, 0, FIRSTS
        return Change(why, group.name)

    def _group(self, address: Address, scope: str) -> Group:
        """Return the part of a site: by host, the first part of the path, and if there are more."""
        end = ("/.." if len(address.path) > 1 else "") + ("?" if address.query else "")
        name = self._masked(scope, _parts(address)[:2]) + end
        return _latest(self._groups, name, Group, MOST_SHAPES)

    def _masked(self, scope: str, parts: Iterable[str]) -> str:
        """Return the host and the path of an address, less the scope, where names are masked."""
        return self._words_of(scope).masked(scope, parts).removeprefix(f"{scope}/")

    def _words_of(self, scope: str) -> Words:
        return _latest(self._words, scope, lambda _: Words(), MOST_SCOPES)

    def _know(self, page: int, parent: int) -> None:
        self._parents.setdefault(page, parent)
        if len(self._parents) > MOST_KNOWN:
            self._parents.popitem(last=False)

    def _way_to(self, page: int) -> Iterator[int]:
        """Yield a page, and those that led to it."""
        for _ in range(_MOST_ANCESTORS):
            yield page
            page = self._parents.get(page, 0)

    def _shows_new(self, scope: str, markdown: str) -> bool:
        """Tell whether half of the images of a page, or a third of its lines, are new."""
        lines = [line if "![" in line else _TIME.sub("", line) for line in markdown.split("\n")]
        images = [_hash(line) for line in lines if "![" in line]
        others = [_hash(line) for line in lines if "![" not in line and re.search(r"\w", line)]
        shown, new = self._count_new(scope, images), self._count_new(scope, others)
        return 0 < len(images) <= 2 * shown or new >= max(_NEW_LINES, len(others) / 3)

    def _count_new(self, scope: str, hashes: Iterable[int]) -> int:
        """Return how many of some hashes the pages of a scope had not, and remember all.

        What is forgotten counts as new: a part is then thought better of than it is, never worse.
        """
        salt, (young, old) = _hash(scope), self._hashes
        fresh = {each ^ salt for each in hashes} - young
        young |= fresh
        count = len(fresh - old)
        if len(young) > MOST_HASHES // 2:
            self._hashes = set(), young
        return count


def _hash(text: str) -> int:
    return int(hash64(text.encode("utf-8", "surrogatepass"))[0])


def _parts(address: Address) -> tuple[str, ...]:
    return address.host, *(address.masked or ("",))


def _latest(known: OrderedDict[str, T], name: str, make: Callable[[str], T], most: int) -> T:
    """Return what is known by a name, which is now the latest of all."""
    found = known.get(name)
    if found is None:
        found = known[name] = make(name)
        if len(known) > most:
            known.popitem(last=False)
    known.move_to_end(name)
    return found

"""The trap shield finds endless URL spaces, by what their pages bring and by how they grow.

A part of a site is a trap if its pages bring nothing new, and lead to ever more pages of the part
that bring nothing new. Never held back are requests found in another part, those of a kind of
address that brings something new, and those of a kind that leads to no more pages of its part.

A maze is a trap with new text on each page. Its pages lead to more and more of their part and never
back. A generator makes its text: no page has a new word. A chain is not a maze: each of its pages
leads to one more. New lines (such as numbers) or images are enough on the pages of a chain.

Nothing here fetches or holds back. `ask` decides. `judged` and `found` learn from the result.
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
"""A part is limited after this many barren pages: they bring nothing new, and lead on."""
SHARE = 4
"""A part is not limited while it led to more than 4 times as many pages with something new."""
GAIN = 14
"""A page with something new makes up for this many barren ones, if a barren one led to it."""
FIRST_PROBE = 4
"""The 4th request that is held back is fetched all the same, then the 8th, the 16th and so on."""
FIRSTS, FEW = 16, 3
"""A limited part lets 16 requests go whose kind of address was fetched less than 3 times."""
ENDLESS = 60
"""A part is a maze after this many pages that lead on and have no new word."""
MOST_KNOWN, MOST_SHAPES, MOST_HASHES, MOST_SCOPES = 200_000, 20_000, 400_000, 1_000
_LATEST = 2 * (GAIN + 1)
_GROWTH = 1.5  # each page of a maze has more links than this to new addresses
_CHAIN = -18.0  # the growth after 36 pages that lead to one more each
_RETURN = 12  # a link back to a known page outweighs this many pages of a maze
_NEW_WORDS = 3
_WORD = re.compile(r"\s[^\W\d_]+")  # the space gives words of titles hashes of their own
_NEW_SHARE, _NEW_PAIRS, _NEW_LINES = 0.15, 3, 4  # the empty page of a month has fewer
_TIME = re.compile(r"\b(?:19|20)\d\d\b|\d?\d:\d\d")
_MOST_ANCESTORS = 100


class Origin(NamedTuple):
    """The page that a request was found on: its digest, its part, whether it brought nothing.

    A `released` request was held back before, and is sent now.
    """

    page: int
    group: str
    barren: bool
    released: bool = False


@dataclass(eq=False, slots=True)
class Shape:
    """Counts of one kind of addresses, found on pages of their own part.

    There is one for addresses found on barren pages, and one for those found on others. `fruits` of
    the `fetched` pages brought something new, `grown` led to more of the part.
    """

    name: str
    fetched: int = 0
    fruits: int = 0
    grown: int = 0

    @property
    def is_trap(self) -> bool:
        """Whether its pages bring nothing new and lead on, by what was fetched until now."""
        yields = self.fruits >= FEW and (GAIN + 1) * self.fruits >= self.fetched
        ends = self.fetched >= FEW and 4 * self.grown < self.fetched
        return not yields and not ends


@dataclass(eq=False, slots=True)
class Group:
    """A part of a site: addresses that begin alike. `barren` counts towards a part that brings
    nothing new, `alike` towards a maze."""

    name: str
    why: Why = ""
    barren: int = 0
    fruits: int = 0
    alike: float = 0.0
    growth: float = 0.0  # links to new addresses, less `_GROWTH` for each page
    held: int = 0
    firsts: int = FIRSTS
    returned: set[int] = field(default_factory=set)

    def seems(self, alike: float) -> None:
        """Add to what counts towards a maze. At 0, the growth of the part counts anew."""
        self.alike = max(0.0, self.alike + alike)
        if self.why == "endless":
            self.alike = min(self.alike, ENDLESS + _RETURN)
        if not self.alike:
            self.growth = min(0.0, max(self.growth, _CHAIN))


@dataclass(eq=False, slots=True)
class TracedRequest:
    """A request with its part of the site and the page that led to it.

    `why` is "" for a request that is sent. A `probe` is sent although it has a reason `why`.
    """

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
        """Whether a barren page of its own part led to it."""
        return self.inside and self.origin is not None and self.origin.barren

    @property
    def held(self) -> bool:
        """Whether the request is held back."""
        return bool(self.why) and not self.probe

    @property
    def leads_into_trap(self) -> bool:
        """Whether the requests that its page leads to may be held back."""
        return self.barren or (self.inside and self.group.why == "endless")

    @property
    def as_origin(self) -> Origin:
        """The origin of the requests that its page leads to."""
        return Origin(self.page, self.group.name, self.barren)


class Change(NamedTuple):
    """A part of a site is limited from now on or, if `why` is "", no longer."""

    why: Why
    group: str


class TrapShield:
    """Tells of each request whether it leads into a trap. Its memory is bounded.

    It can be pickled: its hashes are the same in every process.
    """

    def __init__(self) -> None:
        self._groups: OrderedDict[str, Group] = OrderedDict()
        self._shapes: OrderedDict[str, Shape] = OrderedDict()
        self._parents: OrderedDict[int, int] = OrderedDict()
        self._words: OrderedDict[str, Words] = OrderedDict()
        self._hashes: tuple[set[int], set[int]] = set(), set()

    def ask(self, address: Address, scope: str, origin: Origin | None) -> TracedRequest:
        """Decide whether to hold back a request. `origin` is None if no page led to it."""
        parts = _parts(address)
        self._words_of(scope).count(scope, parts)
        group = self._group(address, scope)
        if origin is not None:  # a word of its path may have become a name since
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
            # A kind of address found on other pages is held back by its own record alone.
            judged = visit.deep or visit.shape.fetched >= GAIN
            if first or not judged or not visit.shape.is_trap:
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
        """Learn from a page that was fetched. Return the changes of its part.

        A page that `passed` brings something new if 15 % of its pairs of words are new, if its
        `offers` are new, or if its title has a new word. In a limited part, a new word of the title
        is not enough. In a chain, new lines or images of its `markdown` are enough.
        """
        names = self._count_new(scope, map(_hash, _WORD.findall(f" {title.lower()}")))
        sells = bool(offers) and self._count_new(scope, [_hash(repr(offers))])
        pairs = self._count_new(scope, sample.pairs)
        new_words = self._count_new(scope, [word << 1 for word in sample.words])
        share = pairs / len(sample.pairs) if pairs >= _NEW_PAIRS else 0.0
        # The pages of filters combine known words to new titles.
        named = names and not (visit.inside and visit.group.why)
        visit.barren = not (passed and (named or sells or share >= _NEW_SHARE))
        visit.group.growth -= _GROWTH * (visit.inside and not visit.held)
        if visit.barren and passed and visit.inside:
            is_chain = visit.group.growth <= _CHAIN
            visit.shows = (is_chain or bool(visit.group.why)) and self._shows_new(scope, markdown())
            visit.barren = not (visit.shows and is_chain)
        if visit.held:  # a shield that only observes lets the request go
            return []
        shape, group, origin = visit.shape, visit.group, visit.origin
        if visit.inside:
            if shape.fetched >= _LATEST:  # older pages count less and less
                shape.fetched //= 2
                shape.fruits //= 2
                shape.grown //= 2
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
        """Note a page with nothing new. If it is in another part, that of its origin grows."""
        if visit.origin is not None and not visit.inside:
            self._groups.get(visit.origin.group, visit.group).growth += 1

    def found(self, visit: TracedRequest, address: Address, scope: str) -> list[Change]:
        """Note an address that a page leads to. Return the changes of the page's part."""
        group, page = visit.group, address.digest
        if not visit.inside or visit.held or self._group(address, scope) is not group:
            return []
        if page not in self._parents:  # a new address: the part grows
            self._know(page, visit.page)
            visit.fresh += 1
            group.growth += 1
            visit.shape.grown += visit.fresh == 1
            if visit.fresh == 1 and visit.barren:
                group.barren = min(group.barren + 1, max(FULL, group.fruits // SHARE))
                if not group.why and group.barren == max(FULL, group.fruits // SHARE):
                    return [self._limit(group, "barren")]
        # A maze never leads back, except on the way by which it was entered.
        elif page not in group.returned and page not in self._way_to(visit.page):
            group.returned.add(page)
            group.seems(-_RETURN)
            if group.why == "endless" and group.alike < ENDLESS:
                return [self._limit(group, "")]
        return []

    def __len__(self) -> int:
        """Return the number of hashes, addresses and shapes that are remembered."""
        kept = (*self._hashes, self._parents, self._shapes, self._groups)
        return sum(map(len, kept))

    def _limit(self, group: Group, why: Why) -> Change:
        if not why and group.why == "endless":
            group.alike, group.growth = 0.0, 0.0
        group.why, group.held, group.firsts = why, 0, FIRSTS
        return Change(why, group.name)

    def _group(self, address: Address, scope: str) -> Group:
        """Return the part of a site: addresses that share the host and the start of the path."""
        end = ("/.." if len(address.path) > 1 else "") + ("?" if address.query else "")
        name = self._masked(scope, _parts(address)[:2]) + end
        return _latest(self._groups, name, Group, MOST_SHAPES)

    def _masked(self, scope: str, parts: Iterable[str]) -> str:
        """Return the host and the path of an address without the scope, with names masked."""
        return self._words_of(scope).masked(scope, parts).removeprefix(f"{scope}/")

    def _words_of(self, scope: str) -> Words:
        return _latest(self._words, scope, lambda _: Words(), MOST_SCOPES)

    def _know(self, page: int, parent: int) -> None:
        self._parents.setdefault(page, parent)
        if len(self._parents) > MOST_KNOWN:
            self._parents.popitem(last=False)

    def _way_to(self, page: int) -> Iterator[int]:
        """Yield a page, the page that led to it, the page that led to that, and so on."""
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
        """Return how many of these hashes are new in the scope, and remember all.

        A forgotten hash counts as new: that makes a trap harder to see, and never invents one.
        """
        salt, (young, old) = _hash(scope), self._hashes
        fresh = {number ^ salt for number in hashes} - young
        young |= fresh
        count = len(fresh - old)
        if len(young) > MOST_HASHES // 2:
            self._hashes = set(), young
        return count


def _hash(text: str) -> int:
    return int(hash64(text.encode("utf-8", "surrogatepass"))[0])


def _parts(address: Address) -> tuple[str, ...]:
    return address.host, *(address.masked or ("",))


def _latest(entries: OrderedDict[str, T], name: str, make: Callable[[str], T], most: int) -> T:
    """Return the entry of a name, and make it if there is none. Drop the oldest of too many."""
    entry = entries.get(name)
    if entry is None:
        entry = entries[name] = make(name)
        if len(entries) > most:
            entries.popitem(last=False)
    entries.move_to_end(name)
    return entry

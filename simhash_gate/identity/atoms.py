"""Atoms: the smallest parts of addresses that may not matter.

They are read off pairs of addresses with one content. An atom of the path applies to all addresses
of a host, an atom of the query to those of one kind. One parameter can make no difference in
stories, and choose the page in an archive.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Literal, NamedTuple
from urllib.parse import unquote, unquote_plus

from simhash_gate.identity.address import ANY, Address, address_of, mask
from simhash_gate.identity.lists import OTHER_VIEW, SESSION

AtomKind = Literal[
    "alias", "case", "extra", "index", "page", "place", "scheme", "segment", "slash",  # of a path
    "drop", "default", "value",
]  # fmt: skip
OF_QUERY = frozenset({"drop", "default", "value"})
ALIAS = re.compile(r"(?:www|m|mobile|amp|wap)\.")
"""Begins the name of a host that shows the pages of another host."""
_MOST = 8  # atoms by which two addresses differ
_MOVED = 2  # parts of a path that a segment has
_FEW = 6  # so few atoms are tried faster one by one than they are looked up
_JOINS = ("_", "-")


class Atom(NamedTuple):
    """A part of addresses, by its kind. It makes two addresses one that differ in that part.

    | kind | the difference |
    |---|---|
    | `scheme` | `http` and `https` |
    | `alias` | the hosts `name` and `value` |
    | `slash`, `index`, `case` | a slash at the end, an index page, capitals |
    | `extra` | the parameter `name` of the path |
    | `segment` | the part `name`, at the place `value` of the path; -1 is the end |
    | `place` | the names and codes at the place `value`, after the path `name`; or a word there |
    | `page` | the parameter `name` under a path, or its value as a path: `value` has both paths |
    | `drop` | the parameter `name` with any value, or none |
    | `default` | the parameter `name` with this `value`, or none |
    | `value` | the parameter `name` with one value or another |
    """

    kind: AtomKind
    name: str = ""
    value: str = ""

    def __str__(self) -> str:
        """Describe the part that makes no difference."""
        if self.kind in OF_QUERY:
            return f"?{self.name}={self.value if self.kind == 'default' else ANY}"
        descriptions = {
            "scheme": "http or https",
            "alias": f"{self.name} or {self.value}",
            "slash": "a slash at the end",
            "index": "an index page",
            "case": "capitals in the path",
            "extra": f";{self.name}={ANY}",
            "segment": f"/{self.name} in the path",
            "place": f"/{self.name}/{self.value.partition(' ')[2] or ANY}".replace("//", "/"),
        }
        return descriptions.get(self.kind, f"?{self.name}= or its value in the path")

    @property
    def is_listed(self) -> bool:
        """Whether it seldom matters on any site. Then one content is enough for it to act."""
        if self.kind in ("drop", "extra"):
            return SESSION.match(self.name) is not None
        if self.kind in ("segment", "default"):
            return OTHER_VIEW.match(self.name) is not None
        if self.kind == "alias":
            return ALIAS.sub("", self.name, count=1) == ALIAS.sub("", self.value, count=1)
        return self.kind in ("scheme", "index", "slash")


def in_order(atoms: Iterable[Atom]) -> tuple[Atom, ...]:
    """Return atoms in the order in which they act."""
    return tuple(sorted(atoms, key=lambda a: ((a.kind == "place") - (a.kind == "page"), a)))


def in_effect(atoms: Collection[Atom]) -> tuple[Atom, ...]:
    """Return atoms in their order, without those about values of a name that another one drops."""
    dropped = {atom.name for atom in atoms if atom.kind == "drop"}
    return in_order(a for a in atoms if a.kind not in ("default", "value") or a.name not in dropped)


class QueryAtoms(NamedTuple):
    """Atoms of the query, ready for use: the names and the pairs to drop, the names of any value.

    `numbers` are the names where only numbers are known to make no difference.
    """

    drop: frozenset[str] = frozenset()
    default: frozenset[tuple[str, str]] = frozenset()
    value: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()

    @classmethod
    def of(cls, atoms: Collection[Atom], values: Mapping[str, Collection[str]]) -> QueryAtoms:
        """Make atoms ready. `values` maps a name to values that made no difference."""
        return cls(
            frozenset(a.name for a in atoms if a.kind == "drop"),
            frozenset((a.name, a.value) for a in atoms if a.kind == "default"),
            frozenset(a.name for a in atoms if a.kind == "value"),
            frozenset(name for name, shown in values.items() if are_numbers(shown)),
        )

    def apply(self, address: Address) -> Address:
        """Return an address with its query reduced."""
        if not address.query:
            return address
        query = tuple(
            (name, ANY if name in self.value and self._may_be(name, value) else value)
            for name, value in address.query
            if (name not in self.drop or not self._may_be(name, value))
            and (name, value) not in self.default
        )
        return address if query == address.query else address._replace(query=query)

    def _may_be(self, name: str, value: str | None) -> bool:
        return name not in self.numbers or value is None or value.isdecimal()

    def between(self, one: Address, other: Address) -> list[Atom]:
        """Return the atoms by which two addresses are one."""
        mine, theirs = dict(one.query), dict(other.query)
        atoms: list[Atom] = []
        for name in {**mine, **theirs}:
            values = mine.get(name), theirs.get(name)
            if values[0] == values[1]:
                continue
            if all(self._may_be(name, value) for value in values):
                atoms += [Atom("drop", name)] * (name in self.drop)
                atoms += [Atom("value", name)] * (name in self.value)
            pairs = ((name, value) for value in values if value is not None)
            atoms += [Atom("default", *pair) for pair in pairs if pair in self.default]
        return atoms


def are_numbers(values: Collection[str]) -> bool:
    """Tell whether there are values, and all are numbers."""
    return bool(values) and all(map(str.isdecimal, values))


class PathAtoms:
    """Atoms of the path, ready for use, in the order in which they act.

    A `page` acts first, since it makes a path. A `place` acts last, since it masks a part that
    other atoms could not read any more.
    """

    def __init__(self, atoms: Collection[Atom]) -> None:
        self._places = {atom: place for place, atom in enumerate(in_order(atoms))}
        self._kinds = {atom.kind for atom in atoms}
        self._of: defaultdict[str, list[Atom]] = defaultdict(list)
        for atom in self._places:
            if atom.kind in ("alias", "page"):
                script = f" {atom.value.partition(' ')[0]}" if atom.kind == "page" else ""
                self._of[atom.name + script].append(atom)

    def apply(self, address: Address) -> Address:
        """Return an address with its path reduced."""
        if len(self._places) <= _FEW:
            for atom in self._places:
                address = _WAYS[atom.kind](address, atom)
            return address
        last = -1
        while True:
            later = [atom for atom in self._about(address) if self._places[atom] > last]
            if not later:
                return address
            last, address = self._places[later[0]], _WAYS[later[0].kind](address, later[0])

    def between(self, one: Address, other: Address) -> list[Atom]:
        """Return the atoms by which two addresses are one, apart from their queries."""
        if one._replace(query=()) == other._replace(query=()):
            return []
        return sorted({*self._about(one), *self._about(other)}, key=self._places.__getitem__)

    def _about(self, address: Address) -> list[Atom]:
        """Return the atoms that change an address, in their order."""
        may_be = [*self._of.get(address.host, ())]
        if address.query and "page" in self._kinds:
            path = "/".join(address.path)
            may_be += (a for name, _ in address.query for a in self._of.get(f"{name} {path}", ()))
        may_be += (Atom("extra", pair.partition("=")[0]) for pair in address.extra)
        may_be += [_SCHEME] * (address.scheme != "https") + [_SLASH] * address.slash
        may_be += [_INDEX] * address.has_index
        if "case" in self._kinds and address.path != tuple(map(str.lower, address.path)):
            may_be.append(Atom("case"))
        if "place" in self._kinds:
            may_be += _places(address.path)
        if "segment" in self._kinds:
            may_be += _segments(address.path)
        return sorted(filter(self._places.__contains__, may_be), key=self._places.__getitem__)


_SCHEME, _SLASH, _INDEX = Atom("scheme"), Atom("slash"), Atom("index")


def _places(path: tuple[str, ...]) -> Iterator[Atom]:
    before = ""
    for place, part in enumerate(path):
        yield Atom("place", before, f"{place} {_word_of(part)}".rstrip())
        before = f"{before}/{mask(part)}" if place else mask(part)


def _segments(path: tuple[str, ...]) -> Iterator[Atom]:
    for place in range(len(path)):
        for end in range(place + 1, min(place + _MOVED, len(path)) + 1):
            if end - place < len(path):
                name = _name_of(path[place:end])
                yield Atom("segment", name, str(place))
                if end == len(path):
                    yield Atom("segment", name, "-1")


def between(one: Address, other: Address) -> list[Atom] | None:
    """Return the atoms that together make two addresses one, None if it takes too many."""
    atoms: list[Atom] = []
    if one.scheme != other.scheme:
        atoms.append(Atom("scheme"))
    if one.host != other.host:
        atoms += _aliases(one.host, other.host)
    if one.extra != other.extra:
        names = {pair.partition("=")[0] for pair in {*one.extra} ^ {*other.extra}}
        atoms += [Atom("extra", name) for name in sorted(names)]
    if (one.path, one.slash) != (other.path, other.slash):
        moved = _moved(one, other)
        if moved is not None:
            atom, one, other = moved
            atoms.append(atom)
        else:
            of_path = _of_path(one, other)
            if of_path is None:
                return None
            atoms += of_path
    atoms += _of_query(dict(one.query), dict(other.query))
    return atoms if len(atoms) <= _MOST else None


def _of_query(mine: dict[str, str], theirs: dict[str, str]) -> list[Atom]:
    return [
        Atom("value", name)
        if name in mine and name in theirs
        else Atom("default", name, mine.get(name, theirs.get(name, "")))
        for name in sorted({*mine} | {*theirs})
        if mine.get(name) != theirs.get(name)
    ]


def _aliases(one: str, other: str) -> list[Atom]:
    """Return the atoms that make two hosts one: the shorter one, or their name without `www.`."""
    longer, shorter = sorted((one, other), key=lambda host: (-len(host), host))
    base = ALIAS.sub("", one, count=1)
    if base == ALIAS.sub("", other, count=1) and base not in (one, other):
        return [Atom("alias", one, base), Atom("alias", other, base)]
    return [Atom("alias", longer, shorter)]


def _of_path(one: Address, other: Address) -> list[Atom] | None:
    atoms: list[Atom] = []
    mine, theirs = one.path, other.path
    slash = one.slash != other.slash
    if one.has_index != other.has_index:
        atoms.append(Atom("index"))
        slash = not (other if one.has_index else one).slash
        mine, theirs = one.bare_path, other.bare_path
    if slash:
        atoms.append(Atom("slash"))
    if mine == theirs:
        return atoms
    if [*map(str.lower, mine)] == [*map(str.lower, theirs)]:
        return [*atoms, Atom("case")]
    if len(mine) == len(theirs):
        places = [place for place, part in enumerate(mine) if part != theirs[place]]
        if len(places) != 1:
            return None
        (place,) = places
        before = "/".join(map(mask, mine[:place]))
        words = {_word_of(mine[place]), _word_of(theirs[place])}
        if words == {"#"}:  # two numbers in a path name two pages
            return None
        return atoms + [Atom("place", before, f"{place} {word}".rstrip()) for word in sorted(words)]
    long, short = (mine, theirs) if len(mine) > len(theirs) else (theirs, mine)
    more = len(long) - len(short)
    if more > _MOVED:
        return None
    place = next((i for i, part in enumerate(short) if long[i] != part), len(short))
    if long[place + more :] != short[place:]:
        return None
    name = _name_of(long[place : place + more])
    return [*atoms, Atom("segment", name, str(-1 if place == len(short) and place else place))]


def _moved(one: Address, other: Address) -> tuple[Atom, Address, Address] | None:
    """Return the `page` atom if a parameter of one address says the path of the other, else None.

    With it come both addresses as the atom leaves them.
    """
    for mine, theirs in ((one, other), (other, one)):
        names = {name for name, _ in theirs.query}
        for name, value in mine.query:
            for join in _JOINS if name not in names and mine.path != theirs.path else ():
                path = _path_of(value, join)
                prefix = theirs.path[: -len(path)]
                if not prefix or tuple(map(unquote, theirs.path[len(prefix) :])) != path:
                    continue
                # If another parameter says the path's beginning, only both together say the page.
                others = {_path_of(other, join)[0] for key, other in mine.query if key != name}
                if others.isdisjoint(map(unquote, prefix)):
                    how = " ".join(("/".join(mine.path), join, "/".join(prefix)))
                    atom = Atom("page", name, how)
                    return atom, _page(mine, atom), theirs._replace(slash=False)
    return None


def _path_of(value: str, join: str) -> tuple[str, ...]:
    return tuple(unquote_plus(value).replace(" ", join).split("/"))


def _host(address: Address, atom: Atom) -> Address:
    return address._replace(host=atom.value) if address.host == atom.name else address


def _extra(address: Address, atom: Atom) -> Address:
    if not address.extra:
        return address
    left = tuple(pair for pair in address.extra if pair.partition("=")[0] != atom.name)
    return address._replace(extra=left)


def _segment(address: Address, atom: Atom) -> Address:
    path, names, place = address.path, atom.name.split("/"), int(atom.value)
    wide = len(names)
    at = len(path) - wide if place == -1 else place
    if not 0 <= at <= len(path) - wide or len(path) <= wide:
        return address
    if _name_of(path[at : at + wide]) != atom.name:
        return address
    return address._replace(path=path[:at] + path[at + wide :])


def _place(address: Address, atom: Atom) -> Address:
    path, (number, _, word) = address.path, atom.value.partition(" ")
    place = int(number)
    if not 0 <= place < len(path) or _word_of(path[place]) != word:
        return address
    if "/".join(map(mask, path[:place])) != atom.name:
        return address
    return address._replace(path=(*path[:place], ANY, *path[place + 1 :]))


def _word_of(part: str) -> str:
    """Return a part of a path if it is a word, "#" for a number, "" for a name or a code."""
    masked = mask(part)
    return "" if masked in (ANY, "x") else masked


def _page(address: Address, atom: Atom) -> Address:
    script, join, prefix = atom.value.split(" ")
    value = next((value for name, value in address.query if name == atom.name), None)
    if value is None or "/".join(address.path) != script:
        return address
    path = (*prefix.split("/"), *map(_quoted, _path_of(value, join)))
    query = tuple(pair for pair in address.query if pair[0] != atom.name)
    return address._replace(path=path, slash=False, query=query)


_WAYS: dict[str, Callable[[Address, Atom], Address]] = {
    "scheme": lambda address, _: address._replace(scheme="https"),
    "alias": _host,
    "slash": lambda address, _: address._replace(slash=False) if address.slash else address,
    "case": lambda address, _: address._replace(path=tuple(map(str.lower, address.path))),
    "extra": _extra,
    "index": lambda address, _: (
        address._replace(path=address.bare_path, slash=True) if address.has_index else address
    ),
    "segment": _segment,
    "place": _place,
    "page": _page,
}


def _quoted(part: str) -> str:
    """Return a part of a path with the escapes that an address has."""
    path = address_of(f"http://x/{part.replace('?', '%3F').replace('#', '%23')}").path
    return path[0] if path else part


def _name_of(parts: Iterable[str]) -> str:
    """Return parts of a path in lower case, with "x" for a code."""
    return "/".join("x" if mask(part) == "x" else part.lower() for part in parts)

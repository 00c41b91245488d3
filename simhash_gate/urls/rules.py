"""What may not matter in a URL, as rules; which of them two URLs differ by; a URL without them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import starmap
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from simhash_gate.urls.parts import CODE, mask

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simhash_gate.urls.parts import Parts, Query

Kind = Literal[
    "scheme",
    "host",
    "path parameter",
    "index",
    "slash",
    "case",
    "segment",
    "place",
    "parameter",
    "value",
    "path",
    "order",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
ANY_VALUE = "*"
OWN_PATH = "./"
"""Begins the value of a rule about a path where a part is added to the URL's own."""
MOST_DIFFERENCES = 10
"""Two URLs that differ in more say nothing about any one part."""

_ALIAS = re.compile(r"\A(?:www|m|mobile|amp|wap)\.")
_INDEX = re.compile(r"(?:index|default)(?:\.\w{2,5})?\Z", re.IGNORECASE)
_LONGEST_ENDING = 5
_PLAIN = {"%2F": "/", "%3A": ":"}
_IN_PATH = re.compile(r"\+|%(?:20|2F|3A)", re.IGNORECASE)
_SPACE = "%20"
_JOINED = {"*": _SPACE, "*_*": "_", "*-*": "-"}
"""What stands for a value in a path, and what its words are joined by there."""
_VALUE = re.compile(r"\*(?:[_-]\*)?")


class Rule(NamedTuple):
    """One thing that may not matter in URLs of one shape.

    - `scheme`: http or https. `slash`: one at the end of the path. `case`: capitals in the path.
      `index`: `index.html` and the like at the end. `order`: that of the parameters.
    - `host`: the host `name` has the pages of the host `value`.
    - `path parameter`: `;name=...`.
    - `segment`: a part of the path that some URLs have more, such as `/print`: `name` is the part,
      or its mask, and `value` its place, counted from the end if that is where it stands.
    - `place`: the part of the path at the place `name`, whatever it is.
    - `parameter`: the query parameter `name`; with a `value` that is not `*`, only with this value.
    - `value`: which number (or code, or text: the mask `value`) the query parameter `name` has, as
      long as it has one. `?section=3` is the same as `?section=1`, and not as `?section=new`.
    - `path`: what the query parameter `name` says is a part of a path, at the `*` of the `value`:
      `/index.php?title=X` is `/wiki/X`. If the value begins with `./`, the URL's own path is before
      it: `/tags?name=X` is `/tags/X`. With `*_*` an underscore stands for each space in the path,
      with `*-*` a hyphen.
    """

    kind: Kind
    name: str = ""
    value: str = ""

    @property
    def is_about_values(self) -> bool:
        """Whether some values of a query parameter, or all, do not matter by it."""
        return self.kind in ("parameter", "value")

    def __str__(self) -> str:
        if self.kind == "parameter":
            return f"?{self.name}={self.value}"
        told: dict[str, str] = {
            "value": f"?{self.name}={self.value}",
            "path": f"?{self.name}=* for {self.value}",
            "host": f"host {self.name} for {self.value}",
            "path parameter": f";{self.name}=",
            "segment": f"/{self.name}",
            "place": f"path part {self.name}",
            "order": "order of parameters",
            "slash": "slash at the end",
            "index": "index page",
            "case": "capitals in the path",
        }
        return told.get(self.kind, self.kind)


SCHEME, INDEX, SLASH = Rule("scheme"), Rule("index"), Rule("slash")
CASE, ORDER = Rule("case"), Rule("order")


def differences(one: Parts, other: Parts) -> tuple[Rule, ...] | None:
    """Return the rules that would make two URLs the same; None if no few rules would.

    The first URL need not be the one that has more.
    """
    found: list[Rule] = []
    if one.scheme != other.scheme:
        found.append(SCHEME)
    if one.host != other.host:
        found += _in_host(one.host, other.host)
    if one.segments != other.segments or one.slash != other.slash:
        if rule := _said_by_path(one, other):
            found.append(rule)
            one = reduction_by(rule).apply(one)
        elif rule := _said_by_path(other, one):
            found.append(rule)
            other = reduction_by(rule).apply(other)
        in_path = _in_path(one, other)
        if in_path is None:
            return None
        found += in_path
    if one.query != other.query:
        found += _in_query(one.query, other.query)
    return tuple(found) if len(found) <= MOST_DIFFERENCES else None


def _in_host(one: str, other: str) -> list[Rule]:
    """Return a rule for the longer name; for two aliases of a third name, one for each."""
    base = without_alias(one)
    if base == without_alias(other) and base not in (one, other):
        return [Rule("host", name, base) for name in sorted((one, other))]
    longer, shorter = sorted((one, other), key=lambda host: (-len(host), host))
    return [Rule("host", longer, shorter)]


def without_alias(host: str) -> str:
    """Return the name that a host has without `www.`, `m.` or the like before it."""
    bare = _ALIAS.sub("", host)
    return bare if "." in bare else host


def _said_by_path(one: Parts, other: Parts) -> Rule | None:
    """Return the rule for a parameter of one URL that says how the path of the other one ends."""
    if not one.query or not other.segments:
        return None
    last = other.segments[-1]
    stem, dot, ending = last.rpartition(".")
    ends = (last, stem) if dot and len(ending) <= _LONGEST_ENDING else (last,)
    for name, value in _once(one.query):
        for star in _stars(value):
            said = as_path(value, _JOINED[star])
            if said.rpartition("/")[2] not in ends or name in dict(other.query):
                continue
            own, path = ("/" + "/".join(each.segments) for each in (one, other))
            if own.endswith(f"/{said}"):
                continue
            for end in ("", f".{ending}"):
                if path == f"{own}/{said}{end}":
                    return Rule("path", name, f"{OWN_PATH}{star}{end}")
                if path.endswith(f"/{said}{end}"):
                    return Rule("path", name, f"{path.removesuffix(said + end)}{star}{end}")
    return None


def _stars(value: str) -> Iterable[str]:
    """Return the ways in which a path can say a value."""
    return _JOINED if "+" in value or _SPACE in value else ("*",)


def _once(query: Query) -> list[tuple[str, str]]:
    """Return the parameters that have a single value."""
    names = [name for name, _ in query]
    return [(name, value) for name, value in query if value and names.count(name) == 1]


def as_path(value: str, joined: str = _SPACE) -> str:
    """Return the value of a parameter as it is written in a path, its words joined by this."""
    if "%" not in value and "+" not in value:
        return value
    return _IN_PATH.sub(lambda found: _PLAIN.get(found[0].upper(), joined), value)


def _filled(path: str, value: str) -> str:
    """Return the path of a rule with the value of its parameter."""
    return _VALUE.sub(lambda star: as_path(value, _JOINED[star[0]]), path)


def _in_query(one: Query, other: Query) -> list[Rule]:
    mine, theirs = dict(one), dict(other)
    if len(mine) != len(one) or len(theirs) != len(other):  # a name that comes twice
        mine, theirs = _joined(one), _joined(other)
    found = [Rule("parameter", name, value) for name, value in mine.items() if name not in theirs]
    for name, value in theirs.items():
        if name not in mine:
            found.append(Rule("parameter", name, value))
        elif mine[name] != value:
            found.append(Rule("parameter", name, ANY_VALUE))
    if [name for name in mine if name in theirs] != [name for name in theirs if name in mine]:
        found.append(ORDER)
    return found


def _joined(query: Query) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in query:
        found[name] = f"{found[name]}&{value}" if name in found else value
    return found


def _in_path(one: Parts, other: Parts) -> list[Rule] | None:
    found: list[Rule] = []
    (mine, my_extras), (theirs, their_extras) = map(_bare, (one.segments, other.segments))
    found += [Rule("path parameter", name) for name in sorted(my_extras ^ their_extras)]
    if my_extras & their_extras and not found and one.segments != other.segments:
        found += [Rule("path parameter", name) for name in sorted(my_extras & their_extras)]
    slashes = one.slash != other.slash
    if _ends_in_index(mine) != _ends_in_index(theirs):
        found.append(INDEX)
        mine, theirs = _without_index(mine), _without_index(theirs)
        slashes = False  # /a/index.html stands for /a/
    if slashes:
        found.append(SLASH)
    if mine == theirs:
        return found
    low, also_low = [each.lower() for each in mine], [each.lower() for each in theirs]
    if low == also_low:
        return [*found, CASE]
    if len(mine) == len(theirs):
        places = [i for i, each in enumerate(mine) if each != theirs[i]]
        return [*found, Rule("place", str(places[0]))] if len(places) == 1 else None
    longer, shorter = (mine, theirs) if len(mine) > len(theirs) else (theirs, mine)
    extra = _extra(longer, shorter)
    return None if extra is None else [*found, extra]


def _bare(segments: tuple[str, ...]) -> tuple[tuple[str, ...], set[str]]:
    """Return the segments without their parameters, and the names of these."""
    if not any(";" in each for each in segments):
        return segments, set()
    names = {part.partition("=")[0] for each in segments for part in each.split(";")[1:] if part}
    return tuple(each.partition(";")[0] for each in segments), names


def _ends_in_index(segments: tuple[str, ...]) -> bool:
    return bool(segments) and _INDEX.match(segments[-1]) is not None


def _without_index(segments: tuple[str, ...]) -> tuple[str, ...]:
    return segments[:-1] if _ends_in_index(segments) else segments


def _extra(longer: tuple[str, ...], shorter: tuple[str, ...]) -> Rule | None:
    """Return the rule for the one segment that the longer path has more."""
    if len(longer) != len(shorter) + 1:
        return None
    place = next((i for i, each in enumerate(shorter) if longer[i] != each), len(shorter))
    if longer[place + 1 :] != shorter[place:]:
        return None
    at_end = place > 0 and place == len(longer) - 1
    return Rule("segment", named(longer[place]), "-1" if at_end else str(place))


def named(segment: str) -> str:
    """Return what a rule calls a segment: a code changes each time, all else is what it is."""
    masked = mask(segment)
    return masked if masked == CODE else segment.lower()


def _says_more(path: str) -> tuple[bool, bool]:
    """Return a key for sorting: a path that says how words are joined is more than another one."""
    return path != "", "*_*" in path or "*-*" in path


@dataclass
class Reduction:
    """The rules that act on URLs of one shape, ready to be applied."""

    rules: tuple[Rule, ...] = ()
    kinds: frozenset[str] = frozenset()
    hosts: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, set[str]] = field(default_factory=dict)
    path_parameters: set[str] = field(default_factory=set)
    values: set[tuple[str, str]] = field(default_factory=set)
    paths: dict[str, str] = field(default_factory=dict)
    segments: list[tuple[str, int]] = field(default_factory=list)
    places: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, rules: Iterable[Rule]) -> Reduction:
        """Return the reduction by some rules."""
        rules = tuple(sorted(rules))
        made = cls(rules, frozenset(rule.kind for rule in rules))
        for kind, name, value in rules:
            if kind == "host":
                made.hosts[name] = value
            elif kind == "parameter":
                made.parameters.setdefault(name, set()).add(value)
            elif kind == "value":
                made.values.add((name, value))
            elif kind == "path":
                made.paths[name] = max(made.paths.get(name, ""), value, key=_says_more)
            elif kind == "path parameter":
                made.path_parameters.add(name)
            elif kind == "segment":
                made.segments.append((name, int(value)))
            elif kind == "place":
                made.places.append(int(name))
        return made

    def apply(self, parts: Parts) -> Parts:
        """Return what is left of a URL of this shape: equal for those that differ by the rules."""
        scheme, host, segments, slash, query = parts
        if "scheme" in self.kinds:
            scheme = "https"
        host = self.hosts.get(host, host)
        if self.path_parameters:
            segments = tuple(map(self._without_parameters, segments))
        if "index" in self.kinds and _ends_in_index(segments):
            segments, slash = segments[:-1], True
        if "slash" in self.kinds:
            slash = False
        if self.segments or self.places:
            segments = self._reduced(segments)
        if "case" in self.kinds:
            segments = tuple(each.lower() for each in segments)
        if query:
            segments, slash, query = self._without_query(segments, slash, query)
        return type(parts)(scheme, host, segments, slash, query)

    def _without_query(
        self, segments: tuple[str, ...], slash: bool, query: Query
    ) -> tuple[tuple[str, ...], bool, Query]:
        """Return a path and a query without what does not matter in the query."""
        if self.parameters:
            query = tuple([pair for pair in query if not self._goes(*pair)])
        if self.values:
            query = tuple(starmap(self._masked, query))
        if not self.paths.keys().isdisjoint([name for name, _ in query]):
            for name, value in _once(query):
                if name in self.paths:
                    own, *path = _filled(self.paths[name], value).split("/")
                    segments, slash = (*(segments if own else ()), *path), False
                    query = tuple([pair for pair in query if pair[0] != name])
                    break
        if "order" in self.kinds:
            query = tuple(sorted(query))
        return segments, slash, query

    def _goes(self, name: str, value: str) -> bool:
        values = self.parameters.get(name)
        return values is not None and (ANY_VALUE in values or value in values)

    def _masked(self, name: str, value: str) -> tuple[str, str]:
        masked = mask(value)
        return name, masked if (name, masked) in self.values else value

    def _without_parameters(self, segment: str) -> str:
        if ";" not in segment:
            return segment
        bare, *rest = segment.split(";")
        kept = [each for each in rest if each.partition("=")[0] not in self.path_parameters]
        return ";".join((bare, *kept))

    def _reduced(self, segments: tuple[str, ...]) -> tuple[str, ...]:
        left = list(segments)
        for place in self.places:
            if place < len(left):
                left[place] = "*"
        for name, place in self.segments:
            there = len(left) > 1 and -len(left) <= place < len(left)
            if there and named(left[place]) == name:
                del left[place]
        return tuple(left)


@lru_cache(maxsize=4096)
def reduction_by(rule: Rule) -> Reduction:
    """Return what one rule does."""
    return Reduction.of((rule,))

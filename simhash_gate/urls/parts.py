"""A URL taken apart, and the shape of its path: that which URLs of one kind of pages share."""

from __future__ import annotations

import re
from collections import OrderedDict
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection

Query = tuple[tuple[str, str], ...]


class Parts(NamedTuple):
    """The parts of a URL that can matter. A fragment never does.

    `host` has the port; `segments` are what stands between the slashes of the path, and `slash`
    tells whether one ends it; `query` are names and values as they are written, in their order.
    """

    scheme: str
    host: str
    segments: tuple[str, ...]
    slash: bool
    query: Query

    @property
    def url(self) -> str:
        """The parts as a URL."""
        path = "".join(f"/{segment}" for segment in self.segments)
        query = "&".join(f"{name}={value}" if value else name for name, value in self.query)
        end = "/" if self.slash or not path else ""
        return f"{self.scheme}://{self.host}{path}{end}{'?' if query else ''}{query}"


@lru_cache(maxsize=2048)
def parts_of(url: str) -> Parts:
    """Return the parts of a URL. What is none has what can be found of them; it never fails."""
    scheme, _, rest = url.partition("#")[0].partition("://")
    rest, _, query = rest.partition("?")
    host, _, path = rest.partition("/")
    slash = path.endswith("/")
    segments = tuple(path.removesuffix("/").split("/")) if path and path != "/" else ()
    parts = (part for part in query.split("&") if part not in ("", "=")) if query else ()
    pairs = tuple(map(_pair, parts))
    return Parts(scheme.lower(), host.rpartition("@")[2].lower(), segments, slash, pairs)


def _pair(part: str) -> tuple[str, str]:
    name, _, value = part.partition("=")
    return name, value


# Letters and digits mixed, or long and hexadecimal: nobody chose it to be read.
_MADE = re.compile(r"(?=[^/]*\d)(?=[^/]*[a-zA-Z])[0-9a-zA-Z_()-]{8,}\Z")
_HEX = re.compile(r"[0-9a-fA-F]{2,}(?:-[0-9a-fA-F]{2,})*\Z")
_WORDY = re.compile(r"[-_+.,]|%[0-9a-fA-F]{2}")
_SCRIPT = re.compile(r"\.(?:php\d?|aspx?|jsp|cgi|pl|do|cfm|py|dll|exe)\Z", re.IGNORECASE)

NUMBER, CODE, SLUG, ANY = "{number}", "{code}", "{slug}", "*"
MASKS = (NUMBER, CODE, SLUG)
AFTER = " after "
"""Stands in a shape before the highest numbers of the part of its URLs that it is not about."""
WITH = " with ?"
"""Stands in a shape before the parameter that the part of its URLs has that it is about."""
_PARTED = re.compile(f"{AFTER}|{re.escape(WITH)}")
MOST_NAMES = 16
"""Parameters by which one shape is parted."""

Numbers = tuple[int, ...]
_LONGEST_NUMBER = 18
"""Digits; more are no number that grows with time."""


@lru_cache(maxsize=8192)
def mask(segment: str) -> str:
    """Return what segments like this one share: a number, a code, a text, or the word that it is.

    >>> [mask(segment) for segment in ("2024", "a3f9c2d17b", "how-to-bake-bread", "Print")]
    ['{number}', '{code}', '{slug}', 'print']
    """
    bare = segment.partition(";")[0]
    if bare.isdigit():
        return NUMBER
    if len(bare) >= 8 and (_HEX.match(bare) and any(map(str.isdigit, bare))):
        return CODE
    if _MADE.match(bare) and not _WORDY.search(bare):
        return CODE
    if len(_WORDY.findall(bare)) > 1 or len(bare) > 24 or any(map(str.isdigit, bare)):
        return SLUG
    return bare.lower()


@lru_cache(maxsize=4096)
def numbers_in(segments: tuple[str, ...]) -> Numbers:
    """Return the numbers in a path, in their order: newer pages mostly have higher ones."""
    bare = (segment.partition(";")[0] for segment in segments)
    return tuple(
        int(each)
        for each in bare
        if each.isdecimal() and each.isascii() and len(each) <= _LONGEST_NUMBER
    )


def whole(shape: str) -> str:
    """Return the shape that a part of it was cut from; any other one as it is."""
    return _PARTED.split(shape, maxsplit=1)[0]


MOST_WORDS = 40
"""So many different words at one place of the paths of a site are names, not sections."""
MOST_PLACES = 4_096
DEEPEST = 64
"""Segments of a path that its shape tells of."""


class Shapes:
    """Learns which words of the paths of a site are sections, and gives each URL its shape.

    A shape is the host without `www.` and the path, in which numbers, codes and names are masked.
    The last part of a path is masked, but if the URL has a query and the site has few like it:
    `/search?q=x` is not `/archive?id=5`. Remembers `MOST_PLACES` places at most, of all sites.

    A shape can be cut once: URLs with higher numbers in their path have a shape of their own then.
    It can be parted by a few parameters: URLs that have one of them have a shape of their own.
    """

    def __init__(self) -> None:
        self._places: OrderedDict[str, set[str] | None] = OrderedDict()
        self._cuts: dict[str, Numbers] = {}
        self._names: dict[str, tuple[str, ...]] = {}

    def note(self, parts: Parts) -> None:
        """Learn from a URL that was fetched."""
        place = parts.host.removeprefix("www.")
        for segment in (parts.segments if parts.query else parts.segments[:-1])[:DEEPEST]:
            word = mask(segment) or "-"
            if word[0] != "{":
                known = self._places.get(place, _NONE)
                if known is _NONE:
                    known = self._places[place] = set()
                    self._forget()
                if known is None:
                    word = ANY
                elif word not in known:
                    known.add(word)
                    if len(known) > MOST_WORDS:
                        self._places[place] = None
            place = f"{place}/{word}"

    def take_over(self, shape: str) -> None:
        """Learn from a shape that was known before: its masked words are names."""
        shape, _, name = shape.partition(WITH)
        if name:
            self.split(shape, name)
        shape, after, told = shape.partition(AFTER)
        numbers = told.split("-")
        if after and all(each.isdecimal() and each.isascii() for each in numbers):
            self.cut(shape, tuple(int(each[:_LONGEST_NUMBER]) for each in numbers))
        place, *words = shape.split("/")
        for word in words:
            if word == ANY:
                self._places[place] = None
                self._forget()
            place = f"{place}/{word}"

    def of(self, parts: Parts) -> str:
        """Return the shape of a URL."""
        shape = parts.host.removeprefix("www.")
        last = len(parts.segments) - 1
        for number, segment in enumerate(parts.segments[:DEEPEST]):
            word = mask(segment) or "-"
            if word[0] != "{":
                names = number == last and not parts.query and not _SCRIPT.search(segment)
                if names or self._places.get(shape, _NONE) is None:
                    word = ANY
            shape = f"{shape}/{word}"
        shape = shape if parts.segments else f"{shape}/"
        if shape in self._names:
            parted = self.with_name(shape, [name for name, _ in parts.query])
            if parted != shape:
                return parted
        return self.part(shape, numbers_in(parts.segments)) if shape in self._cuts else shape

    def split(self, shape: str, name: str) -> bool:
        """Give URLs of a shape that have a parameter a shape of their own; tell if that is new."""
        known = self._names.get(shape, ())
        if whole(shape) != shape or name in known:
            return False
        if len(known) >= MOST_NAMES or len(self._names) >= MOST_PLACES:
            return False
        self._names[shape] = (*known, name)
        return True

    def is_split(self, shape: str) -> bool:
        """Tell whether URLs of a shape that have some parameter have a shape of their own."""
        return shape in self._names

    def with_name(self, shape: str, names: Collection[str]) -> str:
        """Return the shape of those URLs of a shape that have these parameters."""
        for name in self._names.get(shape, ()):
            if name in names:
                return f"{shape}{WITH}{name}"
        return shape

    def cut(self, shape: str, numbers: Numbers) -> bool:
        """Give URLs of a shape with higher numbers one of their own; tell if that is new."""
        if whole(shape) != shape or shape in self._cuts or len(self._cuts) >= MOST_PLACES:
            return False
        self._cuts[shape] = numbers
        return True

    def part(self, shape: str, numbers: Numbers) -> str:
        """Return the shape of those URLs of a shape that have these numbers."""
        last = self._cuts.get(shape)
        if last is None or numbers <= last:
            return shape
        return f"{shape}{AFTER}{'-'.join(map(str, last))}"

    def _forget(self) -> None:
        if len(self._places) > MOST_PLACES:
            self._places.popitem(last=False)


_NONE: set[str] = set()

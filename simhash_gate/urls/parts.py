"""A URL taken apart, and the shape of its path: that which URLs of one kind of pages share."""

from __future__ import annotations

import re
from collections import OrderedDict
from functools import lru_cache
from typing import NamedTuple

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
    pairs = tuple(_pair(part) for part in query.split("&") if part) if query else ()
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


MOST_WORDS = 40
"""So many different words at one place of the paths of a site are names, not sections."""
MOST_PLACES = 4_096


class Shapes:
    """Learns which words of the paths of a site are sections, and gives each URL its shape.

    A shape is the host without `www.` and the path, in which numbers, codes and names are masked.
    The last part of a path is masked, but if the URL has a query and the site has few like it:
    `/search?q=x` is not `/archive?id=5`. Remembers `MOST_PLACES` places at most, of all sites.
    """

    def __init__(self) -> None:
        self._places: OrderedDict[str, set[str] | None] = OrderedDict()

    def note(self, parts: Parts) -> None:
        """Learn from a URL that was fetched."""
        for place, word in self._walk(parts):
            if word[0] == "{":
                continue
            known = self._places.get(place, _NONE)
            if known is _NONE:
                known = self._places[place] = set()
                if len(self._places) > MOST_PLACES:
                    self._places.popitem(last=False)
            if known is not None:
                known.add(word)
                if len(known) > MOST_WORDS:
                    self._places[place] = None

    def of(self, parts: Parts) -> str:
        """Return the shape of a URL."""
        shape = parts.host.removeprefix("www.")
        last = len(parts.segments) - 1
        for number, segment in enumerate(parts.segments):
            word = mask(segment) or "-"
            if word[0] != "{":
                names = number == last and not parts.query and not _SCRIPT.search(segment)
                if names or self._places.get(shape, _NONE) is None:
                    word = ANY
            shape = f"{shape}/{word}"
        return shape if parts.segments else f"{shape}/"

    def _walk(self, parts: Parts) -> list[tuple[str, str]]:
        place = parts.host.removeprefix("www.")
        found = []
        last = len(parts.segments) - 1
        for number, segment in enumerate(parts.segments):
            word = mask(segment) or "-"
            if number == last and not parts.query:
                break
            found.append((place, word))
            if word[0] != "{" and self._places.get(place, _NONE) is None:
                word = ANY
            place = f"{place}/{word}"
        return found


_NONE: set[str] = set()

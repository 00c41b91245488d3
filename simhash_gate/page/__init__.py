"""Bytes of a page -> what it says: `Page`, and the modules that read one.

The other names below are imported when they are first used: a crawl's own process has pages, and
must not load what reads them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

import mmh3

if TYPE_CHECKING:
    from simhash_gate.page.clean import Cleaned
    from simhash_gate.page.extract import Article, Extractor, ReadabilityExtractor, SteadyExtractor
    from simhash_gate.page.facts import Kind

__all__ = ["Article", "Cleaned", "Extractor", "Page", "ReadabilityExtractor", "SteadyExtractor"]

LeftOut = Literal["links", "images"]
"""What Markdown can do without."""

_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d[\d:.,]*\s?(?:Z|[+-]\d\d(?::?\d\d)?)?)?")
_WHOLE = {"STRICT_PARSING": True, "PARSERS": ["absolute-time"], "DEFAULT_LANGUAGES": ["en"]}
_LEFT_OUT = {"links": "a", "images": "img"}
METADATA = ("author", "date", "language", "site", "description")
"""What a corpus has of a page beside its title, as the page itself says it."""
UNREADABLE = "unreadable:"
"""What the reason of a page begins with that could not be read."""


def _iso(text: str, language: str | None) -> str:
    """Return the whole date that a text is, in ISO 8601; "" for none, and for a day to come."""
    if not _ISO.fullmatch(text):
        from dateparser import data, parse  # loaded for what people write alone

        own, _, region = (language or "").partition("-")
        known = [own.lower() if own.lower() in data.language_order else "en"]
        text = str(parse(text, languages=known, region=region.upper(), settings=_WHOLE) or "")[:10]
    return text if text[:10] <= str(date.today() + timedelta(1)) else ""


@dataclass(frozen=True)
class Page:
    """What the pipeline makes of one response.

    `words` is a count, without the lines that tell of the page itself (clocks, counters), unless
    there is nothing else. `fingerprint` is 64 bits unsigned, or None, and then `reason` says why.
    `digest` is an unsigned 64-bit hash of the words that last, on a short page with its dates and
    the names of its images, and 0 for none. `listing`: it is mostly links to others. `sketch` is
    what tells it from others that look alike, as `Sketch.encode` writes it. `lines` are the words
    of its article, normalised, a line for each block, in UTF-8, and then what is said between these
    and was left out of it. `kind`, `author`, `price` (`19.99 EUR`), `language` (`en-GB`), `site`
    and `description` are what it says of itself, or None. `dated` says when it was published, a
    line each, best first. `url` is where it was read from, without user name and password.
    `article` is what its Markdown is made from, as `Flow.pack` writes it. `anchors` are all of its
    links, as `pack_anchors` writes them, if asked for. `structure` is the SimHash of the paths of
    its tags, an unsigned 64-bit number, and 0 for none; a list of 5 entries and one of 50 have the
    same. `targets` are the addresses that it links to, a line each, without mail and fragments and
    without what counts visitors. Both are of all that the page shows, its boilerplate included.
    `canonical` are the URLs that it calls its own, a line each. `without` is what its Markdown
    leaves out.
    """

    title: str
    words: int
    fingerprint: int | None
    digest: int
    listing: bool
    reason: str | None
    sketch: bytes = b""
    lines: bytes = field(default=b"", repr=False)
    kind: Kind | None = None
    author: str | None = None
    price: str | None = None
    language: str | None = None
    site: str | None = None
    description: str | None = None
    dated: str = field(default="", repr=False)
    url: str = ""
    article: bytes = field(default=b"", repr=False)
    structure: int = 0
    targets: str = field(default="", repr=False)
    canonical: str = ""
    anchors: bytes = field(default=b"", repr=False)
    without: tuple[LeftOut, ...] = ()

    @cached_property
    def markdown(self) -> str:
        """The article as Markdown, made when it is first asked for; its links are absolute."""
        return self.markdown_without(*self.without)

    def markdown_without(self, *what: LeftOut) -> str:
        """Return the Markdown without its links, of which the text stays, its images, or both."""
        if unknown := {*what} - {*_LEFT_OUT}:
            raise ValueError(f"expected 'links' or 'images', not {unknown.pop()!r}")
        if not self.article:
            return ""
        from simhash_gate.page.flow import unpack
        from simhash_gate.page.markdown import write

        return write(unpack(self.article), self.url, {_LEFT_OUT[each] for each in what})

    @cached_property
    def date(self) -> str | None:
        """When it was published, in ISO 8601, read when it is first asked for; None if unknown."""
        return next(filter(None, (_iso(it, self.language) for it in self.dated.split("\n"))), None)

    @property
    def said(self) -> str:
        """The words of its article, and of what else it can be told by."""
        return f"\n{self.lines.decode()}\n".partition("\n\n")[0].strip("\n")

    @property
    def links(self) -> int:
        """A hash of the targets of its links, an unsigned 64-bit number; 0 without any."""
        return mmh3.hash64(self.targets.encode("utf-8", "surrogatepass"), signed=False)[0]

    @property
    def all_links(self) -> tuple[tuple[str, str], ...]:
        """The links of the whole page, if the options ask for them: of each its URL and text."""
        if not self.anchors:
            return ()
        from simhash_gate.page.skeleton import read_anchors

        return read_anchors(self.anchors, self.url)

    @property
    def weight(self) -> int:
        """Bytes of what is known of it beside its title."""
        return sum(map(len, (self.sketch, self.lines, self.article, self.anchors, self.targets)))

    @property
    def unreadable(self) -> bool:
        """Whether reading failed, which an empty page is no case of."""
        return (self.reason or "").startswith(UNREADABLE)


def __getattr__(name: str) -> Any:
    if name in __all__:
        home = "clean" if name == "Cleaned" else "extract"
        return getattr(import_module(f"simhash_gate.page.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""What a page has to say, before any design gives it a look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from crawler.site.articles import Article, Block
from crawler.site.prose import Writer, grammar

EDITIONS = ("ar", "de", "zh")
SECTIONS = (*grammar("en").topics(), *EDITIONS)
DESIGNS = ("table", "semantic", "hashed")
STATIC = ("about", "contact", "imprint", "privacy", "terms")
PAGE_SIZE = 20
TITLE = "The Daily Miniature"


class Link(NamedTuple):
    """A link on this site, with its text; one with `session` gets a session id when it is shown."""

    href: str
    text: str
    teaser: str = ""
    session: bool = False


@dataclass(frozen=True, kw_only=True)
class Content:
    """A page's own part: blocks of text on a story, entries on a listing.

    `formats` are other views of a story, or the pager of a listing. An article page also has its
    article. `session` tells that the URL carried a session id.
    """

    title: str
    language: str = "en"
    design: str = "semantic"
    blocks: tuple[Block, ...] = ()
    entries: tuple[Link, ...] = ()
    formats: tuple[Link, ...] = ()
    related: tuple[Link, ...] = ()
    article: Article | None = None
    version: int = 0
    session: bool = False
    late_comment: bool = False


def design_of(section: str) -> str:
    """Return the design a section has by now: a third of them has not moved yet."""
    return DESIGNS[SECTIONS.index(section) % len(DESIGNS)]


def also(href: str, query: str) -> str:
    """Return a URL with another parameter, like a=1, at its end."""
    return f"{href}{'&' if '?' in href else '?'}{query}"


def paged(path: str, entries: Sequence[Link], size: int) -> dict[str, tuple[Link, ...]]:
    """Return the entries of a list by the URL of the page that they are on; one page at least."""
    starts = range(0, max(1, len(entries)), size)
    return {
        also(path, f"page={i + 1}") if i else path: tuple(entries[start : start + size])
        for i, start in enumerate(starts)
    }


def listing(
    path: str,
    title: str,
    entries: Sequence[Link],
    *,
    design: str = "semantic",
    size: int = PAGE_SIZE,
    pages: int = 10_000,
) -> dict[str, Content]:
    """Return the pages of a list by their URL; `path` is that of the first one.

    A pager names the first page, the last one, and the neighbours.
    """
    parts = list(paged(path, entries, size).items())[:pages]
    found = {}
    for i, (href, part) in enumerate(parts):
        near = range(max(0, i - 2), min(len(parts), i + 3))
        found[href] = Content(
            title=title if i == 0 else f"{title} – {i + 1}",
            language=path[1:] if path[1:] in EDITIONS else "en",
            design=design,
            entries=part,
            formats=tuple(
                Link(parts[j][0], str(j + 1)) for j in sorted({0, len(parts) - 1, *near})
            ),
            related=part[:8],
        )
    return found


def small_pages(seed: int) -> dict[str, Content]:
    """Return the pages that tell of the site itself, by URL."""
    found = {}
    for name in STATIC:
        writer = Writer("en", "business", Random(f"{seed}/{name}"))
        text = tuple(Block("p", tuple(writer.several("sentence", 3))) for _ in range(5))
        found[f"/{name}"] = Content(title=name.title(), blocks=text)
    return found


def not_found(path: str, links: tuple[Link, ...], design: str = "semantic") -> Content:
    """Return the page of what is not there."""
    text = f"Sorry, we could not find {path}. It may have been moved, renamed or deleted."
    blocks = (Block("p", (text,)),)
    return Content(title="Page not found", blocks=blocks, related=links, design=design)

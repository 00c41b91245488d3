"""What a page has to say, before any design gives it a look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple

from crawler.site.articles import Article, Block, Version
from crawler.site.prose import TOPICS, Writer

EDITIONS = ("ar", "de", "zh")
SECTIONS = (*TOPICS, *EDITIONS)
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

    @classmethod
    def to(cls, article: Article, href: str = "") -> Link:
        """Return the link to an article that lists and boxes show, under one of its URLs."""
        headline, _, lede = article.opening
        return cls(href or article.path, headline, lede)


MENU = [Link(f"/{name}", name.title()) for name in SECTIONS]


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
    session: bool = False
    late_comment: bool = False

    @classmethod
    def of(cls, article: Article, version: Version, **more: Any) -> Content:
        """Return the page of a version of an article."""
        more |= {"title": version.headline, "blocks": version.blocks}
        return cls(language=article.language, article=article, **more)


def design_of(section: str) -> str:
    """Return the design a section has by now: a third of them has not moved yet."""
    return DESIGNS[SECTIONS.index(section) % len(DESIGNS)]


def also(href: str, query: str) -> str:
    """Return a URL with another parameter, like a=1, at its end."""
    return f"{href}{'&' if '?' in href else '?'}{query}"


def paged(path: str, entries: Sequence[Link], size: int) -> dict[str, tuple[Link, ...]]:
    """Return the entries of a list by the URL of the page that they are on; one page at least."""
    return {
        also(path, f"page={start // size + 1}") if start else path: tuple(entries[start:][:size])
        for start in range(0, max(1, len(entries)), size)
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
    last = len(parts) - 1
    return {
        href: Content(
            title=f"{title} – {i + 1}" if i else title,
            language=path[1:] if path[1:] in EDITIONS else "en",
            design=design,
            entries=part,
            formats=tuple(
                Link(parts[j][0], str(j + 1))
                for j in range(last + 1)
                if j in (0, last) or abs(i - j) <= 2
            ),
            related=part[:8],
        )
        for i, (href, part) in enumerate(parts)
    }


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

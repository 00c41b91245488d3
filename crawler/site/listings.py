"""Lists of links in pages of twenty or so, and the small pages that every site has."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from crawler.site.articles import Block
from crawler.site.content import Content, Link
from crawler.site.prose import Writer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

EDITIONS = ("ar", "de", "zh")
STATIC = ("about", "contact", "imprint", "privacy", "terms")
PAGE_SIZE = 20


def listing(
    path: str,
    title: str,
    entries: Sequence[Link],
    *,
    design: str = "semantic",
    size: int = PAGE_SIZE,
    pages: int = 10_000,
) -> dict[str, Content]:
    """Return the pages of a list by their URL; `path` is that of the first one."""
    parts = [tuple(entries[i : i + size]) for i in range(0, len(entries), size)][:pages] or [()]
    also = "&" if "?" in path else "?"
    hrefs = [path if i == 0 else f"{path}{also}page={i + 1}" for i in range(len(parts))]
    return {
        hrefs[i]: Content(
            title=title if i == 0 else f"{title} – {i + 1}",
            language=path[1:] if path[1:] in EDITIONS else "en",
            design=design,
            entries=part,
            formats=tuple(Link(hrefs[j], str(j + 1)) for j in _near(i, len(parts))),
            related=part[:8],
        )
        for i, part in enumerate(parts)
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


def _near(page: int, count: int) -> Iterable[int]:
    """Return the pages that a pager names: the first, the last, and the neighbours."""
    return sorted({0, count - 1, *range(max(0, page - 2), min(count, page + 3))})

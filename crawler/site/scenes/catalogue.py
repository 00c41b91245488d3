"""Which sites there are, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.site.scenes.aliases import Aliases
from crawler.site.scenes.facets import Facets
from crawler.site.scenes.trap_paths import Calendar, Maze, Path, SessionPath, Soft404
from crawler.site.scenes.trap_queries import Filters, ReplyToCom, Sort
from crawler.site.scenes.variants import Partial, Print, Sessions, Tracking, Turning
from crawler.site.site import Site
from crawler.site.year.site import YearSite

if TYPE_CHECKING:
    from crawler.site.answering import Answering
    from crawler.site.scenes.scene import Scene
    from crawler.site.scenes.trap import Trap

VARIANTS: dict[str, type[Scene]] = {
    "tracking": Tracking,
    "sessions": Sessions,
    "print": Print,
    "facets": Facets,
    "aliases": Aliases,
    "partial": Partial,
    "turning": Turning,
}
TRAPS: dict[str, type[Trap]] = {
    "calendar": Calendar,
    "filters": Filters,
    "path": Path,
    "session-path": SessionPath,
    "sort": Sort,
    "soft404": Soft404,
    "maze": Maze,
    "replytocom": ReplyToCom,
}
SCENES: dict[str, type[Scene]] = {**VARIANTS, **TRAPS}


def make_site(urls: str, articles: int, seed: int, days: int = 0) -> Answering:
    """Return the site of a scenario, a year of `days`, or the news and the shop."""
    if days:
        return YearSite(articles, seed, days)
    return SCENES[urls](articles, seed) if urls else Site(articles, seed)

"""Which sites there are, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.site.scenes.traps import Calendar, Maze, Path
from crawler.site.scenes.variants import Partial, Print, Tracking
from crawler.site.site import Site

if TYPE_CHECKING:
    from crawler.site.answering import Answering
    from crawler.site.scenes.scene import Scene
    from crawler.site.scenes.traps import Trap

VARIANTS: dict[str, type[Scene]] = {"tracking": Tracking, "print": Print, "partial": Partial}
TRAPS: dict[str, type[Trap]] = {"calendar": Calendar, "maze": Maze, "path": Path}
SCENES: dict[str, type[Scene]] = {**VARIANTS, **TRAPS}


def make_site(urls: str, articles: int, seed: int) -> Answering:
    """Return the site of a scenario, or the news and the shop if none is named."""
    return SCENES[urls](articles, seed) if urls else Site(articles, seed)

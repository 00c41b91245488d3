"""Sites for what URLs do to a crawl: variants that make no difference, and traps without an end.

`python -m crawler.site --urls tracking` serves one of them on loopback.
"""

from __future__ import annotations

from crawler.site.answering import Answering
from crawler.site.news import Site
from crawler.site.scenes.scene import Scene
from crawler.site.scenes.traps import TRAPS
from crawler.site.scenes.variants import VARIANTS
from crawler.site.year_site import YearSite

SCENES: dict[str, type[Scene]] = {**VARIANTS, **TRAPS}


def make_site(urls: str, articles: int, seed: int, days: int = 0) -> Answering:
    """Return the site of a scenario, a year of `days`, or the news and the shop."""
    if days:
        return YearSite(articles, seed, days)
    return SCENES[urls](articles, seed) if urls else Site(articles, seed)

"""Sites whose pages have several URLs each.

`python -m crawler.site --urls tracking` serves one of them on loopback.
"""

from __future__ import annotations

from crawler.site.answering import Answering
from crawler.site.news import Site
from crawler.site.scenes.variants import SCENES
from crawler.site.year_site import YearSite


def make_site(urls: str, articles: int, seed: int, days: int = 0) -> Answering:
    """Return the site of a scenario, a year of `days`, or the news and the shop."""
    if days:
        return YearSite(articles, seed, days)
    return SCENES[urls](articles, seed) if urls else Site(articles, seed)

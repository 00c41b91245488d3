"""Lists that are sorted, filtered and shown in several ways, of which some say nothing."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from crawler.site.content import Content, Link
from crawler.site.listings import PAGE_SIZE
from crawler.site.scenes.address import also, with_query
from crawler.site.scenes.scene import DESIGNS, Found, Scene, dated

if TYPE_CHECKING:
    from random import Random

    from crawler.site.articles import Article
    from crawler.site.scenes.address import Address

VIEWS = {"grid": "hashed", "list": "semantic", "compact": "table"}
NAMES = ("year", "length", "sort", "view", "page")
SORTS = ("", "oldest", "title")
LENGTHS = ("short", "long")
LONG = 300


class Facets(Scene):
    """Sections have facets: `year`, `length`, `sort` and `page` matter, `view` and `from` do not.

    `page=1` is what is shown without it.
    """

    def __init__(self, articles: int, seed: int) -> None:
        self.shelved: dict[str, list[Article]] = {}
        super().__init__(articles, seed)
        for article in self.articles:
            self.shelved.setdefault(f"/{article.section}", []).append(article)

    def base(self, article: Article) -> str:
        """Return the plain URL of an article."""
        return dated(article)

    def variants(self, article: Article, rng: Random) -> list[str]:
        """Return the URL as some lists have it."""
        places = rng.sample(["home", "section", "tag"], rng.randint(0, 2))
        return [also(self.base(article), f"from={place}") for place in places]

    def plain(self, address: Address) -> str:
        """Return the URL without what makes no difference."""
        return address.without({"from", "view"}).plain()

    def find(self, address: Address, hit: int) -> Found | None:
        """Return what an address shows."""
        if address.path.removeprefix("/") in self.sections:
            return self.section(address)
        return super().find(address, hit)

    def section(self, address: Address) -> Found | None:
        """Return one page of a section as its facets say; None if it has no such page."""
        shelved = self.shelved.get(address.path, [])
        newest = max((article.published.year for article in shelved), default=2024)
        year, length = address.first("year", str(newest)), address.first("length")
        sort, view = address.first("sort"), address.first("view")
        number = address.first("page", "1")
        chosen = [a for a in shelved if str(a.published.year) == year and _fits(a, length)]
        chosen.sort(key=lambda a: (a.opening[0] if sort == "title" else "", a.published, a.number))
        if not sort:
            chosen.reverse()
        pages = max(1, -(-len(chosen) // PAGE_SIZE))
        if not number.isdecimal() or not 1 <= int(number) <= pages:
            return None
        start = (int(number) - 1) * PAGE_SIZE
        shown = [self.link(a, f"section/{a.number}") for a in chosen[start : start + PAGE_SIZE]]
        name = address.path.removeprefix("/")
        page = Content(
            title=name.title(),
            language=name if name in ("ar", "de", "zh") else "en",
            design=VIEWS.get(view) or DESIGNS[self.sections.index(name) % len(DESIGNS)],
            entries=tuple(shown),
            formats=tuple(self._ways(address, shelved, year, pages)),
        )
        entries = "\n".join(link.href for link in shown)
        return Found(page, f"{address.path}#{zlib.crc32(entries.encode()):08x}")

    def _ways(self, address: Address, shelved: list[Article], year: str, pages: int) -> list[Link]:
        """Return the links of a list to other facets, one changed in each."""
        chosen = [article for article in shelved if str(article.published.year) == year]
        lengths = [length for length in LENGTHS if any(_fits(a, length) for a in chosen)]
        years = sorted({str(article.published.year) for article in shelved})
        return [
            *(self._way(address, "sort", sort) for sort in SORTS if len(chosen) > 1),
            *(self._way(address, "length", length) for length in lengths),
            *(self._way(address, "year", year if year != years[-1] else "") for year in years),
            *(self._way(address, "view", view) for view in VIEWS),
            *(self._way(address, "page", str(page + 1)) for page in range(pages) if pages > 1),
        ]

    def _way(self, address: Address, name: str, value: str) -> Link:
        """Return the link that changes one facet; what it turns up begins at its first page."""
        kept = {**dict(address.query), name: value}
        if name not in ("view", "page"):
            kept["page"] = ""
        if name == "year":
            kept["length"] = ""
        query = {key: kept[key] for key in NAMES if kept.get(key)}
        return Link(with_query(address.path, query), value or "all")


def _fits(article: Article, length: str) -> bool:
    if length not in LENGTHS:
        return True
    return (len(article.versions[0].words()) >= LONG) == (length == "long")

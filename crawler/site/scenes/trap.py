"""What all sites with a trap have: articles beside it, and doors into it."""

from __future__ import annotations

from abc import abstractmethod
from random import Random
from typing import TYPE_CHECKING

from crawler.site.content import Content, Link
from crawler.site.listings import listing
from crawler.site.scenes.scene import Found, Scene, dated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.site.articles import Article
    from crawler.site.scenes.address import Address


class Trap(Scene):
    """Articles with one URL each, and a trap; some of them are linked behind its doors alone.

    A door stands in the middle of the home page and of each section, and before the features: a
    tenth of the articles, which no other list has.
    """

    door = Link("/", "")
    """Where the trap begins."""

    def base(self, article: Article) -> str:
        """Return the only URL of an article."""
        return dated(article)

    def doors(self) -> Sequence[Link]:
        """Return the way in."""
        return (self.door,)

    def shelf(self, article: Article) -> str:
        """Return the section of an article, or the features."""
        return "/features" if article.number % 10 == 3 else super().shelf(article)

    def make_shelves(self, by_list: dict[str, list[Link]]) -> None:
        """Make the features, whose first page has the door before its entries."""
        entries = [self.door, *by_list.pop("/features", [])]
        self.lists |= listing("/features", "Features", entries)
        self.more.append(Link("/features", "Features"))
        super().make_shelves(by_list)

    def elsewhere(self, address: Address, hit: int) -> Found | None:
        """Return a page of the trap."""
        page = self.inside(address, self.random(address))
        return Found(page, str(address), trap=True) if page else None

    @abstractmethod
    def inside(self, address: Address, rng: Random) -> Content | None:
        """Return the page of the trap at an address; None if the trap has none there."""

    def random(self, address: Address) -> Random:
        """Return the random generator of an address: the same at each visit."""
        return Random(f"{self.seed}/trap/{address}")

    def teasers(self, rng: Random, count: int = 8) -> tuple[Link, ...]:
        """Return links to some articles."""
        chosen = rng.sample(self.articles, min(count, len(self.articles)))
        return tuple(self.link(article, "trap") for article in chosen)

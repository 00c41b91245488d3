"""The shop as a function from a path to a page and what it offers."""

from __future__ import annotations

from typing import NamedTuple

from crawler.site.shop import shopify
from crawler.site.shop.plan import Plan
from crawler.site.shop.sheet import Sheet, printed


class Page(NamedTuple):
    """A page of the shop; number and offer are blank on a list."""

    html: str
    product: str = ""
    offer: str = ""


class Shop:
    """Answers for its addresses."""

    def __init__(self, articles: int, seed: int) -> None:
        self.seed = seed
        self.plan = Plan(articles, seed)

    @property
    def numbers(self) -> set[str]:
        """The numbers of all that is sold: each variant has one."""
        return {variant.sku for good in self.plan.goods for variant in good.variants}

    def page(self, path: str, live: int) -> Page | None:
        """Return the page at a path, which was served `live` times before; None if none is."""
        if shelf := self.plan.shelves.get(path):
            sheet = Sheet(shelf, self.plan, self.seed, path, live)
            render = printed if shelf.kind == "print" else shopify.product
            return Page(render(sheet), shelf.offer.variant.sku, shelf.offer.id)
        if content := self.plan.lists.get(path):
            return Page(shopify.listing(content, self.plan.menus[content.department]))
        return None

"""Which URLs the shop has: an offer under several of them, and lists that lead to all."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, NamedTuple

from crawler.site.content import Link
from crawler.site.prose import Writer
from crawler.site.shop.goods import DEPARTMENTS, Good, Offer, make_goods

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HOME = "/store/"
NOTES = ("Shipping", "Exchanges and returns", "Size guide", "Washing", "Payment", "About us")
"""What has a long text on every page of a product."""
SOURCES = ["newsletter", "comparison", "ads", "partner"]


class Shelf(NamedTuple):
    """One URL of an offer; `kind` says why there is one more."""

    href: str
    offer: Offer
    kind: str
    category: str = ""


class List(NamedTuple):
    """One page of a list of offers, with the links to its other pages."""

    department: str
    title: str
    entries: tuple[Link, ...]
    pager: tuple[Link, ...] = ()


class Plan:
    """The shop by URL: `shelves` show an offer, `lists` lead there; `menus` are of departments."""

    def __init__(self, articles: int, seed: int) -> None:
        self.goods = make_goods(seed, articles)
        writer = Writer("en", "business", Random(f"{seed}/notes"))
        self.notes = tuple((each, tuple(writer.several("sentence", 9))) for each in NOTES)
        self.shelves: dict[str, Shelf] = {}
        self.lists: dict[str, List] = {}
        self.menus: dict[str, tuple[Link, ...]] = {}
        self.by_department: dict[str, list[Good]] = {
            name: [good for good in self.goods if good.department == name] for name in DEPARTMENTS
        }
        for good in self.goods:
            rng = Random(f"{seed}/shelves/{good.slug}")
            self.shelves.update((shelf.href, shelf) for shelf in shelves(good, rng))
        for department in DEPARTMENTS:
            self.menus[department] = tuple(self._department(department))
        homes = tuple(Link(f"{HOME}{name}/", name.title()) for name in DEPARTMENTS)
        self.lists[HOME] = List("workshop", "The Miniature Store", homes)

    @property
    def offers(self) -> set[str]:
        """All that is offered anywhere in the shop."""
        return {shelf.offer.id for shelf in self.shelves.values()}

    def link(self, good: Good, href: str = "") -> Link:
        """Return the link to a product that lists and boxes show."""
        price = f"from {Offer(good, good.variants[0]).price} €"
        return Link(href or main(good), good.name, price)

    def _department(self, department: str) -> Iterator[Link]:
        """Make the lists of a department; yield the links of its menu."""
        goods = self.by_department[department]
        own = [s for s in self.shelves.values() if s.offer.good.department == department]
        home = f"{HOME}{department}/"
        self.lists[home] = List(department, department.title(), tuple(map(self.link, goods[:8])))
        yield Link(home, department.title())
        for category in [*DEPARTMENTS[department], "sale"]:
            entries = [
                self.link(shelf.offer.good, shelf.href)._replace(teaser=f"{shelf.offer.price} €")
                for shelf in own
                if shelf.category == category
            ]
            href = f"{home}collections/{category}"
            yield self._list(department, href, category.title(), entries, size=6)
        everything = [
            Link(shelf.href, f"{shelf.offer.good.name} {shelf.offer.variant.name} ({shelf.kind})")
            for shelf in own
        ]
        href = f"{home}collections/all"
        yield self._list(department, href, "All of our pages", everything, size=30)

    def _list(
        self, department: str, href: str, title: str, entries: Sequence[Link], *, size: int
    ) -> Link:
        """Add a list with its pages; return the link to the first one."""
        parts = [tuple(entries[i : i + size]) for i in range(0, len(entries), size)] or [()]
        hrefs = [href, *(f"{href}?page={i + 2}" for i in range(len(parts) - 1))]
        pager = tuple(Link(other, str(i + 1)) for i, other in enumerate(hrefs))
        for page, part in zip(hrefs, parts, strict=True):
            self.lists[page] = List(department, title, part, pager)
        return Link(href, title)


def main(good: Good, category: str = "") -> str:
    """Return the address of a product, of its own or in a category."""
    inside = f"collections/{category}/" if category else ""
    return f"{HOME}{good.department}/{inside}products/{good.slug}"


def with_query(href: str, query: str) -> str:
    """Return the address with one more part of a query."""
    return f"{href}{'&' if '?' in href else '?'}{query}"


def shown(offer: Offer, category: str = "") -> str:
    """Return the address that shows an offer: its variant by number, if there are several."""
    href = main(offer.good, category)
    several = len(offer.good.variants) > 1
    return with_query(href, f"variant={offer.variant.number}") if several else href


def shelves(good: Good, rng: Random) -> Iterator[Shelf]:
    """Yield all URLs of a product, its main one first.

    What a page says of a price hangs on its URL alone, so that it is the same in every crawl: under
    the sale the price has fallen, and elsewhere it has not yet.
    """
    first = Offer(good, good.variants[0])
    yield Shelf(main(good), first, "product")
    yield Shelf(main(good, good.category), first, "category", good.category)
    for variant in good.variants:
        offer = Offer(good, variant)
        href = shown(offer)
        if variant.name:
            yield Shelf(href, offer, "variant")
        if rng.random() < 0.4:
            number = rng.randint(1, 99)
            tracked = f"utm_source={rng.choice(SOURCES)}&utm_medium=link&utm_campaign={number}"
            if rng.random() < 0.4:
                tracked = f"gclid=Cj0K{rng.getrandbits(80):020x}"
            yield Shelf(with_query(href, tracked), offer, "tracking")
        if rng.random() < 0.4:
            yield Shelf(with_query(href, f"rec={rng.randint(1, 9)}"), offer, "related")
        if rng.random() < 0.35:
            yield Shelf(with_query(href, "print=1"), offer, "print")
        if good.on_sale:
            reduced = offer._replace(reduced=True)
            yield Shelf(shown(reduced, "sale"), reduced, "sale", "sale")
            if rng.random() < 0.3:
                href = with_query(shown(reduced, "sale"), f"rec={rng.randint(1, 9)}")
                yield Shelf(href, reduced, "related")

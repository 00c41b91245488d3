"""What the shop's themes put on a page."""

from __future__ import annotations

import json
from html import escape
from random import Random
from typing import TYPE_CHECKING

from crawler.site.shop.goods import CURRENCY, Offer, Variant
from crawler.site.shop.plan import main, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.site.content import Link
    from crawler.site.shop.plan import Plan, Shelf

SCHEMA = "https://schema.org/"


class Sheet:
    """The page of a product. `live` counts how often the path was served before.

    As on the site's other pages, all that changes from response to response hangs on path and
    `live`.
    """

    def __init__(self, shelf: Shelf, plan: Plan, seed: int, path: str, live: int) -> None:
        self.shelf = shelf
        self.path = path
        self.offer = shelf.offer
        self.good, self.variant = shelf.offer.good, shelf.offer.variant
        self.rng = Random(f"{seed}/store/{path}/{live}")
        self.name = escape(self.good.name)
        self.menu = plan.menus[self.good.department]
        self.notes = plan.notes
        self.canonical = main(self.good)
        others = [good for good in plan.by_department[self.good.department] if good != self.good]
        self.related = [plan.link(good) for good in self.rng.sample(others, min(4, len(others)))]
        taste = Random(f"{seed}/ratings/{self.good.slug}")
        self.rating = f"{taste.randint(34, 50) / 10:.1f}"
        self.ratings = taste.randint(3, 160)

    @property
    def description(self) -> str:
        """What is said of the product, in one text."""
        return escape(" ".join(self.good.description))

    @property
    def availability(self) -> str:
        """The availability as schema.org names it."""
        return f"{SCHEMA}{'InStock' if self.variant.stock else 'OutOfStock'}"

    @property
    def was(self) -> str:
        """The price before the sale; blank elsewhere."""
        return Offer(self.good, self.variant).price if self.offer.reduced else ""

    def variants(self) -> Iterable[tuple[Variant, str]]:
        """Return the variants to choose from, with their addresses; none where there is one."""
        category = self.shelf.category if self.shelf.category == "sale" else ""
        for variant in self.good.variants if self.variant.name else ():
            yield variant, escape(shown(self.offer._replace(variant=variant), category))

    def data(self, **more: object) -> str:
        """Return what JSON-LD says of the product and this offer of it, as a script."""
        offer = {
            "@type": "Offer",
            "price": self.offer.price,
            "priceCurrency": CURRENCY,
            "availability": self.availability,
            "url": shown(self.offer, "sale" if self.offer.reduced else ""),
        }
        known: dict[str, object] = {
            "@context": SCHEMA,
            "@type": "Product",
            "name": self.good.name,
            "sku": self.variant.sku,
            "description": " ".join(self.good.description),
            "image": "/img/001.png",
            "offers": [offer],
            **more,
        }
        return script(known)


def script(data: object, kind: str = "application/ld+json") -> str:
    """Return data as a script."""
    return f'<script type="{kind}">{json.dumps(data)}</script>'


def items(links: Iterable[Link], css: str = "") -> str:
    """Return links as list items."""
    attribute = f' class="{css}"' if css else ""
    return "".join(
        f'<li{attribute}><a href="{escape(link.href)}">{escape(link.text)}</a></li>'
        for link in links
    )


def paragraphs(texts: Iterable[str]) -> str:
    """Return texts as paragraphs."""
    return "".join(f"<p>{escape(text)}</p>" for text in texts)


def printed(sheet: Sheet) -> str:
    """Return the view to print: the product and the notes, no boxes, and where it came from."""
    chosen = escape(sheet.variant.name)
    facts = "".join(f"<tr><td>{k}</td><td>{escape(v)}</td></tr>" for k, v in sheet.good.facts)
    notes = "".join(f"<h2>{heading}</h2>{paragraphs(said)}" for heading, said in sheet.notes)
    return f"""\
<!DOCTYPE html><html lang="en"><head><title>Print: {sheet.name}</title>
<meta name="robots" content="noindex"><link rel="canonical" href="{sheet.canonical}"></head>
<body onload="window.print()"><h1>{sheet.name}</h1>
<p>{sheet.offer.price} € {f"({chosen})" if chosen else ""}</p>
<p>Item no. {sheet.variant.sku}</p><p>{sheet.description}</p><table>{facts}</table>
{notes}<p>Printed from The Miniature Store</p></body></html>"""

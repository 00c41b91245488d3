"""A shop of three departments, in the markup of a shop system.

What its pages repeat is long, and what they say of a product is short: products differ in name,
number and price, variants of one in number, price and the option that is chosen.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from html import escape
from random import Random
from typing import NamedTuple

from crawler.site.chrome import anchors
from crawler.site.content import Link, also, paged
from crawler.site.goods import CURRENCY, DEPARTMENTS, Good, Offer, make_goods
from crawler.site.prose import Writer

HOME = "/store/"
NOTES = ("Shipping", "Exchanges and returns", "Size guide", "Washing", "Payment", "About us")
"""What has a long text on every page of a product."""
SOURCES = ["newsletter", "comparison", "ads", "partner"]
SCHEMA = "https://schema.org/"
CARD = (
    '<li class="grid__item"><div class="card-wrapper product-card-wrapper"><div class="card">'
    '<h3 class="card__heading"><a href="{}" class="full-unstyled-link">{}</a></h3>'
    '<div class="price">{}</div></div></div></li>'
)


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


class Shop:
    """The shop by URL: `shelves` show an offer, `lists` lead there; `menus` are of departments.

    `numbers` are those of all variants that are sold, `offers` are the ids of all offers.
    """

    def __init__(self, articles: int, seed: int) -> None:
        self.seed = seed
        self.goods = make_goods(seed, articles)
        write = Writer("en", "business", Random(f"{seed}/notes")).write
        self.notes = [
            (note, "".join(f"<p>{escape(write('sentence'))}</p>" for _ in range(9)))
            for note in NOTES
        ]
        self.shelves = {
            shelf.href: shelf
            for good in self.goods
            for shelf in shelves(good, Random(f"{seed}/shelves/{good.slug}"))
        }
        self.numbers = {variant.sku for good in self.goods for variant in good.variants}
        self.offers = {shelf.offer.id for shelf in self.shelves.values()}
        homes = tuple(Link(f"{HOME}{name}/", name.title()) for name in DEPARTMENTS)
        self.lists = {HOME: List("workshop", "The Miniature Store", homes)}
        self.menus = {name: list(self._department(name)) for name in DEPARTMENTS}

    def page(self, path: str, live: int) -> tuple[str, str, str] | None:
        """Return a page, the number of its product, and its offer; None if the shop has it not.

        All that changes from response to response hangs on the path and on `live`, which counts how
        often it was served before. On a list, number and offer are blank.
        """
        if shelf := self.shelves.get(path):
            rng = Random(f"{self.seed}/store/{path}/{live}")
            html = self._printed(shelf) if shelf.kind == "print" else self._shown(shelf, rng)
            return html, shelf.offer.variant.sku, shelf.offer.id
        if content := self.lists.get(path):
            return self._listed(content), "", ""
        return None

    def _department(self, department: str) -> Iterator[Link]:
        """Make the lists of a department; yield the links of its menu."""
        goods = [good for good in self.goods if good.department == department]
        own = [s for s in self.shelves.values() if s.offer.good.department == department]
        home = f"{HOME}{department}/"
        self.lists[home] = List(department, department.title(), tuple(map(link_to, goods[:8])))
        yield Link(home, department.title())
        lists = {
            (category, category.title(), 6): [
                Link(shelf.href, shelf.offer.good.name, f"{shelf.offer.price} €")
                for shelf in own
                if shelf.category == category
            ]
            for category in [*DEPARTMENTS[department], "sale"]
        }
        lists["all", "All of our pages", 30] = [
            Link(shelf.href, f"{shelf.offer.good.name} {shelf.offer.variant.name} ({shelf.kind})")
            for shelf in own
        ]
        for (name, title, size), entries in lists.items():
            parts = paged(f"{home}collections/{name}", entries, size)
            pager = tuple(Link(href, str(i)) for i, href in enumerate(parts, start=1))
            for href, part in parts.items():
                self.lists[href] = List(department, title, part, pager)
            yield pager[0]._replace(text=title)

    def _shown(self, shelf: Shelf, rng: Random) -> str:
        """Return the page of a product."""
        offer, good, variant = shelf.offer, shelf.offer.good, shelf.offer.variant
        others = [it for it in self.goods if it.department == good.department and it != good]
        related = map(link_to, rng.sample(others, min(4, len(others))))
        name, price = escape(good.name), offer.price
        description = escape(" ".join(good.description))
        was = offer._replace(reduced=False).price if offer.reduced else ""
        taste = Random(f"{self.seed}/ratings/{good.slug}")
        rating, ratings = f"{taste.randint(34, 50) / 10:.1f}", taste.randint(3, 160)
        all_variants = [{"id": v.number, "title": v.name, "sku": v.sku} for v in good.variants]
        regular = f'<span class="price-item price-item--regular">€{was or price}</span>'
        sale = f'<span class="price-item price-item--sale">€{price} EUR</span>' if was else ""
        disabled, button = ("", "Add to cart") if variant.stock else (" disabled", "Sold out")
        notes = "".join(
            f'<div class="product__accordion accordion"><details id="Details-{i}"><summary>'
            f'<h2 class="h4 accordion__title">{heading}</h2></summary>'
            f'<div class="accordion__content rte">{text}</div></details></div>'
            for i, (heading, text) in enumerate(self.notes)
        )
        facts = "".join(f"<li>{fact}: {escape(value)}</li>" for fact, value in good.facts)
        head = f"""\
<link rel="canonical" href="{main(good)}"><meta property="og:site_name" content="Wardrobe">
<meta property="og:title" content="{name}"><meta property="og:type" content="product">
<meta property="og:price:amount" content="{price}">
<meta property="og:price:currency" content="{CURRENCY}">"""
        body = f"""\
<section id="shopify-section-template--main" class="shopify-section section">
<product-info class="product product--medium grid"><div class="grid__item product__media-wrapper">
<media-gallery><img src="/img/002.png" alt="" loading="lazy"></media-gallery></div>
<div class="product__info-wrapper grid__item"><div class="product__info-container">
<p class="product__text caption-with-letter-spacing">Wardrobe</p>
<div class="product__title"><h1>{name}</h1></div>
<p class="product__sku"><span class="visually-hidden">SKU:</span>{variant.sku}</p>
<div id="price-template--main" role="status"><div class="price price--large">{regular}{sale}</div>
<div class="product__tax caption rte">Taxes included. Shipping calculated at checkout.</div></div>
{options(shelf)}<form method="post" action="/cart/add" class="form">
<input type="hidden" name="id" value="{variant.number}">
<button type="submit" name="add" class="product-form__submit"{disabled}>{button}</button></form>
<div class="product__description rte"><p>{description}</p><ul>{facts}</ul></div>
<div class="rating-wrapper"><span class="rating-text">{rating} / 5.0</span>
<span class="rating-count">({ratings})</span></div>{notes}</div></div></product-info>
{script(all_variants, "application/json")}{script(structured(offer))}</section>
<section class="shopify-section section"><product-recommendations class="related-products">
<h2 class="related-products__heading">You may also like</h2>{grid(related)}
</product-recommendations></section>"""
        return self._frame(f"{name} – Wardrobe", head, good.department, body, "product")

    def _printed(self, shelf: Shelf) -> str:
        """Return the view to print: the product and the notes, no boxes, and where it came from."""
        offer, good, variant = shelf.offer, shelf.offer.good, shelf.offer.variant
        name, chosen = escape(good.name), escape(variant.name)
        facts = "".join(f"<tr><td>{k}</td><td>{escape(v)}</td></tr>" for k, v in good.facts)
        notes = "".join(f"<h2>{heading}</h2>{text}" for heading, text in self.notes)
        return f"""\
<!DOCTYPE html><html lang="en"><head><title>Print: {name}</title>
<meta name="robots" content="noindex"><link rel="canonical" href="{main(good)}"></head>
<body onload="window.print()"><h1>{name}</h1>
<p>{offer.price} € {f"({chosen})" if chosen else ""}</p>
<p>Item no. {variant.sku}</p><p>{escape(" ".join(good.description))}</p><table>{facts}</table>
{notes}<p>Printed from The Miniature Store</p></body></html>"""

    def _listed(self, content: List) -> str:
        """Return a page of a list."""
        title = escape(content.title)
        body = f"""\
<section class="shopify-section section"><div class="collection-hero">
<h1 class="collection-hero__title">{title}</h1></div>
<div class="product-count">{len(content.entries)} products</div>{grid(content.entries)}
<nav class="pagination" role="navigation"><ul class="pagination__list">{anchors(content.pager)}</ul>
</nav></section>"""
        return self._frame(f"{title} – Wardrobe", "", content.department, body, "collection")

    def _frame(self, title: str, head: str, department: str, body: str, template: str) -> str:
        """Return a page with what all pages of a department have."""
        return f"""\
<!doctype html><html class="no-js" lang="en"><head><meta name="theme-color" content="">
<title>{title}</title>{head}</head>
<body class="gradient template-{template}"><a class="skip-to-content-link" href="#MainContent">
Skip to content</a><div class="announcement-bar"><p>Free shipping above 90 €</p></div>
<sticky-header class="header-wrapper"><header class="header header--middle-left">
<a href="/store/" class="header__heading-link">Wardrobe</a><nav class="header__inline-menu">
<ul class="list-menu list-menu--inline">{anchors(self.menus[department])}</ul></nav>
<cart-notification class="hidden">Item added to your cart</cart-notification></header>
</sticky-header><main id="MainContent" class="content-for-layout" role="main">{body}</main>
<footer class="footer color-scheme-1 gradient section-footer-padding">
<div class="footer__copyright caption"><small>© 2024, Wardrobe</small>
<small>Secure checkout</small></div></footer></body></html>"""


def main(good: Good, category: str = "") -> str:
    """Return the address of a product, of its own or in a category."""
    inside = f"collections/{category}/" if category else ""
    return f"{HOME}{good.department}/{inside}products/{good.slug}"


def shown(offer: Offer) -> str:
    """Return the address that shows an offer: its variant by number, if there are several."""
    href = main(offer.good, "sale" if offer.reduced else "")
    several = len(offer.good.variants) > 1
    return also(href, f"variant={offer.variant.number}") if several else href


def link_to(good: Good) -> Link:
    """Return the link to a product that lists and boxes show."""
    return Link(main(good), good.name, f"from {Offer(good, good.variants[0]).price} €")


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
            yield Shelf(also(href, tracked), offer, "tracking")
        if rng.random() < 0.4:
            yield Shelf(also(href, f"rec={rng.randint(1, 9)}"), offer, "related")
        if rng.random() < 0.35:
            yield Shelf(also(href, "print=1"), offer, "print")
        if good.on_sale:
            reduced = offer._replace(reduced=True)
            href = shown(reduced)
            yield Shelf(href, reduced, "sale", "sale")
            if rng.random() < 0.3:
                yield Shelf(also(href, f"rec={rng.randint(1, 9)}"), reduced, "related")


def structured(offer: Offer) -> dict[str, object]:
    """Return what JSON-LD says of a product and an offer of it."""
    good, variant = offer.good, offer.variant
    terms = {"@type": "Offer", "price": offer.price, "priceCurrency": CURRENCY}
    stock = f"{SCHEMA}{'InStock' if variant.stock else 'OutOfStock'}"
    return {
        "@context": SCHEMA,
        "@type": "Product",
        "name": f"{good.name} - {variant.name}" if variant.name else good.name,
        "sku": variant.sku,
        "description": " ".join(good.description),
        "image": "/img/001.png",
        "offers": [{**terms, "availability": stock, "url": shown(offer)}],
    }


def script(data: object, kind: str = "application/ld+json") -> str:
    """Return data as a script."""
    return f'<script type="{kind}">{json.dumps(data)}</script>'


def options(shelf: Shelf) -> str:
    """Return what a variant is chosen by; nothing where there is one."""
    chosen = shelf.offer.variant
    if not chosen.name:
        return ""
    offer = shelf.offer._replace(reduced=shelf.category == "sale")
    buttons = "".join(
        f'<input type="radio" id="o{variant.number}" name="option" value="{escape(variant.name)}"'
        f'{" checked" if variant == chosen else ""}><label for="o{variant.number}">'
        f'<a href="{escape(shown(offer._replace(variant=variant)))}">'
        f"{escape(variant.name)}</a></label>"
        for variant in offer.good.variants
    )
    return (
        '<variant-selects><fieldset class="js product-form__input product-form__input--pill">'
        f'<legend class="form__label">Choice: {escape(chosen.name)}</legend>{buttons}'
        "</fieldset></variant-selects>"
    )


def grid(links: Iterable[Link]) -> str:
    """Return links to products as cards."""
    return f'<ul id="product-grid" class="grid product-grid">{anchors(links, CARD)}</ul>'

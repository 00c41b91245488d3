"""The shop as a function from a path to a page and what it offers."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, NamedTuple

from crawler.site.shop.goods import CURRENCY
from crawler.site.shop.plan import Plan
from crawler.site.shop.sheet import Sheet, items, paragraphs, printed, script

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.site.content import Link
    from crawler.site.shop.plan import List


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
            render = printed if shelf.kind == "print" else product_page
            return Page(render(sheet), shelf.offer.variant.sku, shelf.offer.id)
        if content := self.plan.lists.get(path):
            return Page(list_page(content, self.plan.menus[content.department]))
        return None


def product_page(sheet: Sheet) -> str:
    """Return the page of a product."""
    good, price = sheet.good, sheet.offer.price
    chosen = f"{good.name} - {sheet.variant.name}" if sheet.variant.name else good.name
    all_variants = [{"id": v.number, "title": v.name, "sku": v.sku} for v in good.variants]
    regular = f'<span class="price-item price-item--regular">€{sheet.was or price}</span>'
    sale = f'<span class="price-item price-item--sale">€{price} EUR</span>' if sheet.was else ""
    disabled = "" if sheet.variant.stock else " disabled"
    button = "Add to cart" if sheet.variant.stock else "Sold out"
    notes = "".join(
        f'<div class="product__accordion accordion"><details id="Details-{i}"><summary>'
        f'<h2 class="h4 accordion__title">{heading}</h2></summary>'
        f'<div class="accordion__content rte">{paragraphs(said)}</div></details></div>'
        for i, (heading, said) in enumerate(sheet.notes)
    )
    facts = "".join(f"<li>{name}: {escape(value)}</li>" for name, value in good.facts)
    head = f"""\
<link rel="canonical" href="{sheet.canonical}"><meta property="og:site_name" content="Wardrobe">
<meta property="og:title" content="{sheet.name}"><meta property="og:type" content="product">
<meta property="og:price:amount" content="{price}">
<meta property="og:price:currency" content="{CURRENCY}">"""
    main = f"""\
<section id="shopify-section-template--main" class="shopify-section section">
<product-info class="product product--medium grid"><div class="grid__item product__media-wrapper">
<media-gallery><img src="/img/002.png" alt="" loading="lazy"></media-gallery></div>
<div class="product__info-wrapper grid__item"><div class="product__info-container">
<p class="product__text caption-with-letter-spacing">Wardrobe</p>
<div class="product__title"><h1>{sheet.name}</h1></div>
<p class="product__sku"><span class="visually-hidden">SKU:</span>{sheet.variant.sku}</p>
<div id="price-template--main" role="status"><div class="price price--large">{regular}{sale}</div>
<div class="product__tax caption rte">Taxes included. Shipping calculated at checkout.</div></div>
{_options(sheet)}<form method="post" action="/cart/add" class="form">
<input type="hidden" name="id" value="{sheet.variant.number}">
<button type="submit" name="add" class="product-form__submit"{disabled}>{button}</button></form>
<div class="product__description rte"><p>{sheet.description}</p><ul>{facts}</ul></div>
<div class="rating-wrapper"><span class="rating-text">{sheet.rating} / 5.0</span>
<span class="rating-count">({sheet.ratings})</span></div>{notes}</div></div></product-info>
{script(all_variants, "application/json")}{sheet.data(name=chosen)}</section>
<section class="shopify-section section"><product-recommendations class="related-products">
<h2 class="related-products__heading">You may also like</h2>{_grid(sheet.related)}
</product-recommendations></section>"""
    return _frame(f"{sheet.name} – Wardrobe", head, sheet.menu, main, "product")


def list_page(content: List, menu: Iterable[Link]) -> str:
    """Return a page of a list."""
    title = escape(content.title)
    main = f"""\
<section class="shopify-section section"><div class="collection-hero">
<h1 class="collection-hero__title">{title}</h1></div>
<div class="product-count">{len(content.entries)} products</div>{_grid(content.entries)}
<nav class="pagination" role="navigation"><ul class="pagination__list">{items(content.pager)}</ul>
</nav></section>"""
    return _frame(f"{title} – Wardrobe", "", menu, main, "collection")


def _options(sheet: Sheet) -> str:
    buttons = "".join(
        f'<input type="radio" id="o{variant.number}" name="option" value="{escape(variant.name)}"'
        f"{' checked' if variant == sheet.variant else ''}>"
        f'<label for="o{variant.number}"><a href="{href}">{escape(variant.name)}</a></label>'
        for variant, href in sheet.variants()
    )
    if not buttons:
        return ""
    return (
        '<variant-selects><fieldset class="js product-form__input product-form__input--pill">'
        f'<legend class="form__label">Choice: {escape(sheet.variant.name)}</legend>{buttons}'
        "</fieldset></variant-selects>"
    )


def _grid(links: Iterable[Link]) -> str:
    cards = "".join(
        '<li class="grid__item"><div class="card-wrapper product-card-wrapper"><div class="card">'
        f'<h3 class="card__heading"><a href="{escape(link.href)}" class="full-unstyled-link">'
        f'{escape(link.text)}</a></h3><div class="price">{escape(link.teaser)}</div></div></div>'
        "</li>"
        for link in links
    )
    return f'<ul id="product-grid" class="grid product-grid">{cards}</ul>'


def _frame(title: str, head: str, menu: Iterable[Link], main: str, template: str) -> str:
    return f"""\
<!doctype html><html class="no-js" lang="en"><head><meta name="theme-color" content="">
<title>{title}</title>{head}</head>
<body class="gradient template-{template}"><a class="skip-to-content-link" href="#MainContent">
Skip to content</a><div class="announcement-bar"><p>Free shipping above 90 €</p></div>
<sticky-header class="header-wrapper"><header class="header header--middle-left">
<a href="/store/" class="header__heading-link">Wardrobe</a><nav class="header__inline-menu">
<ul class="list-menu list-menu--inline">{items(menu)}</ul></nav>
<cart-notification class="hidden">Item added to your cart</cart-notification></header>
</sticky-header><main id="MainContent" class="content-for-layout" role="main">{main}</main>
<footer class="footer color-scheme-1 gradient section-footer-padding">
<div class="footer__copyright caption"><small>© 2024, Wardrobe</small>
<small>Secure checkout</small></div></footer></body></html>"""

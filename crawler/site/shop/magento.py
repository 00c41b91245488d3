"""Pages in the manner of Magento: microdata, product: meta tags and tables of attributes."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from crawler.site.shop.goods import CURRENCY
from crawler.site.shop.sheet import items, paragraphs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.site.content import Link
    from crawler.site.shop.plan import List
    from crawler.site.shop.sheet import Sheet


def product(sheet: Sheet) -> str:
    """Return the page of a product."""
    good, offer = sheet.good, sheet.offer
    stock = "In stock" if sheet.variant.stock else "Out of stock"
    facts = "".join(
        f'<tr><th class="col label" scope="row">{name}</th>'
        f'<td class="col data" data-th="{name}">{escape(value)}</td></tr>'
        for name, value in good.facts
    )
    notes = "".join(
        f'<div class="data item title" id="tab-label-{i}"><a class="data switch">{note.heading}</a>'
        f'</div><div class="data item content" id="tab-{i}">{paragraphs(note.paragraphs)}</div>'
        for i, note in enumerate(sheet.notes)
    )
    head = f"""\
<link rel="canonical" href="{sheet.canonical}"><meta name="title" content="{sheet.name}">
<meta property="og:type" content="product"><meta property="og:title" content="{sheet.name}">
<meta property="product:price:amount" content="{offer.price}">
<meta property="product:price:currency" content="{CURRENCY}">"""
    main = f"""\
<div itemscope itemtype="http://schema.org/Product"><div class="product media">
<div class="gallery-placeholder"><img src="/img/003.png" alt="" itemprop="image"></div></div>
<div class="product-info-main"><div class="page-title-wrapper product"><h1 class="page-title">
<span class="base" data-ui-id="page-title-wrapper" itemprop="name">{sheet.name}</span></h1></div>
<div class="product-reviews-summary"><span class="rating-result">{sheet.rating}</span>
<a class="action view" href="#reviews">{sheet.ratings} Reviews</a></div>
<div class="product-info-price">{_price(sheet)}<div class="product-info-stock-sku">
<div class="stock available" title="Availability"><span>{stock}</span></div>
<div class="product attribute sku"><strong class="type">SKU</strong>
<div class="value" itemprop="sku">{sheet.variant.sku}</div></div></div></div>
<div class="product attribute overview"><div class="value" itemprop="description">
{sheet.description}</div></div>{_swatches(sheet)}
<div class="product-add-form"><form method="post" id="product_addtocart_form">
<input type="hidden" name="product" value="{sheet.variant.number}"><div class="field qty"><label>Qty
<input type="number" name="qty" value="1"></label></div>
<button type="submit" class="action primary tocart"><span>Add to Cart</span></button></form></div>
<p class="delivery-clock">Ordered by noon, on its way by the evening.</p></div>
<div class="product info detailed"><div class="product data items">
<div class="data item title"><a class="data switch">More Information</a></div>
<table class="data table additional-attributes">{facts}</table>
{notes}</div></div></div>
<div class="block related"><div class="block-title title"><strong>Related Products</strong></div>
{_grid(sheet.related)}</div>"""
    return _frame(sheet.name, head, sheet.menu, main, sheet.newsletter, "catalog-product-view")


def listing(content: List, menu: Iterable[Link]) -> str:
    """Return a page of a list."""
    title = escape(content.title)
    main = f"""\
<div class="page-title-wrapper"><h1 class="page-title"><span class="base">{title}</span></h1></div>
<div class="toolbar"><p class="toolbar-amount">{len(content.entries)} Items</p></div>
{_grid(content.entries)}<div class="pages"><ul class="items pages-items">{items(content.pager)}</ul>
</div>"""
    return _frame(title, "", menu, main, "", "catalog-category-view")


def _price(sheet: Sheet) -> str:
    price = sheet.offer.price
    old = (
        '<span class="old-price"><span class="price-label">Regular Price</span> '
        f'<span class="price">{_money(sheet.was)}</span></span>'
        if sheet.was
        else ""
    )
    return (
        f'<div class="price-box price-final_price" data-product-id="{sheet.variant.number}">'
        '<span class="price-container" itemprop="offers" itemscope '
        f'itemtype="http://schema.org/Offer"><span data-price-amount="{price}" '
        f'class="price-wrapper"><span class="price">{_money(price)}</span></span>'
        f'<meta itemprop="price" content="{price}">'
        f'<meta itemprop="priceCurrency" content="{CURRENCY}">'
        f'<link itemprop="availability" href="{sheet.availability}"></span>{old}</div>'
    )


def _swatches(sheet: Sheet) -> str:
    swatches = "".join(
        f'<a class="swatch-option text{" selected" if variant == sheet.variant else ""}" '
        f'href="{href}">{escape(variant.name)}</a>'
        for variant, href in sheet.variants()
    )
    if not swatches:
        return ""
    return (
        '<div class="swatch-opt"><div class="swatch-attribute">'
        '<span class="swatch-attribute-label">Version</span> '
        '<span class="swatch-attribute-selected-option">'
        f"{escape(sheet.variant.name)}</span><div>{swatches}</div></div></div>"
    )


def _money(price: str) -> str:
    return f"{price.replace('.', ',')} €"


def _grid(links: Iterable[Link]) -> str:
    cards = "".join(
        '<li class="item product product-item"><div class="product-item-info">'
        '<strong class="product name product-item-name">'
        f'<a class="product-item-link" href="{escape(link.href)}">{escape(link.text)}</a></strong>'
        f'<div class="price-box"><span class="price">{escape(link.teaser)}</span></div></div></li>'
        for link in links
    )
    return f'<ol class="products list items product-items">{cards}</ol>'


def _frame(
    title: str, head: str, menu: Iterable[Link], main: str, newsletter: str, css: str
) -> str:
    letter = (
        '<div class="block newsletter"><div class="title"><strong>Newsletter</strong></div>'
        f'<p>{newsletter}</p><form class="form subscribe"><input type="email" name="email">'
        '<button class="action subscribe primary">Subscribe</button></form></div>'
        if newsletter
        else ""
    )
    return f"""\
<!doctype html><html lang="en"><head><title>{title} | Household</title>{head}</head>
<body class="{css} page-layout-1column"><div class="page-wrapper"><header class="page-header">
<div class="panel wrapper"><ul class="header links"><li>Sign In</li><li>Create an Account</li></ul>
</div><div class="header content"><a class="logo" href="/store/">Household</a></div></header>
<div class="sections nav-sections"><nav class="navigation"><ul>{items(menu, "level0 nav-1")}</ul>
</nav></div><div class="breadcrumbs"><ul class="items"><li class="item home">
<a href="/store/">Home</a></li><li class="item"><strong>{title}</strong></li></ul></div>
<main id="maincontent" class="page-main"><div class="columns"><div class="column main">{main}</div>
</div></main><footer class="page-footer"><div class="footer content">{letter}
<ul class="footer links"><li>Privacy and Cookie Policy</li><li>Search Terms</li><li>Orders</li></ul>
<small class="copyright"><span>Copyright © 2024 Household. All rights reserved.</span></small></div>
</footer></div></body></html>"""

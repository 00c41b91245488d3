"""Pages in the manner of WooCommerce: JSON-LD in a graph, tabs, and a line of meta data."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from crawler.site.shop.goods import CURRENCY
from crawler.site.shop.sheet import SCHEMA, items, paragraphs, script

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.site.content import Link
    from crawler.site.shop.plan import List
    from crawler.site.shop.sheet import Sheet


def product(sheet: Sheet) -> str:
    """Return the page of a product."""
    good, offer = sheet.good, sheet.offer
    price = _money(offer.price)
    if sheet.was:
        price = f'<del aria-hidden="true">{_money(sheet.was)}</del> <ins>{price}</ins>'
    stock = f"{sheet.variant.stock} in stock" if sheet.variant.stock else "Out of stock"
    css = "in-stock" if sheet.variant.stock else "out-of-stock"
    graph = {
        "@context": SCHEMA,
        "@graph": [
            {"@type": "BreadcrumbList", "itemListElement": [{"name": good.category.title()}]},
            {
                "@type": "Product",
                "@id": f"{sheet.canonical}#product",
                "name": good.name,
                "url": sheet.canonical,
                "description": " ".join(good.description),
                "sku": sheet.variant.sku,
                "offers": [
                    {
                        "@type": "Offer",
                        "priceSpecification": [
                            {
                                "@type": "UnitPriceSpecification",
                                "price": offer.price,
                                "priceCurrency": CURRENCY,
                                "valueAddedTaxIncluded": True,
                            }
                        ],
                        "availability": sheet.availability,
                    }
                ],
            },
        ],
    }
    facts = "".join(
        f'<tr class="woocommerce-product-attributes-item"><th>{name}</th><td>{escape(value)}</td>'
        "</tr>"
        for name, value in good.facts
    )
    notes = "".join(
        f'<div class="woocommerce-Tabs-panel panel wc-tab" id="tab-{i}" role="tabpanel">'
        f"<h2>{note.heading}</h2>{paragraphs(note.paragraphs)}</div>"
        for i, note in enumerate(sheet.notes)
    )
    heads = "".join(
        f'<li class="tab_{i}" role="tab"><a href="#tab-{i}">{note.heading}</a></li>'
        for i, note in enumerate(sheet.notes)
    )
    main = f"""\
<div id="product-{sheet.variant.number}" class="product type-product product_cat-{good.category}">
<div class="woocommerce-product-gallery"><img class="wp-post-image" src="/img/001.png" alt=""></div>
<div class="summary entry-summary"><h1 class="product_title entry-title">{sheet.name}</h1>
<div class="woocommerce-product-rating"><strong class="rating">{sheet.rating}</strong> out of 5
<a href="#reviews">({sheet.ratings} customer reviews)</a></div><p class="price">{price}</p>
<div class="woocommerce-product-details__short-description"><p>{sheet.description}</p></div>
<form class="variations_form cart" method="post">{_choice(sheet)}<p class="stock {css}">{stock}</p>
<div class="quantity"><input type="number" name="quantity" value="1"></div>
<button type="submit" class="single_add_to_cart_button button">Add to basket</button></form>
<p class="fomo">{sheet.watching} people are looking at this</p>
<div class="product_meta"><span class="sku_wrapper">SKU:
<span class="sku">{sheet.variant.sku}</span></span>
<span class="posted_in">Category: {good.category.title()}</span></div></div>
<div class="woocommerce-tabs wc-tabs-wrapper"><ul class="tabs wc-tabs" role="tablist">{heads}</ul>
<div class="woocommerce-Tabs-panel panel"><h2>Additional information</h2>
<table class="woocommerce-product-attributes shop_attributes">{facts}</table></div>{notes}</div>
<section class="related products"><h2>Related products</h2>{_grid(sheet.related)}</section></div>"""
    head = f"""\
<link rel="canonical" href="{sheet.canonical}"><meta property="og:type" content="product">
<meta property="og:title" content="{sheet.name} - Miniature Workshop">
<meta property="og:site_name" content="Miniature Workshop">{script(graph)}"""
    return _frame(sheet.name, head, sheet.menu, main, sheet.newsletter, "single-product")


def listing(content: List, menu: Iterable[Link]) -> str:
    """Return a page of a list."""
    main = f"""\
<header class="woocommerce-products-header"><h1 class="page-title">{escape(content.title)}</h1>
</header><p class="woocommerce-result-count">{len(content.entries)} results</p>
{_grid(content.entries)}<nav class="woocommerce-pagination"><ul class="page-numbers">
{items(content.pager)}</ul></nav>"""
    return _frame(escape(content.title), "", menu, main, "", "archive")


def _money(price: str) -> str:
    return (
        '<span class="woocommerce-Price-amount amount"><bdi>'
        f'<span class="woocommerce-Price-currencySymbol">€</span>{price}</bdi></span>'
    )


def _choice(sheet: Sheet) -> str:
    swatches = "".join(
        f'<li class="variable-item{" selected" if variant == sheet.variant else ""}">'
        f'<a href="{href}">{escape(variant.name)}</a></li>'
        for variant, href in sheet.variants()
    )
    if not swatches:
        return ""
    return (
        f'<table class="variations"><tr><th class="label">{escape(sheet.variant.name)}</th>'
        f'<td class="value"><ul class="variable-items-wrapper">{swatches}</ul></td></tr></table>'
        f'<input type="hidden" name="variation_id" value="{sheet.variant.number}">'
    )


def _grid(links: Iterable[Link]) -> str:
    cards = "".join(
        f'<li class="product"><a href="{escape(link.href)}" class="woocommerce-LoopProduct-link">'
        f'<h2 class="woocommerce-loop-product__title">{escape(link.text)}</h2>'
        f'<span class="price">{escape(link.teaser)}</span></a></li>'
        for link in links
    )
    return f'<ul class="products columns-4">{cards}</ul>'


def _frame(
    title: str, head: str, menu: Iterable[Link], main: str, newsletter: str, css: str
) -> str:
    letter = (
        f'<div class="widget widget_newsletter"><h3>Newsletter</h3><p>{newsletter}</p>'
        '<form><input type="email" name="e"><button>Subscribe</button></form></div>'
        if newsletter
        else ""
    )
    return f"""\
<!DOCTYPE html><html lang="en"><head><meta name="viewport" content="width=device-width">
<title>{title} &#8211; Miniature Workshop</title>{head}</head>
<body class="{css} theme-miniature woocommerce woocommerce-page"><div id="page" class="hfeed site">
<header id="masthead" class="site-header" role="banner"><div class="site-branding">
<a href="/store/">Miniature Workshop</a></div><nav id="site-navigation" class="main-navigation">
<ul class="menu nav-menu">{items(menu, "menu-item")}</ul></nav></header>
<nav class="woocommerce-breadcrumb"><a href="/store/">Store</a> / {title}</nav>
<div id="content" class="site-content"><div id="primary" class="content-area">
<main id="main" class="site-main" role="main">{main}</main></div>
<div id="secondary" class="widget-area" role="complementary">{letter}</div></div>
<footer id="colophon" class="site-footer"><p>All prices include value-added tax, plus delivery.</p>
<p>© 2024 Miniature Workshop</p></footer></div></body></html>"""

"""What a page says about itself for machines: its kind, author, date, price, its site's name."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from html import unescape
from typing import Any, Literal, NamedTuple

from lxml.html import HtmlElement

from simhash_gate.page.address import is_front
from simhash_gate.page.elements import Elements, find_elements
from simhash_gate.page.structured import (
    Node,
    nodes,
    nodes_on_top,
    prices_of,
    read_json_ld,
    read_microdata,
    text,
    types,
    values,
)
from simhash_gate.page.vocabulary import word_set

Kind = Literal["article", "forum", "product", "collection", "listing", "documentation", "service"]
"""A text, a thread, a thing on sale, many of these, many links; documentation, or what is done."""


def _by_name(names: dict[Kind, str]) -> dict[str, Kind]:
    return {name: kind for kind, of_kind in names.items() for name in of_kind.split()}


_KINDS = _by_name(
    {
        "article": """
            Article NewsArticle BlogPosting AdvertiserContentArticle AnalysisNewsArticle
            AskPublicNewsArticle BackgroundNewsArticle LiveBlogPosting OpinionNewsArticle
            ReportageNewsArticle Report ReviewNewsArticle SatiricalArticle ScholarlyArticle
            MedicalScholarlyArticle Recipe
        """,
        "forum": "DiscussionForumPosting QAPage",
        "product": "Product ProductGroup ProductModel IndividualProduct Vehicle Car",
        "collection": "OfferCatalog SomeProducts",
        "listing": "SearchResultsPage",
        "documentation": "TechArticle APIReference",
        "service": "Service",
    }
)
_DISCUSSION = "DiscussionForumPosting"
_SITES = frozenset({"WebSite", "Organization", "Corporation", "NewsMediaOrganization"})
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
_LONGEST = 200
_MOST_PAGES = 20  # nodes that say something of the page
_LONGEST_DESCRIPTION = 1_000


class Facts(NamedTuple):
    """What a page's structured data say of it; None where they don't.

    `names` are what they call the page, `sites` its site, and `dates` when it was published, as
    they write it, best first. `language` and `description` are what the head says. `data` is its
    JSON-LD, and `main` what the page is about. `base` is what its links are relative to, `software`
    what made it; `discusses` tells that there is a forum's post. `elements` are those of its tree.
    """

    kind: Kind | None
    author: str | None
    dates: tuple[str, ...]
    price: str | None
    names: tuple[str, ...]
    sites: tuple[str, ...]
    data: list[Any]
    main: Node
    meta: dict[str, str]
    is_story: bool
    base: str | None
    software: list[str]
    discusses: bool
    elements: Elements
    language: str | None
    description: str | None

    @property
    def sells(self) -> bool:
        """Whether prices may be the page's own: what a story tells of is not on sale."""
        return self.kind in ("product", None) and not self.is_story


def find_facts(root: HtmlElement, url: str = "", elements: Elements | None = None) -> Facts:
    """Read the JSON-LD, microdata and `meta` of an uncleaned tree."""
    elements = find_elements(root) if elements is None else elements
    metas, scripts = elements.by_tag["meta"], elements.by_tag["script"]
    data = read_json_ld(scripts)
    top = nodes_on_top(data)
    meta = _meta(metas)
    main, kind = _main_entity(top) or _of_best_kind(top, meta)
    itemtypes = (kind.rsplit("/", 1)[-1] for kind in " ".join(elements.itemtypes).split())
    if kind is None and not _KINDS.keys().isdisjoint(itemtypes):
        microdata = read_microdata(elements.items)
        main, kind = _main_entity(microdata) or _of_best_kind(microdata, meta)
    kind = _kind_with_meta(kind, meta)
    if kind == "article" and is_front(url):
        main, kind = {}, None
    json_texts = (script.text or "" for script in scripts if "json" in script.get("type", ""))
    names = tuple(unescape(name) for key in ("headline", "name") if (name := text(main.get(key))))
    about = (main, *[node for node in top if "WebPage" in types(node)][:_MOST_PAGES])
    dates = [text(node.get(name)) for node in about for name in ("datePublished", "dateCreated")]
    dates += [meta.get(name, "") for name in ("article:published_time", "date", "dc.date.issued")]
    described = meta.get("description") or meta.get("og:description") or main.get("description")
    prices = prices_of(main, meta) if kind == "product" else []
    lang = root.get("lang") or root.get("xml:lang") or meta.get("og:locale", "").replace("_", "-")
    return Facts(
        kind,
        None if kind == "product" else _author(about, top, meta),
        tuple(date for date in dates if 0 < len(date) <= _LONGEST),
        next((str(price) for price in prices if price.amount[0].isdigit()), None),
        names,
        tuple(dict.fromkeys(name for name in _sites(top, meta) if name not in names)),
        data,
        main,
        meta,
        kind in ("article", "forum") or _is_story(meta),
        next((base.get("href") for base in elements.by_tag["base"] if "href" in base.attrib), None),
        [tag.get("content", "") for tag in metas if tag.get("name") == "generator"],
        any(_DISCUSSION in value for value in (*elements.itemtypes, *json_texts)),
        elements,
        lang if _LANGUAGE.fullmatch(lang) else None,
        unescape(text(described))[:_LONGEST_DESCRIPTION] or None,
    )


def _kind_with_meta(kind: Kind | None, meta: dict[str, str]) -> Kind | None:
    """Return what a page is, by what made it too, and by its `og:type`."""
    software = meta.get("generator", "").lower().replace("/", " ").split()[:1]
    if kind in (None, "article"):
        kind = next(filter(None, map(_GENERATORS.get, software)), kind)
    og_type = meta.get("og:type", "").lower()
    if og_type == "article" and "article:published_time" in meta:
        return kind or "article"
    return kind or _KIND_OF_META.get(og_type)


_KIND_OF_META = _by_name(
    {"product": "product product.item og:product", "collection": "product.group"}
)
_GENERATORS = _by_name(
    {
        "forum": "discourse phpbb vbulletin mybb xenforo flarum",
        "documentation": "docusaurus docutils doxygen gitbook javadoc mkdocs rustdoc sphinx",
    }
)
_META = word_set("""
    author article:author article:published_time date dc.date.issued
    generator description og:description og:locale og:type og:title og:site_name
    application-name product:price:amount product:price:currency og:price:amount
    og:price:currency product:retailer_item_id product:availability
""")


def _meta(metas: Iterable[HtmlElement]) -> dict[str, str]:
    """Return the first that `meta` says of each name."""
    found: dict[str, str] = {}
    for meta in metas:
        name = (meta.get("property") or meta.get("name") or "").lower()
        if name in _META and name not in found and (content := meta.get("content")):
            found[name] = " ".join(content.split())
    return found


def _main_entity(top: list[Node]) -> tuple[Node, Kind] | None:
    """Return the node that another one says is what the page is about."""
    by_id = {node["@id"]: node for node in top if isinstance(node.get("@id"), str)}
    for node in top:
        for entity in nodes(node.get("mainEntity")):
            found = by_id.get(str(entity.get("@id")), entity)
            kind: Kind | None = "forum" if "QAPage" in types(node) else _kind(found)
            if kind is not None:
                return found, kind
    return None


def _of_best_kind(top: list[Node], meta: dict[str, str]) -> tuple[Node, Kind | None]:
    """Return the first node of the kind that tells most, if there is one such page."""
    by_kind: defaultdict[Kind | None, list[Node]] = defaultdict(list)
    for node in top:
        by_kind[_kind(node)].append(node)
    if "product" in by_kind and "article" in by_kind and _is_story(meta):
        del by_kind["product"]  # what it tells of
    best = next((kind for kind in _BY_RANK if kind in by_kind), None)
    if best is None:
        return {}, None
    several = len({text(node.get("name", node.get("headline"))) for node in by_kind[best]}) > 1
    if several and best == "product":
        return {}, "collection"
    return ({}, None) if several and best == "article" else (by_kind[best][0], best)


_BY_RANK: tuple[Kind, ...] = (
    *("forum", "product", "documentation", "article", "collection", "listing", "service"),
)
_OFFER_FIELDS = frozenset({"offers", "sku", "mpn", "gtin", "gtin8", "gtin12", "gtin13", "gtin14"})


def _is_story(meta: dict[str, str]) -> bool:
    return meta.get("og:type", "").lower() == "article" or "article:published_time" in meta


def _kind(node: Node) -> Kind | None:
    found = next((_KINDS[name] for name in sorted(types(node)) if name in _KINDS), None)
    # Services are often called products for the sake of their stars.
    if found == "product" and _OFFER_FIELDS.isdisjoint(node) and "hasVariant" not in node:
        return None
    return found


def _author(about: Iterable[Node], top: list[Node], meta: dict[str, str]) -> str | None:
    """Return who wrote a page; data may only point to the node that has the name."""
    named = {node["@id"]: node for node in top if isinstance(node.get("@id"), str)}
    entries = next(filter(None, (values(node.get("author")) for node in about)), [])
    people = (named.get(str(it.get("@id")), it) if isinstance(it, dict) else it for it in entries)
    names = ", ".join(dict.fromkeys(filter(None, map(_person, map(text, people)))))
    return names or _person(meta.get("author")) or _person(meta.get("article:author"))


def _person(name: str | None) -> str | None:
    name = unescape(name or "")
    return None if not name or "://" in name or len(name) > _LONGEST else name


def _sites(top: Iterable[Node], meta: dict[str, str]) -> Iterator[str]:
    yield from filter(None, map(meta.get, ("og:site_name", "application-name")))
    for node in top:
        if types(node) & _SITES:
            for name in ("name", "alternateName"):
                yield from filter(None, map(text, values(node.get(name))))
        sites = (site for site in nodes(node.get("publisher")) if types(site) & _SITES)
        yield from filter(None, map(text, sites))

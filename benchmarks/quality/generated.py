"""Pairs of pages that are made, so that anybody can measure: five kinds of sites, with their truth.

News, a forum, documentation, a wiki and a shop. A page of each of the first four has copies of
twelve kinds, updates of any size, and another page of its template beside it. Products have the
copies of the shop, and beside them their other variants, prices, and other products.
"""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.quality.methods import Method
from benchmarks.quality.sets import Pairs, Readings
from crawler.site.answering import PLAIN_CHARSET, Charset, web_page
from crawler.site.articles import Article, Block, Version, code, paragraph_of, table
from crawler.site.chrome import Chrome, LightChrome
from crawler.site.content import DESIGNS, Content, Link
from crawler.site.designs import render
from crawler.site.prose import Writer
from crawler.site.shop import Shop
from crawler.site.year_plan import edited
from crawler.truth import changed_fraction, words

SITES, STORIES, UPDATES = 2, 12, 3
MENU = [Link(f"/{name}", name.title()) for name in ("new", "all", "help", "search", "about")]
KINDS = "news", "forum", "documentation", "wiki"
COPIES: dict[str, tuple[str, dict[str, Any]]] = {
    "tracking": ("?utm_source=mail", {}),
    "print": ("?print=1", {"design": "print"}),
    "amp": ("?amp=1", {"design": "amp"}),
    "session": ("?sid=7f3a", {"session": True}),
    "comment": ("?comments=all", {"late_comment": True}),
    "language": ("?hl=de", {"language": "de"}),
}
"""Copies that only their content tells; six more have another look, frame, time or charset."""


class Generated(Pairs):
    """Pairs that are made when they are first asked for."""

    @classmethod
    def load(cls, folder: Path) -> Pairs:
        if not (folder / "pairs.jsonl").exists():
            make(folder)
        return super().load(folder)

    def score(self, method: Method, readings: Readings) -> dict[str, str]:
        language = self.scored(method, readings).told("dup: language")
        return super().score(method, readings) | {"copies in another language": language}


def make(folder: Path, sites: int = SITES, stories: int = STORIES) -> None:
    """Write pages and pairs of so many sites of each kind, with so many pages each."""
    maker = Maker(folder)
    for seed in range(1, sites + 1):
        for kind in KINDS:
            _site(maker, kind, seed, stories)
        _shop(maker, seed, stories)
    maker.write()


def _site(maker: Maker, kind: str, seed: int, stories: int) -> None:
    """Make the pages of a site, each with its copies and updates."""
    heavy, light = (of(seed, MENU, MENU) for of in (Chrome, LightChrome))
    other = LightChrome(seed + 1_000, MENU[::-1], MENU[:2])
    articles = [Article(100 * seed + len(kind), number) for number in range(stories)]
    notes = Block("p", tuple(Writer("en", "business", Random(seed)).several("sentence", 6)))
    links = tuple(map(Link.to, articles))
    look, firsts = DESIGNS[seed % 3], []
    for article in articles:
        version = text_of(kind, article, notes)
        formats, related = (Link(article.path, "Version 1"),), links[:6]
        plain = Content(
            title=version.headline, design=look, blocks=version.blocks, formats=formats,
            related=related, article=article,
        )  # fmt: skip
        size = len(version.words())

        def add(
            content: Content, query: str = "", chrome: Chrome = heavy, live: int = 0,
            charset: Charset = PLAIN_CHARSET, host: str = f"{kind}{seed}.example", *,
            path: str = article.path, size: int = size,
        ) -> str:  # fmt: skip
            body = web_page(200, render(content, chrome, path + query, live), charset).body
            return maker.page(body, f"http://{host}{path}{query}", size)

        first = add(plain)
        copies = {op: add(replace(plain, **how), query) for op, (query, how) in COPIES.items()}
        copies |= {
            "later": add(plain, live=1),
            "redesign": add(replace(plain, design=DESIGNS[(seed + 1) % 3]), "?new=1"),
            "boxes": add(replace(plain, related=links[6:]), "?b=1"),
            "menu": add(plain, "?m=1", light),
            "wrapper": add(plain, "", other, host="mirror.example"),
            "charset": add(plain, "?c=1", charset=("cp1252", "iso-8859-1", "")),
        }
        for op, copy in copies.items():
            maker.pair(first, copy, "dup", "noise", kind, op)
        for number in range(UPDATES):
            new = edited(version, article.writer(f"update/{number}"))
            page = add(replace(plain, title=new.headline, blocks=new.blocks), f"?v={number}")
            changed = changed_fraction(version.words(), new.words())
            maker.pair(first, page, "update", kind, kind, changed=changed)
        firsts.append(first)
    for a, b in pairwise(firsts):
        maker.pair(a, b, "diff", kind, kind)


def text_of(kind: str, article: Article, notes: Block) -> Version:
    """Return what a page of a kind of site says; `notes` are on all pages of the site."""
    writer = article.writer(kind)
    write, rng, lede = writer.write, writer.rng, Block("lede", (article.opening[2],))
    if kind == "forum":
        blocks = [lede]
        for number in range(rng.randint(4, 9)):
            blocks.append(Block("h2", (f"{write('person')}, #{number + 2}",)))
            if rng.random() < 0.3:
                blocks.append(Block("quote", (rng.choice(blocks[::2]).items[0],)))
            blocks.append(paragraph_of(writer))
        return Version(1, article.opening[0], (*blocks, notes))
    if kind == "documentation":
        blocks = [notes, lede]
        for _ in range(rng.randint(2, 4)):
            blocks += [Block("h2", (write("subhead"),)), code(writer), paragraph_of(writer)]
        return Version(1, f"{write('thing')} {article.number}", (*blocks, table(writer)))
    if kind == "wiki":
        place = write("place")
        facts = (
            f"At the census of 2021 {place} had {rng.randint(90, 90_000)} inhabitants.",
            f"It lies {rng.randint(5, 900)} m above the sea, and has an area of",
            f"{rng.randint(3, 400)} km², of which most are fields and woods.",
        )
        history = (Block("h2", ("History",)), paragraph_of(writer))
        return Version(1, place, (*(Block("p", (fact,)) for fact in facts), *history, notes))
    first = article.versions[0]
    return first._replace(blocks=(*first.blocks, notes))


def _shop(maker: Maker, seed: int, products: int) -> None:
    """Make the pages of a shop."""
    shop = Shop(products, seed)
    known: dict[str, tuple[str, Any]] = {}
    for href, shelf in shop.shelves.items():
        html, _, offer = shop.page(href, 0) or ("", "", "")
        good = shelf.offer.good
        size = len(words(" ".join((good.name, *good.description))))
        page = maker.page(html.encode(), f"http://shop{seed}.example{href}", size)
        if offer in known:
            maker.pair(known[offer][0], page, "dup", "noise", "shop", f"shop {shelf.kind}")
        known.setdefault(offer, (page, good))
    for (a, one), (b, other) in pairwise(known.values()):
        maker.pair(a, b, "diff", "variant" if one is other else "product", "shop")


class Maker:
    """Writes pages into a folder, and what is true of two of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "pages").mkdir(parents=True, exist_ok=True)
        self._lines: dict[str, list[dict[str, Any]]] = {"pages": [], "pairs": []}

    def page(self, body: bytes, url: str, size: int) -> str:
        """Write a page of so many words; return its id."""
        id_ = f"g{len(self._lines['pages']):05}"
        path = f"pages/{id_}.html"
        (self.folder / path).write_bytes(body)
        self._lines["pages"].append({"id": id_, "path": path, "url": url, "words": size})
        return id_

    def pair(
        self, a: str, b: str, label: str, kind: str, site: str, op: str = "", changed: float = 1.0
    ) -> None:
        """Note what is true of two pages: in place of the language, the kind of site is told."""
        told = {"label": label, "kind": kind, "op": op, "lang": site, "confidence": "high"}
        changed *= label != "dup"
        self._lines["pairs"].append({"a": a, "b": b, **told, "changed": changed})

    def write(self) -> None:
        """Write what is known of pages and pairs."""
        for name, lines in self._lines.items():
            text = "".join(json.dumps(line) + "\n" for line in lines)
            (self.folder / f"{name}.jsonl").write_text(text, encoding="utf-8")

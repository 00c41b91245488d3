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

from benchmarks.quality.pairs import Pairs
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


def _news(article: Article, notes: Block) -> Version:
    first = article.versions[0]
    return first._replace(blocks=(*first.blocks, notes))


def _forum(article: Article, notes: Block) -> Version:
    writer = article.writer("thread")
    blocks = [Block("lede", (article.opening[2],))]
    for number in range(writer.rng.randint(4, 9)):
        blocks.append(Block("h2", (f"{writer.write('person')}, #{number + 2}",)))
        if writer.rng.random() < 0.3:
            blocks.append(Block("quote", (writer.rng.choice(blocks[::2]).items[0],)))
        blocks.append(paragraph_of(writer))
    return Version(1, article.opening[0], (*blocks, notes))


def _documentation(article: Article, notes: Block) -> Version:
    writer = article.writer("manual")
    blocks = [notes, Block("lede", (writer.write("sentence"),))]
    for _ in range(writer.rng.randint(2, 4)):
        blocks += [Block("h2", (writer.write("subhead"),)), code(writer), paragraph_of(writer)]
    return Version(1, f"{writer.write('thing')} {article.number}", (*blocks, table(writer)))


def _wiki(article: Article, notes: Block) -> Version:
    write, rng = article.writer("stub").write, article.random("stub")
    place = write("place")
    blocks = (
        Block("lede", (f"{place} is a municipality in {write('place')}.",)),
        Block("p", (f"At the census of 2021 it had {rng.randint(90, 90_000)} inhabitants.",)),
        Block("p", (f"It lies {rng.randint(5, 900)} m above the sea, and has an area of",)),
        Block("p", (f"{rng.randint(3, 400)} km², of which most are fields and woods.",)),
        Block("h2", ("History",)),
        paragraph_of(article.writer("history")),
        notes,
    )
    return Version(1, place, blocks)


TEXTS = {"news": _news, "forum": _forum, "documentation": _documentation, "wiki": _wiki}


class Generated(Pairs):
    """Pairs that are made when they are first asked for."""

    columns = tuple(
        {"worst noise operator": "worst kind of copy", "worst language": "worst site"}.get(one, one)
        for one in Pairs.columns
    )

    @classmethod
    def load(cls, folder: Path) -> Pairs:
        """Read the pairs of a folder, and make them before if there are none."""
        if not (folder / "pairs.jsonl").exists():
            make(folder)
        return super().load(folder)


def make(folder: Path, sites: int = SITES, stories: int = STORIES) -> None:
    """Write pages and pairs of so many sites of each kind, with so many pages each."""
    maker = Maker(folder)
    for seed in range(1, sites + 1):
        for kind in TEXTS:
            maker.site(kind, seed, stories)
        maker.shop(seed, stories)
    maker.write()


class Maker:
    """Writes pages into a folder, and notes what is true of two of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "pages").mkdir(parents=True, exist_ok=True)
        self.pages: dict[str, dict[str, Any]] = {}
        self.pairs: list[dict[str, Any]] = []

    def site(self, kind: str, seed: int, stories: int) -> None:
        """Make the pages of a site, each with its copies and updates."""
        heavy, light = (of(seed, MENU, MENU) for of in (Chrome, LightChrome))
        other = LightChrome(seed + 1_000, MENU[::-1], MENU[:2])
        articles = [Article(100 * seed + len(kind), number) for number in range(stories)]
        notes = Block("p", tuple(Writer("en", "business", Random(seed)).several("sentence", 6)))
        links = [Link(article.path, *article.opening[::2]) for article in articles]
        look = DESIGNS[seed % len(DESIGNS)]
        firsts = []
        for article in articles:
            version = TEXTS[kind](article, notes)
            plain = Content(
                title=version.headline,
                design=look,
                blocks=version.blocks,
                formats=(Link(article.path, "Version 1"),),
                related=tuple(links[:6]),
                article=article,
                version=1,
            )
            site, path = f"{kind}{seed}.example", article.path

            def add(
                content: Content,
                chrome: Chrome = heavy,
                query: str = "",
                live: int = 0,
                charset: Charset = PLAIN_CHARSET,
                *,
                site: str = site,
                path: str = path,
            ) -> str:
                html = render(content, chrome, path + query, live)
                said = Version(0, content.title, content.blocks).words()
                body = web_page(200, html, charset).body
                return self.page(body, f"http://{site}{path}{query}", len(said))

            first = add(plain)
            for op, copy in {
                "later": add(plain, live=1),
                "tracking": add(plain, query="?utm_source=mail"),
                "print": add(replace(plain, design="print"), query="?print=1"),
                "amp": add(replace(plain, design="amp"), query="?amp=1"),
                "redesign": add(replace(plain, design=DESIGNS[(seed + 1) % 3]), query="?new=1"),
                "session": add(replace(plain, session=True), query="?sid=7f3a"),
                "comment": add(replace(plain, late_comment=True), query="?comments=all"),
                "charset": add(plain, query="?c=1", charset=("cp1252", "iso-8859-1", "")),
                "menu": add(plain, light, "?m=1"),
                "wrapper": add(plain, other, site=f"{site}.example.org"),
                "boxes": add(replace(plain, related=tuple(links[6:])), query="?b=1"),
                "language": add(replace(plain, language="de"), query="?hl=de"),
            }.items():
                self.pair(first, copy, "dup", "noise", kind, op)
            for number in range(UPDATES):
                new = edited(version, article.writer(f"update/{number}"))
                after = replace(plain, title=new.headline, blocks=new.blocks)
                changed = changed_fraction(version.words(), new.words())
                page = add(after, query=f"?v={number}")
                self.pair(first, page, "update", kind, kind, changed=changed)
            firsts.append(first)
        for a, b in pairwise(firsts):
            self.pair(a, b, "diff", kind, kind)

    def shop(self, seed: int, products: int) -> None:
        """Make the pages of a shop."""
        shop = Shop(products, seed)
        known: dict[str, tuple[str, Any]] = {}
        for href, shelf in shop.shelves.items():
            html, _, offer = shop.page(href, 0) or ("", "", "")
            said = len(words(f"{shelf.offer.good.name} {' '.join(shelf.offer.good.description)}"))
            page = self.page(html.encode(), f"http://shop{seed}.example{href}", said)
            if offer in known:
                self.pair(known[offer][0], page, "dup", "noise", "shop", f"shop {shelf.kind}")
            known.setdefault(offer, (page, shelf.offer))
        for (a, one), (b, other) in pairwise(known.values()):
            what = "variant" if one.good is other.good else "product"
            self.pair(a, b, "diff", what, "shop")

    def page(self, body: bytes, url: str, count: int) -> str:
        """Write a page; return its id."""
        id_ = f"g{len(self.pages):05}"
        (self.folder / f"pages/{id_}.html").write_bytes(body)
        self.pages[id_] = {"id": id_, "path": f"pages/{id_}.html", "url": url, "words": count}
        return id_

    def pair(
        self, a: str, b: str, label: str, kind: str, site: str, op: str = "", changed: float = 1.0
    ) -> None:
        """Note what is true of two pages: in place of the language, the kind of site is told."""
        told = {"label": label, "kind": kind, "op": op, "lang": site, "confidence": "high"}
        self.pairs.append({"a": a, "b": b, **told, "changed": changed * (label != "dup")})

    def write(self) -> None:
        """Write what is known of pages and pairs."""
        for name, lines in (("pages", self.pages.values()), ("pairs", self.pairs)):
            text = "".join(json.dumps(line) + "\n" for line in lines)
            (self.folder / f"{name}.jsonl").write_text(text, encoding="utf-8")

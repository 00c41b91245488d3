"""A news site whose articles have several URLs each, all of them found by links."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from random import Random
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

from crawler.site.answering import Answering, Reply, target_of, web_page
from crawler.site.articles import Article, newest_first
from crawler.site.chrome import Chrome
from crawler.site.content import (
    MENU,
    SECTIONS,
    TITLE,
    Content,
    Link,
    design_of,
    listing,
    small_pages,
)
from crawler.site.designs import render
from crawler.site.prose import TOPICS, Writer


class Address(NamedTuple):
    """A URL as the site sees it; `host` is blank where the URL has none."""

    host: str
    path: str
    query: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, url: str) -> Address:
        """Return the address of a URL, or of a path with a query."""
        parts = urlsplit(url)
        query = tuple(parse_qsl(parts.query, keep_blank_values=True))
        return cls(parts.hostname or "", parts.path or "/", query)

    @property
    def parts(self) -> list[str]:
        """What is between the slashes of the path."""
        return self.path.strip("/").split("/")

    def first(self, name: str, default: str = "") -> str:
        """Return the first value of a parameter."""
        return next((value for key, value in self.query if key == name), default)

    def without(self, names: Collection[str]) -> Address:
        """Return the address without some parameters."""
        return self._replace(query=tuple(pair for pair in self.query if pair[0] not in names))

    def plain(self) -> str:
        """Return path and query, with the parameters in the order of their names."""
        return str(self._replace(query=tuple(dict(sorted(self.query)).items())))

    def __str__(self) -> str:
        query = urlencode(self.query)
        return f"{self.path}?{query}" if query else self.path


class Found(NamedTuple):
    """What an address shows: `key` is the same for all that show the same."""

    page: Content
    key: str


class Scene(Answering):
    """Answers for a site of articles, each linked under some of its URLs.

    A scene says what an article's plain URL is (`base`), which others it has (`variants`), and
    which URL a request comes down to (`plain`), at least without the parameters that are `noise`:
    the truth, which no crawler is told.
    """

    noise: Collection[str] = ()

    def __init__(self, articles: int, seed: int) -> None:
        super().__init__([Article(seed, number) for number in range(articles)], seed)
        self.bases = {self.base(article): article for article in self.articles}
        self.pools = [self._pool(article, article.random("urls")) for article in self.articles]
        self.lists: dict[str, Content] = {}
        self.more: list[Link] = []
        self.make_lists()
        self.chrome = Chrome(seed, MENU, self.more)

    def base(self, article: Article) -> str:
        """Return the plain URL of an article, as `plain` returns it."""
        return article.path

    def variants(self, article: Article, rng: Random) -> list[str]:
        """Return the other URLs under which an article is linked."""
        return []

    def plain(self, address: Address) -> str:
        """Return the path and query that an address comes down to."""
        return address.without(self.noise).plain()

    def look(self, address: Address, design: str) -> str:
        """Return the design in which an article is shown at an address."""
        return design

    def formats(self, article: Article) -> tuple[Link, ...]:
        """Return the links to other views that the page of an article has."""
        return ()

    def find(self, address: Address) -> Found | None:
        """Return what an address shows."""
        plain = self.plain(address)
        if article := self.bases.get(plain):
            return self.found(article, address)
        page = self.lists.get(plain)
        return Found(page, plain) if page else None

    def found(self, article: Article, address: Address) -> Found:
        """Return an article as it is shown at an address."""
        page = Content.of(
            article,
            article.versions[0],
            design=self.look(address, design_of(article.section)),
            formats=self.formats(article),
            related=self.some(f"related/{article.number}", 10),
        )
        return Found(page, f"{article.id};1")

    def answer(self, url: str, hit: int) -> Reply:
        """Return the response to a URL that was served `hit` times before."""
        page, key = self.find(Address.of(url)) or Found(
            Content(title="Page not found", related=self.some("missing", 6)), key=""
        )
        html = render(page, self.chrome, target_of(url), hit)
        reply = web_page(200 if key else 404, html, content=key)
        return self.of_article(reply, page.article, 1) if page.article else reply

    def link(self, article: Article, place: str) -> Link:
        """Return a link to an article under the URL that a place of the site has for it."""
        pool = self.pools[article.number]
        return Link.to(article, pool[int(self.draw(place, article.id) * len(pool))])

    def some(self, place: str, count: int, rng: Random | None = None) -> tuple[Link, ...]:
        """Return links to some articles, drawn by `rng`, or else by the place alone."""
        rng = rng or Random(f"{self.seed}/{place}")
        chosen = rng.sample(self.articles, min(count, len(self.articles)))
        return tuple(self.link(article, place) for article in chosen)

    def make_lists(self) -> None:
        """Make the lists of the site: each URL of each article is on one of them."""
        latest = newest_first(self.articles)
        by_list: dict[str, list[Link]] = defaultdict(list)
        things = [
            Writer("en", topic, Random(f"{self.seed}/{topic}/{i}")).write("thing")
            for topic in TOPICS
            for i in range(3)
        ]
        for article in latest:
            rng = article.random("lists")
            tags = [f"/tag/{tag.lower().replace(' ', '-')}" for tag in rng.sample(things, 2)]
            places = [*tags, "/newsletter", f"/month/{article.published:%Y-%m}"]
            rng.shuffle(places)
            # The first list names all articles, the others what URLs are left.
            first, *others = rng.sample(self.pools[article.number], len(self.pools[article.number]))
            by_list[f"/{article.section}"].append(Link.to(article, first))
            for i, href in enumerate(others):
                by_list[places[i % len(places)]].append(Link.to(article, href))
        home = [self.link(article, "home") for article in latest[:30]]
        self.lists |= listing("/", TITLE, home, size=60)
        for path in sorted({*by_list, *(f"/{section}" for section in SECTIONS)}):
            name = path.rpartition("/")[2]
            title, design = name.replace("-", " ").title(), "semantic"
            if name in SECTIONS:
                design = design_of(name)
            else:
                self.more.append(Link(path, title))
            self.lists |= listing(path, title, by_list[path], design=design)
        small = small_pages(self.seed)
        self.lists |= small
        self.more += [Link(path, page.title) for path, page in small.items()]

    def _pool(self, article: Article, rng: Random) -> list[str]:
        found = list(dict.fromkeys(self.variants(article, rng)))
        # Some articles are never linked under their plain URL.
        if len(found) < 2 or rng.random() < 0.85:
            found.insert(0, self.base(article))
        return found

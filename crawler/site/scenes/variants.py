"""Variants: several URLs for one page, by parameters, paths, hosts and sessions."""

from __future__ import annotations

import re
import zlib
from random import Random

from crawler.site.articles import Article
from crawler.site.content import (
    EDITIONS,
    PAGE_SIZE,
    SECTIONS,
    Content,
    Link,
    also,
    design_of,
)
from crawler.site.news import CAMPAIGNS, SOURCES
from crawler.site.scenes.scene import Address, Found, Scene

HOUSE = "qzn"
"""A parameter of this site's own, which stands on no list of such parameters."""
HOST = "daily-miniature.example.net"
"""No such site is on the net: the spider's requests for it go to the demonstration."""


def third(article: Article) -> int:
    """Return to which third of the sections an article belongs: 0, 1 or 2."""
    return SECTIONS.index(article.section) % 3


class Sections(Scene):
    """A site where a third of the sections name their articles by a parameter, which matters."""

    def base(self, article: Article) -> str:
        by_number = f"/{article.section}/read?id={1000 + article.number}"
        return by_number if third(article) == 2 else article.path


class Tracking(Sections):
    """Links tell where they were found: utm_*, ref, fbclid, and a name that no list has."""

    noise = frozenset({"utm_source", "utm_medium", "utm_campaign", "ref", "fbclid", HOUSE})

    def variants(self, article: Article, rng: Random) -> list[str]:
        found = []
        for _ in range(rng.randint(2, 5)):
            campaign = f"{rng.choice(CAMPAIGNS)}-{rng.randint(1, 99)}"
            source = rng.choice(SOURCES)
            marks = [
                f"utm_source={source}&utm_medium=link&utm_campaign={campaign}",
                f"ref={source}",
                f"fbclid=IwAR{rng.getrandbits(96):024x}",
                f"{HOUSE}={rng.randint(10_000, 99_999)}",
            ]
            chosen = rng.sample(marks, rng.choice([1, 1, 2]))
            found.append(also(self.base(article), "&".join(chosen)))
        return found


class Sessions(Sections):
    """Visitors are told apart by their URLs: PHPSESSID, ;jsessionid, and an id in the path."""

    noise = frozenset({"PHPSESSID"})

    def variants(self, article: Article, rng: Random) -> list[str]:
        base = self.base(article)
        sessions = [f"{rng.getrandbits(128):032x}" for _ in range(rng.randint(2, 5))]
        match third(article):
            case 0:
                return [f"{base};jsessionid={session.upper()}" for session in sessions]
            case 1:
                return [f"/s/{session[:24]}{base}" for session in sessions]
        return [also(base, f"PHPSESSID={session}") for session in sessions]

    def plain(self, address: Address) -> str:
        path = address.path.partition(";jsessionid=")[0]
        if path.startswith("/s/"):
            path = f"/{path.split('/', 3)[-1]}"
        return super().plain(address._replace(path=path))


class Print(Sections):
    """Articles have print views: /print/..., .../print and printable=yes."""

    noise = frozenset({"printable"})

    def variants(self, article: Article, rng: Random) -> list[str]:
        base = self.base(article)
        found = [self.printed(article)]
        found += [also(base, "printable=yes")] if rng.random() < 0.5 else []
        # What a form makes of the URL.
        return found + ([f"/print{base}"] if rng.random() < 0.4 else [])

    def printed(self, article: Article) -> str:
        """Return the print view that the section's pages link to."""
        base = self.base(article)
        return (f"/print{base}", f"{base}/print", also(base, "printable=yes"))[third(article)]

    def formats(self, article: Article) -> tuple[Link, ...]:
        return Link(self.base(article), "Full story"), Link(self.printed(article), "Print")

    def plain(self, address: Address) -> str:
        path = address.path.removeprefix("/print").removesuffix("/print")
        return super().plain(address._replace(path=path or "/"))

    def look(self, address: Address, design: str) -> str:
        parts = address.path.split("/")
        on_paper = address.first("printable") == "yes" or "print" in (parts[1], parts[-1])
        return "print" if on_paper else design


class Aliases(Scene):
    """One site under many names: hosts, scheme, slashes, case, index.html, /amp, old headlines.

    Articles go by path, by a number after a headline that says nothing, and by parameters.
    """

    host = HOST

    def base(self, article: Article) -> str:
        number = 1000 + article.number
        return (
            article.path,
            f"/{article.section}/story/{number}",
            f"/{article.section}/read?id={number}&lang={article.language}",
        )[third(article)]

    def variants(self, article: Article, rng: Random) -> list[str]:
        base = self.base(article)
        match third(article):
            case 0:
                capitals = "/".join(part[:1].upper() + part[1:] for part in base.split("/"))
                own = [f"{base}/", f"{base}/index.html", f"{base}/amp", capitals]
            case 1:
                older = article.writer("heads").several("headline", 2)
                heads = ["-".join(re.findall(r"[a-z0-9]+", head.lower())) for head in older]
                slugs = [article.slug.rpartition("-")[0] or "story", *(h or "news" for h in heads)]
                own = [f"/{article.section}/{slug}/{1000 + article.number}" for slug in slugs]
            case _:
                path, _, query = base.partition("?")
                own = [f"{path}?{'&'.join(reversed(query.split('&')))}", f"http://www.{HOST}{base}"]
        names = [f"http://www.{HOST}{base}", f"http://m.{HOST}{base}", f"https://{HOST}{base}"]
        return [*rng.sample(own, rng.randint(1, 2)), *rng.sample(names, rng.randint(0, 2))]

    def formats(self, article: Article) -> tuple[Link, ...]:
        return (Link(self.base(article), "Full story"),)  # which an AMP page must have

    def plain(self, address: Address) -> str:
        path = address.path.lower().removesuffix("/index.html").rstrip("/").removesuffix("/amp")
        path = re.sub(r"^/(\w+)/[\w-]+/(\d{4,})$", r"/\1/story/\2", path)
        return address._replace(path=path or "/").plain()

    def look(self, address: Address, design: str) -> str:
        if address.path.rstrip("/").endswith("/amp"):
            return "amp"
        return "hashed" if address.host.startswith("m.") else design


class Partial(Scene):
    """Parameters that matter on some paths only.

    `v` and `ref` say nothing on /articles/. In the archive `v` chooses the article, among the
    reviews `ref` does.
    """

    def base(self, article: Article) -> str:
        number = 1000 + article.number
        match article.number % 4:
            case 0:
                return f"/archive/{article.published:%Y}?v={number}"
            case 1:
                return f"/reviews/show?ref={number}"
        return f"/articles/{article.slug}"

    def variants(self, article: Article, rng: Random) -> list[str]:
        marks = [f"v={rng.randint(1, 40)}", f"ref={rng.choice(SOURCES)}"]
        marks.append(f"v={rng.randint(41, 99)}")
        match article.number % 4:
            case 0:
                marks = [f"ref={rng.choice(SOURCES)}", f"ref={rng.choice(CAMPAIGNS)}"]
            case 1:
                marks = [f"v={rng.randint(1, 99)}"]
        chosen = rng.sample(marks, rng.randint(1, len(marks)))
        return [also(self.base(article), mark) for mark in chosen]

    def plain(self, address: Address) -> str:
        noise = {"archive": {"ref"}, "reviews": {"v"}}.get(address.parts[0], {"v", "ref"})
        return address.without(noise).plain()


VIEWS = {"grid": "hashed", "list": "semantic", "compact": "table"}
FACETS = ("year", "length", "sort", "view", "page")
LONG = 300


class Facets(Scene):
    """Sections have facets: `year`, `length`, `sort` and `page` matter, `view` and `from` do not.

    `page=1` is what is shown without it.
    """

    noise = frozenset({"from", "view"})

    def variants(self, article: Article, rng: Random) -> list[str]:
        places = rng.sample(["home", "section", "tag"], rng.randint(0, 2))
        return [also(self.base(article), f"from={place}") for place in places]

    def find(self, address: Address) -> Found | None:
        """Return one page of a section as its facets say; None if it has no such page."""
        name = address.path.removeprefix("/")
        if name not in SECTIONS:
            return super().find(address)
        shelved = [article for article in self.articles if article.section == name]
        years = sorted({f"{article.published:%Y}" for article in shelved}) or [""]
        year, length = address.first("year", years[-1]), address.first("length")
        sort, number = address.first("sort"), address.first("page", "1")
        in_year = [article for article in shelved if f"{article.published:%Y}" == year]
        chosen = [a for a in in_year if length not in ("short", "long") or _length(a) == length]
        chosen.sort(key=lambda a: (a.opening[0] if sort == "title" else "", a.published, a.number))
        if not sort:
            chosen.reverse()
        pages = max(1, -(-len(chosen) // PAGE_SIZE))
        if not number.isdecimal() or not 1 <= int(number) <= pages:
            return None
        start = (int(number) - 1) * PAGE_SIZE
        shown = [self.link(a, f"section/{a.number}") for a in chosen[start : start + PAGE_SIZE]]
        lengths = {_length(article) for article in in_year}
        ways: dict[str, list[str]] = {
            "sort": ["", "oldest", "title"] if len(in_year) > 1 else [],
            "length": [value for value in ("short", "long") if value in lengths],
            "year": [value if value != years[-1] else "" for value in years if value],
            "view": [*VIEWS],
            "page": [str(page + 1) for page in range(pages)] if pages > 1 else [],
        }
        page = Content(
            title=name.title(),
            language=name if name in EDITIONS else "en",
            design=VIEWS.get(address.first("view"), design_of(name)),
            entries=tuple(shown),
            formats=tuple(_way(address, key, v) for key, values in ways.items() for v in values),
        )
        entries = "\n".join(link.href for link in shown)
        return Found(page, f"{address.path}#{zlib.crc32(entries.encode()):08x}")


def _way(address: Address, name: str, value: str) -> Link:
    """Return the link that changes one facet; what it turns up begins at its first page."""
    kept = {**dict(address.query), name: value}
    if name not in ("view", "page"):
        kept["page"] = ""
    if name == "year":
        kept["length"] = ""
    query = tuple((key, kept[key]) for key in FACETS if kept.get(key))
    return Link(str(Address("", address.path, query)), value or "all")


def _length(article: Article) -> str:
    return "long" if len(article.versions[0].words()) >= LONG else "short"


SCENES: dict[str, type[Scene]] = {
    "tracking": Tracking,
    "sessions": Sessions,
    "print": Print,
    "facets": Facets,
    "aliases": Aliases,
    "partial": Partial,
}

"""Sites whose URLs say more than they need: parameters, sessions, print views, what matters now."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from crawler.site.content import Link
from crawler.site.listings import listing
from crawler.site.scenes.address import Address, also
from crawler.site.scenes.scene import Found, Scene, dated, numbered
from crawler.site.urls import CAMPAIGNS, SOURCES

if TYPE_CHECKING:
    from collections.abc import Iterable
    from random import Random

    from crawler.site.answering import Reply
    from crawler.site.articles import Article

CAMPAIGN = ("utm_source", "utm_medium", "utm_campaign")
HOUSE = "qzn"
"""A parameter of this site's own, which stands on no list of such parameters."""


class Sections(Scene):
    """A site where a third of the sections name their articles by a parameter, which matters."""

    def group(self, section: str) -> int:
        """Return to which third a section belongs: 0, 1 or 2."""
        return self.sections.index(section) % 3 if section in self.sections else 0

    def base(self, article: Article) -> str:
        """Return the plain URL of an article."""
        return numbered(article) if self.group(article.section) == 2 else dated(article)


class Tracking(Sections):
    """Links tell where they were found: utm_*, ref, fbclid, and a name that no list has."""

    noise = frozenset({*CAMPAIGN, "ref", "fbclid", HOUSE})

    def variants(self, article: Article, rng: Random) -> list[str]:
        """Return the URL with one or two marks each time."""
        base = self.base(article)
        return [
            also(base, "&".join(rng.sample(self.marks(rng), rng.choice([1, 1, 2]))))
            for _ in range(rng.randint(2, 5))
        ]

    def marks(self, rng: Random) -> list[str]:
        """Return a mark of each kind."""
        campaign = f"{rng.choice(CAMPAIGNS)}-{rng.randint(1, 99)}"
        source = rng.choice(SOURCES)
        return [
            f"utm_source={source}&utm_medium=link&utm_campaign={campaign}",
            f"ref={source}",
            f"fbclid=IwAR{rng.getrandbits(96):024x}",
            f"{HOUSE}={rng.randint(10_000, 99_999)}",
        ]

    def plain(self, address: Address) -> str:
        """Return the URL without its marks."""
        return address.without(self.noise).plain()


class Sessions(Sections):
    """Visitors are told apart by their URLs: PHPSESSID, ;jsessionid, and an id in the path."""

    def variants(self, article: Article, rng: Random) -> list[str]:
        """Return the URL as several visitors have it."""
        base, group = self.base(article), self.group(article.section)
        return [self.visited(base, group, rng) for _ in range(rng.randint(2, 5))]

    def visited(self, base: str, group: int, rng: Random) -> str:
        """Return a URL with a new session id, in the way of its section."""
        session = f"{rng.getrandbits(128):032x}"
        match group:
            case 0:
                return f"{base};jsessionid={session.upper()}"
            case 1:
                return f"/s/{session[:24]}{base}"
        return also(base, f"PHPSESSID={session}")

    def plain(self, address: Address) -> str:
        """Return the URL without its session id."""
        path = address.path.partition(";jsessionid=")[0]
        if path.startswith("/s/"):
            path = f"/{path.split('/', 3)[-1]}"
        return address._replace(path=path).without({"PHPSESSID"}).plain()


class Print(Sections):
    """Articles have print views: /print/..., .../print and printable=yes."""

    def variants(self, article: Article, rng: Random) -> list[str]:
        """Return the print view, and now and then what a form makes of the URL."""
        found = [self.printed(article)]
        if rng.random() < 0.5:
            found.append(also(self.base(article), "printable=yes"))
        if rng.random() < 0.4:
            found.append(f"/print{self.base(article)}")
        return found

    def printed(self, article: Article) -> str:
        """Return the print view that the section's pages link to."""
        base = self.base(article)
        match self.group(article.section):
            case 0:
                return f"/print{base}"
            case 1:
                return f"{base}/print"
        return also(base, "printable=yes")

    def formats(self, article: Article) -> tuple[Link, ...]:
        """Return the links between the article and its print view."""
        return Link(self.base(article), "Full story"), Link(self.printed(article), "Print")

    def plain(self, address: Address) -> str:
        """Return the URL of the page that is printed."""
        path = address.path.removeprefix("/print").removesuffix("/print")
        return address._replace(path=path or "/").without({"printable"}).plain()

    def look(self, address: Address, design: str) -> str:
        """Return the design for paper, where it was asked for."""
        paper = address.first("printable") == "yes"
        parts = address.path.split("/")
        return "print" if paper or "print" in (parts[1], parts[-1]) else design


class Partial(Scene):
    """Parameters that matter on some paths only.

    `v` and `ref` say nothing on /articles/. In the archive `v` chooses the article, among the
    reviews `ref` does.
    """

    def base(self, article: Article) -> str:
        """Return the plain URL: half of the articles have a path of their own."""
        match article.number % 4:
            case 0:
                return f"/archive/{article.published:%Y}?v={1000 + article.number}"
            case 1:
                return f"/reviews/show?ref={1000 + article.number}"
        return f"/articles/{article.slug}"

    def variants(self, article: Article, rng: Random) -> list[str]:
        """Return the URL with parameters that say nothing there."""
        base = self.base(article)
        said = [f"v={rng.randint(1, 40)}", f"ref={rng.choice(SOURCES)}", f"v={rng.randint(41, 99)}"]
        if article.number % 4 == 0:
            said = [f"ref={rng.choice(SOURCES)}", f"ref={rng.choice(CAMPAIGNS)}"]
        elif article.number % 4 == 1:
            said = [f"v={rng.randint(1, 99)}"]
        return [also(base, mark) for mark in rng.sample(said, rng.randint(1, len(said)))]

    def plain(self, address: Address) -> str:
        """Return the URL without what says nothing on its path."""
        noise = {"v", "ref"}
        if address.path.startswith("/archive/"):
            noise = {"ref"}
        elif address.path.startswith("/reviews/"):
            noise = {"v"}
        return address.without(noise).plain()


class Turning(Scene):
    """A parameter that says nothing until the site changes, half-way through the crawl.

    A story of the old half of the articles is the same in every edition. From the change on, each
    page links to the latest stories, which the editions of a number have for themselves.
    """

    turn = 0.6
    """Which share of the old half must have been served before the site changes."""

    def __init__(self, articles: int, seed: int) -> None:
        self.old = (articles + 1) // 2
        self.seen: set[str] = set()
        super().__init__(articles, seed)
        later = [self.link(article, "latest") for article in self.articles[self.old :]]
        self.lists |= listing("/latest", "Latest", later)

    @cached_property
    def later(self) -> frozenset[str]:
        """The URLs of the stories of the new half."""
        return frozenset(map(self.base, self.articles[self.old :]))

    @property
    def turned(self) -> bool:
        """Whether the site has changed."""
        return len(self.seen) >= self.turn * self.old

    def base(self, article: Article) -> str:
        """Return the plain URL: two new articles share a number."""
        if article.number < self.old:
            return f"/stories/{1000 + article.number}"
        number, second = divmod(article.number - self.old, 2)
        edition = "evening" if second else "morning"
        return f"/stories/{1000 + self.old + number}?edition={edition}"

    def variants(self, article: Article, rng: Random) -> list[str]:
        """Return the editions of an old story."""
        if article.number >= self.old:
            return []
        editions = rng.sample(["morning", "evening", "weekend"], rng.randint(2, 3))
        return [also(self.base(article), f"edition={edition}") for edition in editions]

    def plain(self, address: Address) -> str:
        """Return the URL without its edition, where there is only one."""
        number = address.path.removeprefix("/stories/")
        old = number.isdecimal() and int(number) < 1000 + self.old
        return address.without({"edition"}).plain() if old else address.plain()

    def make_shelves(self, by_list: dict[str, list[Link]]) -> None:
        """Make the lists below the home page, without what is not there yet."""
        for path, entries in by_list.items():
            by_list[path] = self.linked_first(entries)
        super().make_shelves(by_list)

    def linked_first(self, links: Iterable[Link]) -> list[Link]:
        """Return the links that were there before the change."""
        return [link for link in links if link.href not in self.later]

    def find(self, address: Address, hit: int) -> Found | None:
        """Return what an address shows; since the change, with a link to the latest stories."""
        found = super().find(address, hit)
        if found is None:
            return found
        page = found.page
        if self.turned:
            entries = (Link("/latest", "Latest stories"), *page.entries)
            return found._replace(page=replace(page, entries=entries))
        before = [tuple(self.linked_first(links)) for links in (page.entries, page.related)]
        return found._replace(page=replace(page, entries=before[0], related=before[1]))

    def note(self, target: str, serve: int, reply: Reply) -> None:
        """Write down what was served, and which old stories are known."""
        super().note(target, serve, reply)
        if reply.article and int(reply.article[1:]) < self.old:
            self.seen.add(reply.article)

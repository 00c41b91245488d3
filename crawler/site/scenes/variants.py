"""Sites whose URLs say more than they need: parameters, sessions, print views, what matters now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.site.content import Link
from crawler.site.scenes.address import Address, also
from crawler.site.scenes.scene import Scene, dated, numbered
from crawler.site.urls import CAMPAIGNS, SOURCES

if TYPE_CHECKING:
    from random import Random

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

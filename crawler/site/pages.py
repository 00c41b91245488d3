"""All pages of the site by URL: stories, listings, the shop, and what else a news site has."""

from __future__ import annotations

from collections import defaultdict
from random import Random
from typing import TYPE_CHECKING

from crawler.site.articles import Article, Block
from crawler.site.chrome import Chrome
from crawler.site.content import Content, Link
from crawler.site.listings import EDITIONS, PAGE_SIZE, listing, not_found, small_pages
from crawler.site.prose import Writer, grammar
from crawler.site.urls import View, views

if TYPE_CHECKING:
    from collections.abc import Sequence

DESIGNS = ("table", "semantic", "hashed")
FORMATS = {
    "main": "Version {}",
    "print": "Print",
    "amp": "AMP",
    "redesign": "Switch design",
    "mobile": "Mobile",
}


class Pages:
    """The site's plan by URL.

    `views` are the article pages, `contents` all others, `redirects` and `refreshes` what leads
    elsewhere by status or by a meta tag.
    """

    def __init__(self, articles: int, seed: int) -> None:
        self.seed = seed
        self.rng = Random(f"{seed}/pages")
        self.articles = [Article(seed, number) for number in range(articles)]
        self.views: dict[str, View] = {}
        self.contents: dict[str, Content] = {}
        self.redirects: dict[str, str] = {}
        self.refreshes: dict[str, str] = {}
        self.others: list[Link] = []
        self.sections = [*grammar("en").topics(), *EDITIONS]
        self.menu: list[Link] = [Link(f"/{name}", name.title()) for name in self.sections]
        self._stories()
        self._listings()
        self._small_pages()
        self._archive()
        self.chrome = Chrome(seed, self.menu, self.more)

    def design(self, section: str) -> str:
        """Return the design a section has by now: a third of them has not moved yet."""
        return DESIGNS[self.sections.index(section) % len(DESIGNS)]

    def story(self, view: View, *, session: bool = False) -> Content:
        """Return an article page."""
        article = view.article
        version = article.versions[view.version - 1]
        rng = article.random("related")
        related = rng.sample(self.articles, min(10, len(self.articles)))
        return Content(
            title=version.headline,
            language=article.language,
            design=view.design,
            blocks=version.blocks,
            formats=self.formats[article.number],
            related=tuple(self.link(other) for other in related if other is not article),
            article=article,
            version=view.version,
            session=session,
            late_comment=view.kind == "comments",
        )

    def link(self, article: Article) -> Link:
        """Return the link to an article that listings and boxes show."""
        headline, _, lede = article.opening
        return Link(self.first[article.number], headline, lede)

    def _stories(self) -> None:
        self.formats: dict[int, tuple[Link, ...]] = {}
        self.first: dict[int, str] = {}
        self.copies: list[View] = []
        self.later: list[View] = []
        for article in self.articles:
            found = [
                view
                for version in range(1, len(article.history) + 2)
                for view in views(article, version, self.design(article.section))
            ]
            self.views.update((view.href, view) for view in found)
            self.first[article.number] = found[0].href
            self.formats[article.number] = tuple(
                Link(view.href, FORMATS[view.kind].format(view.version))
                for view in found
                if view.kind in FORMATS
            )
            self.copies += [view for view in found if view.kind != "main"]
            self.later += [view for view in found if view.kind == "main" and view.version > 1]

    def _listings(self) -> None:
        latest = sorted(self.articles, key=lambda a: (a.published, a.number), reverse=True)
        self._list("/", "The Daily Miniature", [self.link(a) for a in latest[:30]], pages=1)
        by_section: dict[str, list[Link]] = defaultdict(list)
        by_tag: dict[str, list[Link]] = defaultdict(list)
        things = [Writer("en", t, self.rng).write("thing") for t in grammar("en").topics() * 3]
        for article in latest:
            by_section[article.section].append(self.link(article))
            for tag in article.random("tags").sample(things, 2):
                by_tag[tag].append(self.link(article))
        for section in self.sections:
            entries = by_section[section]
            self._list(f"/{section}", section.title(), entries, design=self.design(section))
            self._list(f"/{section}?sort=popular", section.title(), entries[PAGE_SIZE - 1 :: -1])
        tags = [
            self._list(f"/tag/{tag.lower().replace(' ', '-')}", tag, entries, pages=2)
            for tag, entries in sorted(by_tag.items())
        ]
        updates = [
            Link(view.href, f"Update: {view.article.opening[0]}", view.article.opening[2])
            for view in self.later
        ]
        tracked = [
            Link(view.href, view.article.opening[0], view.article.opening[2])
            for view in self.copies
            if view.kind == "tracking"
        ]
        self.more: list[Link] = [
            *tags,
            self._list("/live", "Live", updates),
            self._list("/newsletter", "Newsletter", tracked, size=12),
            Link("/feed.xml", "RSS"),
        ]

    def _small_pages(self) -> None:
        for path, page in small_pages(self.seed).items():
            self.contents[path] = page
            self.more.append(Link(path, page.title))
        for article in self.articles[::10]:
            _, author, _ = article.opening
            bio = f"{author} writes about {article.section} from {article.cast['city']}."
            path = f"/author/{article.number}"
            self.contents[path] = Content(
                title=author, blocks=(Block("p", (bio,)),), entries=(self.link(article),)
            )
            self.others.append(Link(path, author))
        for number in range(len(self.articles) // 20 + 1):
            writer = Writer("en", "travel", Random(f"{self.seed}/photo/{number}"))
            figure = Block("figure", (writer.write("caption"),))
            path = f"/photo/{number}"
            self.contents[path] = Content(title="Photo of the day", blocks=(figure,))
            self.others.append(Link(path, "Photo of the day"))
            self.others.append(Link(f"/img/{number:03}.png", "Full size"))
        for number in range(len(self.articles) // 25 + 4):
            writer = Writer("en", self.rng.choice(grammar("en").topics()), self.rng)
            slug = "-".join(writer.write("headline").lower().split()[:5])
            self.others.append(Link(f"/story/{number}-{slug}".replace("’", ""), "Archived story"))
            self.others.append(Link(f"/removed/{number}", "Removed story"))

    def _archive(self) -> None:
        """List what has no other place: every copy, every short link, month by month."""
        months: dict[str, list[Link]] = defaultdict(list)
        for article in self.articles:
            link, rng = self.link(article), article.random("archive")
            entries = months[f"{article.published:%Y/%m}"]
            entries.append(link)
            if rng.random() < 0.25:
                entries.append(link._replace(session=True))
            if rng.random() < 0.08:
                self.redirects[f"/a/{article.number}"] = link.href
                entries.append(Link(f"/a/{article.number}", link.text))
            if rng.random() < 0.03:
                self.refreshes[f"/moved/{article.number}"] = link.href
                entries.append(Link(f"/moved/{article.number}", link.text))
        for view in self.copies:
            text = f"{view.article.opening[0]} ({view.kind})"
            months[f"{view.article.published:%Y/%m}"].append(Link(view.href, text))
        for name, entries in sorted(months.items()):
            title = f"Archive {name}"
            self.more.append(
                self._list(f"/archive/{name}", title, entries, design="table", size=40)
            )
        self.more.append(self._list("/more", "More", self.others, size=40))

    def _list(
        self,
        path: str,
        title: str,
        entries: Sequence[Link],
        *,
        design: str = "semantic",
        size: int = PAGE_SIZE,
        pages: int = 10_000,
    ) -> Link:
        """Add a listing with its pages; return the link to its first one."""
        self.contents |= listing(path, title, entries, design=design, size=size, pages=pages)
        return Link(path, title)

    def missing(self, path: str) -> Content:
        """Return the page of a story that is gone: found, says its status; not found, its text."""
        return not_found(path, tuple(self.link(article) for article in self.articles[:6]))

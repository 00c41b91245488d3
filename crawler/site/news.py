"""The news and the shop as a function from request to reply."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from html import escape
from random import Random
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from crawler.site.answering import (
    PLAIN_CHARSET,
    Answering,
    Charset,
    Reply,
    static_file,
    target_of,
    web_page,
)
from crawler.site.articles import Article, Block, newest_first
from crawler.site.chrome import Chrome
from crawler.site.content import (
    PAGE_SIZE,
    SECTIONS,
    TITLE,
    Content,
    Link,
    also,
    design_of,
    listing,
    not_found,
    small_pages,
)
from crawler.site.designs import render
from crawler.site.prose import Writer, grammar
from crawler.site.shop import Shop

# In the bytes, in the header and in the page; some of them contradict.
CHARSETS: dict[str, list[Charset]] = {
    "en": [("cp1252", "iso-8859-1", ""), ("utf-8", "", ""), ("utf-8", "iso-8859-1", "utf-8")],
    "de": [("cp1252", "iso-8859-1", ""), ("cp1252", "", "iso-8859-1"), ("cp1252", "utf-8", "")],
    "ar": [("cp1256", "windows-1256", ""), ("utf-8", "", "utf-8")],
    "zh": [("gb18030", "gb2312", ""), ("gb18030", "", "gbk"), ("utf-8", "", "")],
}
CAMPAIGNS = ["spring", "brand", "retarget", "evening", "push"]
SOURCES = ["newsletter", "twitter", "facebook", "rss", "partner"]
FORMATS = {
    "main": "Version {}",
    "print": "Print",
    "amp": "AMP",
    "redesign": "Switch design",
    "mobile": "Mobile",
}


class View(NamedTuple):
    """One URL under which a version of an article can be seen."""

    article: Article
    version: int
    href: str
    kind: str
    design: str
    charset: Charset = PLAIN_CHARSET


def views(article: Article, version: int) -> list[View]:
    """Return all views of a version, its main one first: later ones have URLs of their own.

    A copy in the design of another section is what a redesign half-way through makes.
    """
    rng = Random(f"{article.seed}/views/{article.number}/{version}")
    base, design = article.path, design_of(article.section)
    if version > 1:
        own = f"/live/{article.slug}/{version}"
        base = own if article.number % 2 else f"{base}?rev={version}"
    found: list[View] = []

    def add(kind: str, href: str, look: str = design) -> None:
        strange = rng.random() < 0.05
        charset = rng.choice(CHARSETS[article.language]) if strange else PLAIN_CHARSET
        found.append(View(article, version, href, kind, look, charset))

    add("main", base)
    for _ in range(rng.choice([0, 0, 1, 1, 2])):
        source, campaign = rng.choice(SOURCES), rng.choice(CAMPAIGNS)
        query = f"utm_source={source}&utm_medium=link&utm_campaign={campaign}-{rng.randint(1, 99)}"
        if rng.random() < 0.4:
            query = f"fbclid=IwAR{rng.getrandbits(96):024x}"
        add("tracking", also(base, query))
    if rng.random() < 0.3:
        add("print", f"/print/{article.number}?version={version}", "print")
    if rng.random() < 0.3:
        add("amp", f"/amp{base}", "amp")
    if rng.random() < 0.3:
        old = design == "table"
        add("redesign", f"/{'beta' if old else 'classic'}{base}", "semantic" if old else "table")
    if rng.random() < 0.12:
        add("comments", also(base, "comments=all"))
    if rng.random() < 0.08:
        add("mobile", f"/m{base}", "hashed")
    return found


class Site(Answering):
    """The news and the shop.

    `views` are the article pages by URL, `pages` all others of the news, `redirects` and
    `refreshes` what leads elsewhere by status or by a meta tag.
    """

    def __init__(self, articles: int, seed: int) -> None:
        super().__init__([Article(seed, number) for number in range(articles)], seed)
        self.rng = Random(f"{seed}/pages")
        self.views: dict[str, View] = {}
        self.pages: dict[str, Content] = {}
        self.redirects: dict[str, str] = {}
        self.refreshes: dict[str, str] = {}
        self.views_of = [
            [
                view
                for number in range(len(article.history) + 1)
                for view in views(article, number + 1)
            ]
            for article in self.articles
        ]
        for found in self.views_of:
            self.views.update((view.href, view) for view in found)
        self.copies = [view for found in self.views_of for view in found if view.kind != "main"]
        menu = [Link(f"/{name}", name.title()) for name in SECTIONS]
        self.more = self._listings()
        self.others: list[Link] = []
        self._small_pages()
        self._archive()
        self.chrome = Chrome(seed, menu, self.more)
        self.shop = Shop(articles, seed)

    @property
    def products(self) -> list[str]:
        """The numbers of what the shop sells."""
        return sorted(self.shop.numbers)

    def answer(self, url: str, hit: int) -> Reply:
        """Return the response to a URL that was served `hit` times before."""
        target = target_of(url) if "://" in url else url
        plain = _without_session(target) if "sid=" in target else target
        reply = self._answer(target, plain, hit)
        if reply.article:
            return self.with_tag(reply)._replace(content=f"{reply.article};{reply.version}")
        found = reply.html and reply.status == 200
        return reply._replace(content=reply.offer or (plain if found else ""))

    def _answer(self, target: str, plain: str, hit: int) -> Reply:
        # Some pages are asked for twice.
        is_busy = hit == 0 and self.draw("unavailable", target) < 0.02
        if view := self.views.get(plain):
            if is_busy:
                return _busy()
            content = self.story(view, session="sid=" in target)
            reply = web_page(200, render(content, self.chrome, target, hit), view.charset)
            return reply._replace(article=view.article.id, version=view.version)
        if page := self.pages.get(plain):
            return web_page(200, render(page, self.chrome, target, hit))
        if sold := self.shop.page(plain, hit):
            html, product, offer = sold
            return (
                _busy()
                if offer and is_busy
                else web_page(200, html)._replace(product=product, offer=offer)
            )
        return self._elsewhere(plain) or static_file(plain) or self._missing(plain, hit)

    def _elsewhere(self, target: str) -> Reply | None:
        """Return a redirect, by status or by a meta tag, or the feed."""
        if target in self.redirects:
            return Reply(301, {"Location": self.redirects[target]}, b"")
        if target in self.refreshes:
            to = escape(self.refreshes[target])
            return web_page(
                200, f'<html><head><meta http-equiv="refresh" content="0; url={to}"></head>'
            )
        if target.startswith("/go?to=/"):
            return Reply(302, {"Location": target.removeprefix("/go?to=")}, b"")
        if target == "/feed.xml":
            items = "".join(
                f"<item><title>{escape(link.text)}</title><link>{escape(link.href)}</link></item>"
                for link in map(self.link, self.articles[:20])
            )
            feed = f'<rss version="2.0"><channel>{items}</channel></rss>'
            return Reply(200, {"Content-Type": "application/rss+xml"}, feed.encode())
        return None

    def _missing(self, target: str, hit: int) -> Reply:
        """Return what stands for a page that is gone: old stories say so with status 200."""
        status = 200 if target.startswith("/story/") else 404
        page = not_found(target, tuple(map(self.link, self.articles[:6])))
        return web_page(status, render(page, self.chrome, target, hit))

    def story(self, view: View, *, session: bool = False) -> Content:
        """Return an article page."""
        article = view.article
        version = article.versions[view.version - 1]
        related = article.random("related").sample(self.articles, min(10, len(self.articles)))
        return Content(
            title=version.headline,
            language=article.language,
            design=view.design,
            blocks=version.blocks,
            formats=tuple(
                Link(other.href, FORMATS[other.kind].format(other.version))
                for other in self.views_of[article.number]
                if other.kind in FORMATS
            ),
            related=tuple(self.link(other) for other in related if other is not article),
            article=article,
            version=view.version,
            session=session,
            late_comment=view.kind == "comments",
        )

    def link(self, article: Article) -> Link:
        """Return the link to an article that listings and boxes show."""
        headline, _, lede = article.opening
        return Link(article.path, headline, lede)

    def _listings(self) -> list[Link]:
        """Make the home page, sections and tags; return what menus name beside sections."""
        latest = newest_first(self.articles)
        self._list("/", TITLE, [self.link(a) for a in latest[:30]], pages=1)
        by_section: dict[str, list[Link]] = defaultdict(list)
        by_tag: dict[str, list[Link]] = defaultdict(list)
        things = [Writer("en", t, self.rng).write("thing") for t in grammar("en").topics() * 3]
        for article in latest:
            by_section[article.section].append(self.link(article))
            for tag in article.random("tags").sample(things, 2):
                by_tag[tag].append(self.link(article))
        for section in SECTIONS:
            entries = by_section[section]
            self._list(f"/{section}", section.title(), entries, design=design_of(section))
            self._list(f"/{section}?sort=popular", section.title(), entries[PAGE_SIZE - 1 :: -1])
        tags = [
            self._list(f"/tag/{tag.lower().replace(' ', '-')}", tag, entries, pages=2)
            for tag, entries in sorted(by_tag.items())
        ]
        updates = [
            self.link(view.article)._replace(
                href=view.href, text=f"Update: {view.article.opening[0]}"
            )
            for view in self.views.values()
            if view.kind == "main" and view.version > 1
        ]
        tracked = [
            self.link(view.article)._replace(href=view.href)
            for view in self.copies
            if view.kind == "tracking"
        ]
        return [
            *tags,
            self._list("/live", "Live", updates),
            self._list("/newsletter", "Newsletter", tracked, size=12),
            Link("/feed.xml", "RSS"),
        ]

    def _small_pages(self) -> None:
        for path, page in small_pages(self.seed).items():
            self.pages[path] = page
            self.more.append(Link(path, page.title))
        for article in self.articles[::10]:
            _, author, _ = article.opening
            bio = f"{author} writes about {article.section} from {article.cast['city']}."
            path = f"/author/{article.number}"
            self.pages[path] = Content(
                title=author, blocks=(Block("p", (bio,)),), entries=(self.link(article),)
            )
            self.others.append(Link(path, author))
        for number in range(len(self.articles) // 20 + 1):
            writer = Writer("en", "travel", Random(f"{self.seed}/photo/{number}"))
            figure = Block("figure", (writer.write("caption"),))
            path = f"/photo/{number}"
            self.pages[path] = Content(title="Photo of the day", blocks=(figure,))
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
            for kind, share, to in (("a", 0.08, self.redirects), ("moved", 0.03, self.refreshes)):
                if rng.random() < share:
                    to[f"/{kind}/{article.number}"] = link.href
                    entries.append(Link(f"/{kind}/{article.number}", link.text))
        for view in self.copies:
            text = f"{view.article.opening[0]} ({view.kind})"
            months[f"{view.article.published:%Y/%m}"].append(Link(view.href, text))
        for name, entries in sorted(months.items()):
            path = f"/archive/{name}"
            self.more.append(self._list(path, f"Archive {name}", entries, design="table", size=40))
        self.more.append(self._list("/more", "More", self.others, size=40))

    def _list(self, path: str, title: str, entries: Sequence[Link], **how: Any) -> Link:
        """Add a listing with its pages; return the link to its first one."""
        self.pages |= listing(path, title, entries, **how)
        return Link(path, title)


def _without_session(target: str) -> str:
    """Return the target without its session id; a link it carries is decoded."""
    path, _, query = target.partition("?")
    kept = [f"{name}={value}" for name, value in parse_qsl(query) if name != "sid"]
    return f"{path}?{'&'.join(kept)}" if kept else path


def _busy() -> Reply:
    return Reply(503, {"Content-Type": "text/html", "Retry-After": "0"}, b"Try later")

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
    target_of,
    web_page,
)
from crawler.site.articles import Article, Block, newest_first
from crawler.site.chrome import Chrome, anchors
from crawler.site.content import (
    MENU,
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
from crawler.site.prose import TOPICS, Writer
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
        self.pages: dict[str, Content] = {}
        self.redirects: dict[str, str] = {}
        self.refreshes: dict[str, str] = {}
        self.views_of = [
            [view for i in range(len(article.history) + 1) for view in views(article, i + 1)]
            for article in self.articles
        ]
        self.views = {view.href: view for found in self.views_of for view in found}
        self.copies = [view for found in self.views_of for view in found if view.kind != "main"]
        self.more = self._listings()
        self.others: list[Link] = []
        self._small_pages()
        self._archive()
        self.chrome = Chrome(seed, MENU, self.more)
        self.shop = Shop(articles, seed)
        self.products = sorted(self.shop.numbers)

    def answer(self, url: str, hit: int) -> Reply:
        """Return the response to a URL that was served `hit` times before."""
        target = target_of(url) if "://" in url else url
        reply = self._answer(target, hit)
        # Some pages are asked for twice.
        is_page = hit == 0 and (reply.article or reply.offer)
        if is_page and self.draw("unavailable", target) < 0.02:
            return Reply(503, {"Content-Type": "text/html", "Retry-After": "0"}, b"Try later")
        return reply

    def _answer(self, target: str, hit: int) -> Reply:
        plain = target
        if "sid=" in target:  # which says nothing; a link beside it is decoded
            path, _, query = target.partition("?")
            kept = [f"{name}={value}" for name, value in parse_qsl(query) if name != "sid"]
            plain = f"{path}?{'&'.join(kept)}" if kept else path
        if view := self.views.get(plain):
            story = self.story(view, session="sid=" in target)
            reply = web_page(200, render(story, self.chrome, target, hit), view.charset)
            return self.of_article(reply, view.article, view.version)
        if page := self.pages.get(plain):
            return web_page(200, render(page, self.chrome, target, hit), content=plain)
        if sold := self.shop.page(plain, hit):
            html, product, offer = sold
            reply = web_page(200, html, content=offer or plain)
            return reply._replace(product=product, offer=offer)
        return self._elsewhere(plain) or self._missing(plain, hit)

    def _elsewhere(self, target: str) -> Reply | None:
        """Return a redirect, by status or by a meta tag, or the feed."""
        if target in self.redirects:
            return Reply(301, {"Location": self.redirects[target]}, b"")
        if target in self.refreshes:
            to = escape(self.refreshes[target])
            html = f'<html><head><meta http-equiv="refresh" content="0; url={to}"></head>'
            return web_page(200, html, content=target)
        if target.startswith("/go?to=/"):
            return Reply(302, {"Location": target.removeprefix("/go?to=")}, b"")
        if target == "/feed.xml":
            links = map(Link.to, self.articles[:20])
            items = anchors(links, "<item><title>{1}</title><link>{0}</link></item>")
            feed = f'<rss version="2.0"><channel>{items}</channel></rss>'
            return Reply(200, {"Content-Type": "application/rss+xml"}, feed.encode())
        return None

    def _missing(self, target: str, hit: int) -> Reply:
        """Return what stands for a page that is gone: old stories say so with status 200."""
        page = not_found(target, tuple(map(Link.to, self.articles[:6])))
        html = render(page, self.chrome, target, hit)
        if target.startswith("/story/"):
            return web_page(200, html, content=target)
        return web_page(404, html)

    def story(self, view: View, *, session: bool = False) -> Content:
        """Return an article page."""
        article = view.article
        related = article.random("related").sample(self.articles, min(10, len(self.articles)))
        return Content.of(
            article,
            article.versions[view.version - 1],
            design=view.design,
            formats=tuple(
                Link(other.href, FORMATS[other.kind].format(other.version))
                for other in self.views_of[article.number]
                if other.kind in FORMATS
            ),
            related=tuple(Link.to(other) for other in related if other is not article),
            session=session,
            late_comment=view.kind == "comments",
        )

    def _listings(self) -> list[Link]:
        """Make the home page, sections and tags; return what menus name beside sections."""
        latest = newest_first(self.articles)
        self._list("/", TITLE, [*map(Link.to, latest[:30])], pages=1)
        by_section: dict[str, list[Link]] = defaultdict(list)
        by_tag: dict[str, list[Link]] = defaultdict(list)
        things = [Writer("en", topic, self.rng).write("thing") for topic in TOPICS * 3]
        for article in latest:
            by_section[article.section].append(Link.to(article))
            for tag in article.random("tags").sample(things, 2):
                by_tag[tag].append(Link.to(article))
        for section in SECTIONS:
            entries = by_section[section]
            self._list(f"/{section}", section.title(), entries, design=design_of(section))
            self._list(f"/{section}?sort=popular", section.title(), entries[PAGE_SIZE - 1 :: -1])
        tags = [
            self._list(f"/tag/{tag.lower().replace(' ', '-')}", tag, entries, pages=2)
            for tag, entries in sorted(by_tag.items())
        ]
        updates = [
            Link.to(view.article, view.href)._replace(text=f"Update: {view.article.opening[0]}")
            for view in self.views.values()
            if view.kind == "main" and view.version > 1
        ]
        tracked = [Link.to(it.article, it.href) for it in self.copies if it.kind == "tracking"]
        return [
            *tags,
            self._list("/live", "Live", updates),
            self._list("/newsletter", "Newsletter", tracked, size=12),
            Link("/feed.xml", "RSS"),
        ]

    def _small_pages(self) -> None:
        """Make pages of few words; name those of authors and photos, and what is not there."""
        small = small_pages(self.seed)
        self.pages |= small
        self.more += [Link(path, page.title) for path, page in small.items()]
        for article in self.articles[::10]:
            _, author, _ = article.opening
            bio = f"{author} writes about {article.section} from {article.cast['city']}."
            link = Link(f"/author/{article.number}", author)
            self.pages[link.href] = Content(
                title=author, blocks=(Block("p", (bio,)),), entries=(Link.to(article),)
            )
            self.others.append(link)
        for number in range(len(self.articles) // 20 + 1):
            writer = Writer("en", "travel", Random(f"{self.seed}/photo/{number}"))
            figure = Block("figure", (writer.write("caption"),))
            link = Link(f"/photo/{number}", "Photo of the day")
            self.pages[link.href] = Content(title=link.text, blocks=(figure,))
            self.others += [link, Link(f"/img/{number:03}.png", "Full size")]
        for number in range(len(self.articles) // 25 + 4):
            words = Writer.of_any_topic(self.rng).write("headline").lower().split()[:5]
            story = f"/story/{number}-{'-'.join(words)}".replace("’", "")
            self.others += [Link(story, "Archived story")]
            self.others += [Link(f"/removed/{number}", "Removed story")]

    def _archive(self) -> None:
        """List what has no other place: every copy, every short link, month by month."""
        months: dict[str, list[Link]] = defaultdict(list)
        for article in self.articles:
            link, rng = Link.to(article), article.random("archive")
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

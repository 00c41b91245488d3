"""The site as a function from request to reply."""

from __future__ import annotations

from html import escape
from urllib.parse import parse_qsl

from crawler.site.answering import Answering, Reply, static_file, target_of, web_page
from crawler.site.designs import render
from crawler.site.pages import Pages
from crawler.site.shop.shop import Shop


class Site(Answering):
    """The news and the shop."""

    def __init__(self, articles: int, seed: int) -> None:
        self.pages = Pages(articles, seed)
        super().__init__(self.pages.articles, seed)
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

    def _unavailable(self, target: str, hit: int) -> bool:
        """Whether the server is too busy for a page: some are asked for twice."""
        return hit == 0 and self.draw("unavailable", target) < 0.02

    def _answer(self, target: str, plain: str, hit: int) -> Reply:
        if view := self.pages.views.get(plain):
            if self._unavailable(target, hit):
                return _busy()
            content = self.pages.story(view, session="sid=" in target)
            html = render(content, self.pages.chrome, target, hit)
            reply = web_page(200, html, view.charset)
            return reply._replace(article=view.article.id, version=view.version)
        if page := self.pages.contents.get(plain):
            return web_page(200, render(page, self.pages.chrome, target, hit))
        if sold := self.shop.page(plain, hit):
            if sold.offer and self._unavailable(target, hit):
                return _busy()
            return web_page(200, sold.html)._replace(product=sold.product, offer=sold.offer)
        return self._elsewhere(plain) or self._file(plain) or self._missing(plain, hit)

    def _elsewhere(self, target: str) -> Reply | None:
        """Return a redirect, by status or by a meta tag."""
        if target in self.pages.redirects:
            return Reply(301, {"Location": self.pages.redirects[target]}, b"")
        if target in self.pages.refreshes:
            to = escape(self.pages.refreshes[target])
            return web_page(
                200, f'<html><head><meta http-equiv="refresh" content="0; url={to}"></head>'
            )
        if target.startswith("/go?to=/"):
            return Reply(302, {"Location": target.removeprefix("/go?to=")}, b"")
        return None

    def _file(self, target: str) -> Reply | None:
        """Return what is no web page."""
        if target == "/feed.xml":
            return Reply(200, {"Content-Type": "application/rss+xml"}, self._feed())
        return static_file(target)

    def _missing(self, target: str, hit: int) -> Reply:
        """Return what stands for a page that is gone: old stories say so with status 200."""
        status = 200 if target.startswith("/story/") else 404
        return web_page(status, render(self.pages.missing(target), self.pages.chrome, target, hit))

    def _feed(self) -> bytes:
        items = "".join(
            f"<item><title>{escape(link.text)}</title><link>{escape(link.href)}</link></item>"
            for link in map(self.pages.link, self.pages.articles[:20])
        )
        return f'<rss version="2.0"><channel>{items}</channel></rss>'.encode()


def _without_session(target: str) -> str:
    """Return the target without its session id; a link it carries is decoded."""
    path, _, query = target.partition("?")
    kept = [f"{name}={value}" for name, value in parse_qsl(query) if name != "sid"]
    return f"{path}?{'&'.join(kept)}" if kept else path


def _busy() -> Reply:
    return Reply(503, {"Content-Type": "text/html", "Retry-After": "0"}, b"Try later")

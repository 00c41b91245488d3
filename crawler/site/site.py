"""The site as a function from request to reply, with the log of what it served."""

from __future__ import annotations

import gzip
import json
import threading
import zlib
from collections import Counter
from html import escape
from typing import NamedTuple
from urllib.parse import parse_qsl

from crawler.site.designs import render
from crawler.site.pages import Pages
from crawler.site.shop.shop import Shop
from crawler.site.urls import PLAIN, Charset
from crawler.truth import Served

ROBOTS = b"User-agent: *\nDisallow: /search\nDisallow: /account\n"
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360"
    "606060000000050001a5f645400000000049454e44ae426082"
)


class Reply(NamedTuple):
    """One response: status, headers and body, with what the truth says about it."""

    status: int
    headers: dict[str, str]
    body: bytes
    article: str = ""
    version: int = 0
    product: str = ""
    offer: str = ""

    @property
    def html(self) -> bool:
        """Whether it is a web page."""
        return self.headers.get("Content-Type", "").startswith("text/html")


class Site:
    """Answers requests. Safe to call from several threads."""

    def __init__(self, articles: int, seed: int) -> None:
        self.pages = Pages(articles, seed)
        self.shop = Shop(articles, seed)
        self.offers = {product.sku: product.offer for product in self.pages.products}
        self.seed = seed
        self.log: list[Served] = []
        self._hits: Counter[str] = Counter()
        self._lock = threading.Lock()

    def reply(self, target: str, *, accepts_gzip: bool = False) -> Reply:
        """Return the response to a GET of `target`, a path with its query."""
        if target == "/-/truth":
            return Reply(200, {"Content-Type": "application/json"}, self.truth())
        if target == "/-/serve":
            return Reply(200, {"Content-Type": "application/json"}, str(len(self.log)).encode())
        with self._lock:
            hit = self._hits[target]
            self._hits[target] += 1
        reply = self._answer(target, hit)
        if accepts_gzip and reply.html and self._draw("gzip", target) < 0.4:
            reply.headers["Content-Encoding"] = "gzip"
            reply = reply._replace(body=gzip.compress(reply.body, 1, mtime=0))
        with self._lock:
            entry = Served(
                serve=len(self.log) + 1,
                path=target,
                status=reply.status,
                html=reply.html,
                article=reply.article,
                version=reply.version,
                product=reply.product,
                offer=reply.offer,
            )
            self.log.append(entry)
        reply.headers["X-Demo-Serve"] = str(entry.serve)
        if reply.article:
            reply.headers["X-Demo-Article"] = f"{reply.article};{reply.version}"
        if reply.product:
            reply.headers["X-Demo-Product"] = reply.product
        if reply.offer:
            reply.headers["X-Demo-Offer"] = reply.offer
        return reply

    def truth(self) -> bytes:
        """Return what the site knows: articles, products, changes and the serve log, as JSON."""
        articles = self.pages.articles
        changed = {f"{i} {a} {b}": c for x in articles for (i, a, b), c in x.changes().items()}
        known = {
            "articles": [article.id for article in articles],
            "products": [*self.offers, *sorted(self.shop.numbers)],
            "changed": changed,
            "log": list(self.log),
        }
        return json.dumps(known).encode()

    def _draw(self, name: str, target: str) -> float:
        """Return a number from 0 to 1 that hangs on seed, name and target alone."""
        return zlib.crc32(f"{self.seed}/{name}/{target}".encode()) / 2**32

    def _unavailable(self, target: str, hit: int) -> bool:
        """Whether the server is too busy for a page: some are asked for twice."""
        return hit == 0 and self._draw("unavailable", target) < 0.02

    def _answer(self, target: str, hit: int) -> Reply:
        session = "sid=" in target
        plain = _without_session(target) if session else target
        if view := self.pages.views.get(plain):
            if self._unavailable(target, hit):
                return _busy()
            content = self.pages.story(view, session=session)
            html = render(content, self.pages.chrome, target, hit)
            reply = _page(200, html, view.charset)
            return reply._replace(article=view.article.id, version=view.version)
        if page := self.pages.contents.get(plain):
            html = render(page, self.pages.chrome, target, hit)
            offer = self.offers.get(page.product, "")
            return _page(200, html)._replace(product=page.product, offer=offer)
        if sold := self.shop.page(plain, hit):
            if sold.offer and self._unavailable(target, hit):
                return _busy()
            return _page(200, sold.html)._replace(product=sold.product, offer=sold.offer)
        return self._elsewhere(plain) or self._file(plain) or self._missing(plain, hit)

    def _elsewhere(self, target: str) -> Reply | None:
        """Return a redirect, by status or by a meta tag."""
        if target in self.pages.redirects:
            return Reply(301, {"Location": self.pages.redirects[target]}, b"")
        if target in self.pages.refreshes:
            to = escape(self.pages.refreshes[target])
            return _page(
                200, f'<html><head><meta http-equiv="refresh" content="0; url={to}"></head>'
            )
        if target.startswith("/go?to=/"):
            return Reply(302, {"Location": target.removeprefix("/go?to=")}, b"")
        return None

    def _file(self, target: str) -> Reply | None:
        """Return what is no web page."""
        if target == "/robots.txt":
            return Reply(200, {"Content-Type": "text/plain"}, ROBOTS)
        if target == "/feed.xml":
            return Reply(200, {"Content-Type": "application/rss+xml"}, self._feed())
        if target.startswith("/img/"):
            return Reply(200, {"Content-Type": "image/png"}, PIXEL)
        return None

    def _missing(self, target: str, hit: int) -> Reply:
        """Return what stands for a page that is gone: old stories say so with status 200."""
        status = 200 if target.startswith("/story/") else 404
        return _page(status, render(self.pages.missing(target), self.pages.chrome, target, hit))

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


def _page(status: int, html: str, charset: Charset = PLAIN) -> Reply:
    encoding, in_header, in_page = charset
    kind = f"text/html; charset={in_header}" if in_header else "text/html"
    if in_page:
        html = html.replace("<head>", f'<head><meta charset="{in_page}">', 1)
    return Reply(status, {"Content-Type": kind}, html.encode(encoding, "xmlcharrefreplace"))


def _busy() -> Reply:
    return Reply(503, {"Content-Type": "text/html", "Retry-After": "0"}, b"Try later")

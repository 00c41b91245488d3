"""What every site of the demonstration does: it answers, counts, and knows what it has served."""

from __future__ import annotations

import gzip
import json
import threading
import zlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from crawler.site.articles import Article
from crawler.truth import Served, Truth

ROBOTS = b"User-agent: *\nDisallow: /search\nDisallow: /account\n"
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360"
    "606060000000050001a5f645400000000049454e44ae426082"
)
Charset = tuple[str, str, str]
PLAIN_CHARSET: Charset = ("utf-8", "utf-8", "utf-8")


class Reply(NamedTuple):
    """One response: status, headers and body, with what the truth says about it (see `Served`)."""

    status: int
    headers: dict[str, str]
    body: bytes
    article: str = ""
    version: int = 0
    product: str = ""
    offer: str = ""
    content: str = ""

    @property
    def html(self) -> bool:
        """Whether it is a web page."""
        return self.headers.get("Content-Type", "").startswith("text/html")


class Answering(ABC):
    """Answers requests. Safe to call from several threads.

    `host` is the name of the site's host, where it has one of its own, and `products` are the
    numbers of what it sells.
    """

    host = ""
    products: Sequence[str] = ()

    def __init__(self, articles: Sequence[Article], seed: int) -> None:
        self.articles = articles
        self.seed = seed
        self.log: list[Served] = []
        self._hits: Counter[str] = Counter()
        self._lock = threading.Lock()

    @abstractmethod
    def answer(self, url: str, hit: int) -> Reply:
        """Return the response to a URL that was served `hit` times before; nothing is noted.

        A URL without a host is one of the site's own.
        """

    def reply(
        self, target: str, *, accepts_gzip: bool = False, asked: Mapping[str, str] | None = None
    ) -> Reply:
        """Return the response to a GET of a path with its query, or of a whole URL.

        `asked` are the headers of the request.
        """
        if target == "/-/truth":
            return _json(self.truth())
        if target == "/-/serve":
            return _json(len(self.log))
        with self._lock:
            hit = self._hits[target]
            self._hits[target] += 1
        reply = static_file(target) or conditional(self.answer(target, hit), asked or {})
        if accepts_gzip and reply.html and self.draw("gzip", target) < 0.4:
            reply.headers["Content-Encoding"] = "gzip"
            reply = reply._replace(body=gzip.compress(reply.body, 1, mtime=0))
        with self._lock:
            serve = len(self.log) + 1
            self.log.append(Served(serve, target, reply.status, reply.html, *reply[3:]))
        article = reply.article and f"{reply.article};{reply.version}"
        told = {"Serve": str(serve), "Article": article, "Product": reply.product}
        told["Offer"] = reply.offer
        reply.headers.update({f"X-Demo-{name}": value for name, value in told.items() if value})
        return reply

    def truth(self) -> Truth:
        """Return what the site knows."""
        changed = {key: change for it in self.articles for key, change in it.changes().items()}
        ids = [article.id for article in self.articles]
        return Truth(ids, [*self.products], changed, self.log)

    def draw(self, name: str, target: str) -> float:
        """Return a number from 0 to 1 that hangs on seed, name and target alone."""
        return zlib.crc32(f"{self.seed}/{name}/{target}".encode()) / 2**32

    def of_article(self, reply: Reply, article: Article, version: int) -> Reply:
        """Return the page of an article with its truth, and a validator for half of them."""
        key = f"{article.id};{version}"
        if self.draw("tag", key) < 0.5:
            reply.headers["ETag"] = f'"{zlib.crc32(key.encode()):08x}"'
        return reply._replace(article=article.id, version=version, content=key)


def conditional(reply: Reply, asked: Mapping[str, str]) -> Reply:
    """Return the response, without its page if the client has one with the same `ETag`."""
    known = [tag.strip() for tag in asked.get("If-None-Match", "").split(",")]
    if reply.status != 200 or reply.headers.get("ETag") not in known:
        return reply
    kept = {name: it for name, it in reply.headers.items() if name in ("ETag", "Last-Modified")}
    return reply._replace(status=304, headers=kept, body=b"")


def _json(told: object) -> Reply:
    return Reply(200, {"Content-Type": "application/json"}, json.dumps(told).encode())


def target_of(url: str) -> str:
    """Return the path of a URL with its query."""
    parts = urlsplit(url)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def static_file(url: str) -> Reply | None:
    """Return what every site has that is no web page."""
    path = urlsplit(url).path
    if path == "/robots.txt":
        return Reply(200, {"Content-Type": "text/plain"}, ROBOTS)
    return Reply(200, {"Content-Type": "image/png"}, PIXEL) if path.startswith("/img/") else None


def web_page(
    status: int, html: str, charset: Charset = PLAIN_CHARSET, *, content: str = ""
) -> Reply:
    """Return a page in its charset: that of the bytes, of the header, and of the page itself."""
    encoding, in_header, in_page = charset
    kind = f"text/html; charset={in_header}" if in_header else "text/html"
    if in_page:
        html = html.replace("<head>", f'<head><meta charset="{in_page}">', 1)
    body = html.encode(encoding, "xmlcharrefreplace")
    return Reply(status, {"Content-Type": kind}, body, content=content)

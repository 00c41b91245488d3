"""One site under many names: hosts, scheme, slashes, case, index.html, /amp, old headlines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crawler.site.content import Link
from crawler.site.scenes.scene import dated
from crawler.site.scenes.variants import Sections

if TYPE_CHECKING:
    from random import Random

    from crawler.site.articles import Article
    from crawler.site.scenes.address import Address

HOST = "daily-miniature.example.net"
"""No such site is on the net: the spider's requests for it go to the demonstration."""


class Aliases(Sections):
    """Articles by path, by a number after a headline that says nothing, and by parameters."""

    host = HOST

    def base(self, article: Article) -> str:
        """Return the plain URL, in the manner of the article's section."""
        number = 1000 + article.number
        match self.group(article.section):
            case 0:
                return dated(article)
            case 1:
                return f"/{article.section}/story/{number}"
        return f"/{article.section}/read?id={number}&lang={article.language}"

    def variants(self, article: Article, rng: Random) -> list[str]:
        """Return other names of an article: those of its section, and those of all."""
        base = self.base(article)
        match self.group(article.section):
            case 0:
                own = [f"{base}/", f"{base}/index.html", f"{base}/amp", _capitals(base)]
            case 1:
                own = [
                    f"/{article.section}/{slug}/{1000 + article.number}"
                    for slug in (article.slug.rpartition("-")[0] or "story", *self.heads(article))
                ]
            case _:
                path, _, query = base.partition("?")
                own = [f"{path}?{'&'.join(reversed(query.split('&')))}", f"http://www.{HOST}{base}"]
        names = [f"http://www.{HOST}{base}", f"http://m.{HOST}{base}", f"https://{HOST}{base}"]
        return [*rng.sample(own, rng.randint(1, 2)), *rng.sample(names, rng.randint(0, 2))]

    def heads(self, article: Article) -> list[str]:
        """Return the headlines that an article had before, as its URL has them."""
        older = article.writer("heads").several("headline", 2)
        return ["-".join(re.findall(r"[a-z0-9]+", head.lower())) or "news" for head in older]

    def formats(self, article: Article) -> tuple[Link, ...]:
        """Return the link to the article's own URL, which an AMP page must have."""
        return (Link(self.base(article), "Full story"),)

    def plain(self, address: Address) -> str:
        """Return the URL that all names stand for."""
        path = address.path.lower().removesuffix("/index.html").rstrip("/").removesuffix("/amp")
        if match := re.fullmatch(r"/(\w+)/[\w-]+/(\d{4,})", path):
            path = f"/{match[1]}/story/{match[2]}"
        return address._replace(path=path or "/").plain()

    def look(self, address: Address, design: str) -> str:
        """Return the design: AMP, that of the mobile site, or the article's own."""
        if address.path.rstrip("/").endswith("/amp"):
            return "amp"
        return "hashed" if address.host.startswith("m.") else design


def _capitals(path: str) -> str:
    """Return a path as some editors write it."""
    return "/".join(part[:1].upper() + part[1:] for part in path.split("/"))

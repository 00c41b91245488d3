"""The four newspapers of a year, as they answer at one moment of it."""

from __future__ import annotations

import zlib
from datetime import timedelta
from email.utils import formatdate
from random import Random
from typing import NamedTuple
from urllib.parse import urlsplit

from crawler.site.answering import Answering, Reply, static_file, web_page
from crawler.site.chrome import LightChrome
from crawler.site.content import TITLE, Content, Link, listing, not_found, small_pages
from crawler.site.designs import render
from crawler.site.year_plan import BEGIN, Life, Paper, Spell, Year, live, unix

MENU = [Link("/", "Home"), Link("/all", "All stories"), Link("/weekend", "Weekend")]
MORE = [Link("/about", "About us"), Link("/terms", "Terms")]
NOTICE = "We ask our readers for support: every subscription pays for a reporter in the region."
SOFT_SHARE = 0.04
"""The share of pages that are there, and answer in a season of soft 404 that they are not."""


class Shown(NamedTuple):
    """A page at one moment: what is on it, when it last changed, and what the truth calls it."""

    page: Content
    changed: float
    key: str
    article: str = ""
    version: int = 0


class YearSite(Answering):
    """Answers as of the moment `now`, which its clients set."""

    host = "example"

    def __init__(self, articles: int, seed: int, days: int) -> None:
        self.year = Year(articles, seed, days)
        super().__init__([life.article for life in self.year.lives], seed)
        self.papers = {paper.host: paper for paper in self.year.papers.values()}
        self.chrome = {
            host: LightChrome(zlib.crc32(f"{seed}/{host}".encode()), MENU, MORE)
            for host in self.papers
        }
        self.lives = {
            host: [life for life in self.year.lives if life.paper.host == host]
            for host in self.papers
        }
        self.small = small_pages(seed)
        self._began: dict[str, tuple[str, float]] = {}
        self.set_time(0.0)

    def set_time(self, moment: float) -> None:
        """Let all that follows be answered as of a moment."""
        self.now = moment
        self.lists = {host: self._lists(paper) for host, paper in self.papers.items()}
        for host, paper in self.papers.items():
            chrome = self.chrome[host]
            chrome.today = f"{BEGIN + timedelta(days=int(moment)):%A, %d %B %Y}"
            chrome.notice = NOTICE if paper.notice[0] <= moment < paper.notice[1] else ""

    def told(self, target: str, body: bytes) -> Reply:
        """Set the moment, or tell what URLs show."""
        if target != "/-/time":
            return super().told(target, body)
        self.set_time(float(body))
        return Reply(200, {"Content-Type": "application/json"}, b"null")

    def answer(self, url: str, hit: int) -> Reply:
        """Return the response to a URL that was served `hit` times before."""
        parts = urlsplit(url)
        if file := static_file(parts.path):
            return file
        paper = self.papers.get(parts.netloc)
        if paper is None:
            return Reply(404, {"Content-Type": "text/plain"}, b"no such newspaper")
        life, spell = self.year.spells.get(url, (None, None))
        if life and spell and spell.since <= self.now < spell.until:
            if self._is_soft(paper, url):
                return self._missing(paper, url, hit)
            return self._reply(paper, url, hit, self._story(life, spell))
        if page := self.lists[paper.host].get(url):
            return self._reply(paper, url, hit, page)
        if spell and spell.since <= self.now and spell.after.startswith("http"):
            return Reply(301, {"Location": spell.after}, b"")
        gone = bool(spell and spell.since <= self.now and spell.after == "410")
        return self._missing(paper, url, hit, status=410 if gone else 404)

    def _is_soft(self, paper: Paper, url: str) -> bool:
        """Tell whether a page that is there answers today that it is not."""
        start, end = paper.soft404
        return start <= self.now < end and self.draw(f"soft/{int(self.now)}", url) < SOFT_SHARE

    def _missing(self, paper: Paper, url: str, hit: int, status: int = 404) -> Reply:
        soft = paper.soft404[0] <= self.now < paper.soft404[1]
        related = tuple(self.lists[paper.host][f"http://{paper.host}/"].page.related[:4])
        page = not_found(urlsplit(url).path, related, paper.design_at(self.now))
        html = render(page, self.chrome[paper.host], url, hit)
        return web_page(200 if soft else status, html, content=f"missing {url}")

    def _reply(self, paper: Paper, url: str, hit: int, shown: Shown) -> Reply:
        html = render(shown.page, self.chrome[paper.host], url, hit)
        reply = web_page(200, html, content=shown.key)
        reply.headers.update(self._validators(paper, url, hit, shown))
        return reply._replace(article=shown.article, version=shown.version)

    def _validators(self, paper: Paper, url: str, hit: int, shown: Shown) -> dict[str, str]:
        """Return what the server says of the age of a page, be it true or not."""
        if paper.validators == "none" or (paper.validators == "stale" and not shown.article):
            return {}
        said, changed = f"{shown.key}/{shown.page.design}", shown.changed
        if paper.validators == "stale":
            said, changed = url, 0.0
        elif paper.validators == "fresh":
            said, changed = f"{url}/{self.now}/{hit}", self.now
        tag = f'"{zlib.crc32(said.encode()):08x}"'
        return {"ETag": tag, "Last-Modified": formatdate(unix(changed), usegmt=True)}

    def _story(self, life: Life, spell: Spell) -> Shown:
        article, version = life.article, life.version_at(self.now)
        design = life.paper.design_at(self.now)
        found = Random(f"{self.seed}/related/{article.number}").sample(
            self.lives[life.paper.host], min(12, len(self.lives[life.paper.host]))
        )
        copies = [copy for copy in life.spells if copy.look != "main" and self._is_there(copy)]
        page = Content(
            title=version.headline,
            language=article.language,
            design="print" if spell.look == "print" else design,
            blocks=version.blocks,
            formats=tuple(Link(copy.url, copy.look.title()) for copy in copies),
            related=tuple(
                self._link(other, place)
                for other in found
                for place in other.spells[:1]
                if other is not life and self._is_there(place)
            ),
            article=article,
            version=version.number,
        )
        key = f"{article.id};{version.number}"
        return Shown(page, life.changed_at(self.now), key, article.id, version.number)

    def _is_there(self, spell: Spell) -> bool:
        return spell.since <= self.now < spell.until

    def _link(self, life: Life, spell: Spell) -> Link:
        version = life.version_at(self.now)
        return Link(spell.url, version.headline, version.blocks[0].items[0])

    def _lists(self, paper: Paper) -> dict[str, Shown]:
        """Return the lists of a newspaper, and its small pages, by URL."""
        lives = self.lives[paper.host]
        stories = [self._link(life, spell) for life, spell in live(lives, self.now)]
        mirrors = [
            self._link(life, spell)
            for life in lives
            for spell in life.spells
            if spell.look == "mirror" and self._is_there(spell)
        ]
        design = paper.design_at(self.now)
        pages = {
            **listing("/", TITLE, stories[:15], design=design),
            **listing("/all", "All stories", stories, design=design, size=25),
            **listing("/weekend", "Weekend", mirrors + stories[-5:], design=design, size=25),
        }
        found = {}
        for path, page in pages.items():
            said = f"{page.entries}{page.formats}"
            key = f"{path} {zlib.crc32(said.encode()):08x}"
            url = f"http://{paper.host}{path}"
            found[url] = Shown(page, self._renewed(url, key), key)
        for link in MORE:
            small = Content(title=link.text, design=design, blocks=self.small[link.href].blocks)
            found[f"http://{paper.host}{link.href}"] = Shown(small, 0.0, link.href)
        return found

    def _renewed(self, url: str, key: str) -> float:
        """Return when a list began to say what it says now."""
        known, moment = self._began.get(url, ("", 0.0))
        if known != key:
            moment = self.now
            self._began[url] = key, moment
        return moment

"""The four newspapers of a year, as they answer at one moment of it."""

from __future__ import annotations

import zlib
from datetime import timedelta
from email.utils import formatdate
from random import Random
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from crawler.site.answering import Answering, Reply, web_page
from crawler.site.chrome import LightChrome
from crawler.site.content import TITLE, Content, Link, listing, not_found, small_pages
from crawler.site.designs import render
from crawler.site.year_plan import BEGIN, Life, Paper, Spell, Year, unix

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
        self.papers = self.year.papers
        self.chrome = {
            host: LightChrome(zlib.crc32(f"{seed}/{host}".encode()), MENU, MORE)
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
            chrome.notice = NOTICE if paper.notice.holds(moment) else ""

    def reply(self, target: str, **how: Any) -> Reply:
        """Return the response to a GET, which may set the moment."""
        if target.startswith("/-/time/"):
            self.set_time(float(target.rpartition("/")[2]))
            target = "/-/serve"
        return super().reply(target, **how)

    def answer(self, url: str, hit: int) -> Reply:
        """Return the response to a URL that was served `hit` times before."""
        paper = self.papers.get(urlsplit(url).netloc)
        if paper is None:
            return Reply(404, {"Content-Type": "text/plain"}, b"no such newspaper")
        life, spell = self.year.spells.get(url, (None, None))
        status = 404
        is_soft = paper.soft404.holds(self.now)
        if life and spell and spell.season.holds(self.now):
            # Some pages that are there answer today that they are not.
            if not is_soft or self.draw(f"soft/{int(self.now)}", url) >= SOFT_SHARE:
                return self._reply(paper, url, hit, self._story(life, spell))
        elif shown := self.lists[paper.host].get(url):
            return self._reply(paper, url, hit, shown)
        elif spell and spell.season.since <= self.now:
            if spell.after.startswith("http"):
                return Reply(301, {"Location": spell.after}, b"")
            status = 410 if spell.after == "410" else 404
        related = self.lists[paper.host][f"http://{paper.host}/"].page.related[:4]
        page = not_found(urlsplit(url).path, related, paper.design_at(self.now))
        html = render(page, self.chrome[paper.host], url, hit)
        return web_page(200 if is_soft else status, html, content=f"missing {url}")

    def _reply(self, paper: Paper, url: str, hit: int, shown: Shown) -> Reply:
        html = render(shown.page, self.chrome[paper.host], url, hit)
        reply = web_page(200, html, content=shown.key)
        reply.headers.update(self._validators(paper, url, hit, shown))
        return reply._replace(article=shown.article, version=shown.version)

    def _validators(self, paper: Paper, url: str, hit: int, shown: Shown) -> dict[str, str]:
        """Return what the server says of the age of a page, be it true or not."""
        if paper.validators == "none" or (paper.validators == "stale" and not shown.article):
            return {}
        state, changed = {
            "honest": (f"{shown.key}/{shown.page.design}", shown.changed),
            "stale": (url, 0.0),
            "fresh": (f"{url}/{self.now}/{hit}", self.now),
        }[paper.validators]
        tag = f'"{zlib.crc32(state.encode()):08x}"'
        return {"ETag": tag, "Last-Modified": formatdate(unix(changed), usegmt=True)}

    def _story(self, life: Life, spell: Spell) -> Shown:
        article, (version, since) = life.article, life.state_at(self.now)
        lives = self._lives(life.paper)
        others = Random(f"{self.seed}/related/{article.number}").sample(lives, min(12, len(lives)))
        copies = [it for it in life.spells if it.look != "main" and it.season.holds(self.now)]
        page = Content.of(
            article,
            version,
            design="print" if spell.look == "print" else life.paper.design_at(self.now),
            formats=tuple(Link(copy.url, copy.look.title()) for copy in copies),
            related=tuple(
                self._link(other, other.spells[0])
                for other in others
                if other is not life and other.spells[0].season.holds(self.now)
            ),
        )
        return Shown(page, since, f"{article.id};{version.number}", article.id, version.number)

    def _lives(self, paper: Paper) -> list[Life]:
        return [life for life in self.year.lives if life.paper == paper]

    def _link(self, life: Life, spell: Spell) -> Link:
        version, _ = life.state_at(self.now)
        return Link(spell.url, version.headline, version.blocks[0].items[0])

    def _lists(self, paper: Paper) -> dict[str, Shown]:
        """Return the lists of a newspaper, and its small pages, by URL."""
        there = [
            (life, spell)
            for life in self._lives(paper)
            for spell in life.spells
            if spell.season.holds(self.now)
        ]
        newest = sorted(there, key=lambda it: (it[0].article.published, it[1].url), reverse=True)
        stories = [self._link(*it) for it in newest if it[1].look == "main"]
        mirrors = [self._link(*it) for it in there if it[1].look == "mirror"]
        design = paper.design_at(self.now)
        pages = {
            **listing("/", TITLE, stories[:15], design=design),
            **listing("/all", "All stories", stories, design=design, size=25),
            **listing("/weekend", "Weekend", mirrors + stories[-5:], design=design, size=25),
        }
        found = {}
        for path, page in pages.items():
            url = f"http://{paper.host}{path}"
            key = f"{path} {zlib.crc32(f'{page.entries}{page.formats}'.encode()):08x}"
            # A list is as old as what it says.
            known, since = self._began.get(url, ("", 0.0))
            self._began[url] = key, since if known == key else self.now
            found[url] = Shown(page, self._began[url][1], key)
        for link in MORE:
            small = Content(title=link.text, design=design, blocks=self.small[link.href].blocks)
            found[f"http://{paper.host}{link.href}"] = Shown(small, 0.0, link.href)
        return found

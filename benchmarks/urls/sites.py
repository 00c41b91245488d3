"""Sites that know what each of their addresses shows, and where it leads."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random
from typing import NamedTuple
from urllib.parse import parse_qs, urljoin, urlsplit

from scrapy.http import HtmlResponse

from crawler.pages import Links, site_of
from crawler.site.scenes import make_site

SCENES = ("tracking", "partial", "sessions", "print", "facets", "aliases")
"""Sites of the demonstration, whose pages have several addresses each."""
_ALIASES_HOST = "daily-miniature.example.net"


class Shown(NamedTuple):
    """What an address shows: `content` is the same for all that show the same; and its links."""

    content: str
    links: list[str]


Site = Callable[[str], Shown | None]
"""Returns what an address shows, None if it shows no page."""


def made(name: str, articles: int, seed: int) -> tuple[str, Site]:
    """Return the first address of a site, and the site."""
    if name == "forum":
        return Forum.HOME, Forum(articles, seed)
    site = make_site("" if name == "demonstration" else name, articles, seed)
    has_hosts = name == "aliases"
    home = f"http://{_ALIASES_HOST if has_hosts else 'news.example'}/"

    @cache
    def show(url: str) -> Shown | None:
        target = url if has_hosts else url.removeprefix(home[:-1])
        for _ in range(3):  # some pages are too busy at first
            if (reply := site.reply(target)).status < 500:
                break
        if "Location" in reply.headers:
            return show(urljoin(url, reply.headers["Location"]))
        if reply.status != 200 or not reply.html:
            return None
        response = HtmlResponse(url, body=reply.body, headers=reply.headers)
        return Shown(reply.content or url, [*Links({site_of(home)}).of(response)])

    return home, show


class Forum:
    """A forum with the addresses of phpBB.

    `f` chooses the page of a forum, and says nothing of a topic. `start=0` is the first page. Three
    parameters come with `start` alone. `view=next` shows another topic, and `p` the page with
    a post. Each visitor has a session.
    """

    HOME = "http://forum.example/index.php"
    _PER_PAGE, _FORUMS, _VISITORS = 10, 8, 6
    _BARE = "&postdays=0&postorder=asc&highlight="

    def __init__(self, topics: int, seed: int) -> None:
        rng = Random(seed)
        self._sessions = [f"{rng.getrandbits(128):032x}" for _ in range(self._VISITORS)]
        self._topics = [(rng.randrange(self._FORUMS), rng.randint(1, 25)) for _ in range(topics)]
        self._posts = [(t, n) for t, (_, posts) in enumerate(self._topics) for n in range(posts)]
        self._first = {t: i for i, (t, n) in enumerate(self._posts) if not n}
        self._seed = seed

    def __call__(self, url: str) -> Shown | None:
        """Return what an address shows."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        script, rng = urlsplit(url).path, Random(f"{self._seed}/{url}")
        start = int(asked.get("start", 0))
        if script == "/index.php":
            links = [f"viewforum.php?f={number}" for number in range(self._FORUMS)]
            return self._shown("index", links, rng)
        if script == "/viewforum.php":
            forum = int(asked["f"])
            return self._shown(f"forum {forum} {start}", self._of_forum(forum, start), rng)
        if "p" in asked:
            topic, place = self._posts[int(asked["p"])]
            start = place - place % self._PER_PAGE
        else:
            topic = int(asked["t"]) + {"next": 1, "previous": -1}.get(asked.get("view", ""), 0)
        if topic not in range(len(self._topics)):
            return None
        return self._shown(f"topic {topic} {start}", self._of_topic(topic), rng)

    def _shown(self, content: str, links: list[str], rng: Random) -> Shown:
        session = rng.choice(self._sessions)
        absolute = (urljoin(self.HOME, link) for link in links)
        return Shown(content, [f"{link}&sid={session}" for link in absolute if "?" in link])

    def _of_forum(self, forum: int, start: int) -> list[str]:
        here = [t for t, (of, _) in enumerate(self._topics) if of == forum]
        links = [f"viewforum.php?f={forum}&start={n}" for n in range(0, len(here), self._PER_PAGE)]
        for topic in here[start : start + self._PER_PAGE]:
            last = self._first[topic] + self._topics[topic][1] - 1
            links += [f"viewtopic.php?f={forum}&t={topic}", f"viewtopic.php?f={forum}&p={last}"]
        return links

    def _of_topic(self, topic: int) -> list[str]:
        forum, posts = self._topics[topic]
        pages = range(0, posts, self._PER_PAGE)
        links = [f"viewforum.php?f={forum}", f"viewtopic.php?t={topic}"]
        links += [f"viewtopic.php?t={topic}&start={start}{self._BARE}" for start in pages]
        links += [f"viewtopic.php?f={forum}&t={topic}&start={start}" for start in pages[1:]]
        return links + [f"viewtopic.php?t={topic}&view={way}" for way in ("next", "previous")]

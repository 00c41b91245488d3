"""Which URLs of a crawl have the same content? The gate tells, where it looks as close as it can.

The pages are read and judged once, in the order of the crawl. In a scenario of the demonstration no
page is judged: the site itself knows what its URLs show.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from urllib.parse import urljoin

from scrapy.http import HtmlResponse

from crawler.pages import Links, site_of
from crawler.site.scenes import SCENES, make_site
from simhash_gate.common.wording import Complain
from simhash_gate.gate.policy import scope_of
from simhash_gate.gate.verdict import Verdict
from simhash_gate.offline.replay import judge, open_gate
from simhash_gate.settings import Settings, read_settings
from simhash_gate.sources import Entry, request_fingerprint
from simhash_gate.sources.open import open_pages
from simhash_gate.sources.read_pages import read_pages

SCENARIOS = tuple(SCENES)
TRAP_PAGES = 1000
"""How many pages of a trap a site has."""
STRICT = {"SIMHASH_GATE_WINDOW": 10_000_000}
_TOLD_APART = {"names", "offers", "fields", "texts"}


@dataclass(frozen=True, slots=True)
class Visit:
    """A URL of the crawl, and what is known of its page.

    `content` is a number that URLs of the same content share. If the page is not `sure`, nobody
    knows whether its content is that of others; then it has a number of its own. `differs_from` is
    the URL of a page that looks alike, and that a closer look found different; "" for none.
    """

    url: str
    scope: str
    content: int
    sure: bool
    differs_from: str = ""


def load(sources: Sequence[str], complain: Complain, *, workers: int = 1) -> list[Visit]:
    """Return the visits of a crawl in its order."""
    settings = read_settings({**STRICT, "SIMHASH_GATE_WORKERS": workers})
    pages = open_pages(sources, complain, settings.max_bytes, lambda _: None)
    return list(judged(pages.entries, settings, complain))


def judged(entries: Iterable[Entry], settings: Settings, complain: Complain) -> Iterator[Visit]:
    """Yield a visit for each page with a URL of its own; requests that Scrapy calls the same once.

    A crawl makes these once, with or without rules.
    """
    numbers, contents = count(), dict[str, int]()
    requested: set[str] = set()
    with open_gate(settings) as gate:
        for entry, page in read_pages(_with_url(entries, requested, complain), settings):
            verdict = judge(gate, settings, entry, page)
            if verdict.outcome == "error":
                complain(entry.place, verdict.reason)
            kept = verdict.match.record.url if verdict.match else ""
            same = verdict.outcome == "duplicate"
            number = contents[kept] if same else next(numbers)
            contents[entry.url] = number
            differs = "" if same or verdict.differs not in _TOLD_APART else kept
            scope = scope_of(entry.url, "domain")
            yield Visit(entry.url, scope, number, same or is_sure(verdict), differs)


def is_sure(verdict: Verdict) -> bool:
    """Tell if a page that passed is known to be another than all before it.

    What was not read, or not compared, may be like any other page. So may one that is near another
    and that no closer look told from it.
    """
    told_apart = verdict.outcome == "near" and verdict.differs in _TOLD_APART
    return not verdict.not_compared and (told_apart or verdict.outcome == "new")


def _with_url(entries: Iterable[Entry], requested: set[str], complain: Complain) -> Iterator[Entry]:
    for entry in entries:
        if entry.guessed or not scope_of(entry.url, "domain"):
            complain(entry.place, "left out: nobody knows its URL")
            continue
        request = request_fingerprint(entry.url)
        if request not in requested:
            requested.add(request)
            yield entry


def generate(scenario: str, articles: int, seed: int) -> Iterator[Visit]:
    """Yield a visit for each page of a scenario, in the order of its links.

    The site answers in this process, and its links are followed as far as it goes on.
    """
    site = make_site(scenario, articles, seed)
    site.trap_limit = TRAP_PAGES
    host = SCENES[scenario].host or "news.example"
    home = f"http://{host}/"
    links = Links({site_of(home)})
    waiting, requested = deque([home]), set[str]()
    numbers = count()
    contents: dict[str, int] = defaultdict(lambda: next(numbers))
    while waiting:
        url = waiting.popleft()
        request = request_fingerprint(url)
        if request in requested:
            continue
        requested.add(request)
        reply = site.reply(url if SCENES[scenario].host else url.removeprefix(home[:-1]))
        if "Location" in reply.headers:
            waiting.appendleft(urljoin(url, reply.headers["Location"]))
        if reply.status != 200 or not reply.html:
            continue
        content = contents[reply.content or url]
        yield Visit(url, site_of(url), content, sure=bool(reply.content))
        body = HtmlResponse(url, body=reply.body, headers=reply.headers)
        waiting.extend(links.of(body))

"""A crawl of a scenario of the demonstration site, which knows itself what its URLs show.

The site answers in this process, and its links are followed in their order, as far as it goes on.
No page is judged: what the site says is the truth.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from itertools import count
from urllib.parse import urljoin

from scrapy.http import HtmlResponse

from benchmarks.urls.truth import Visit
from crawler.pages import Links, site_of
from crawler.site.scenes import SCENES, make_site
from simhash_gate.sources import request_fingerprint

SCENARIOS = tuple(SCENES)
TRAP_PAGES = 1000
"""How many pages of a trap the site has."""


def generate(scenario: str, articles: int, seed: int) -> Iterator[Visit]:
    """Yield a visit for each page of a scenario, in the order of its links."""
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

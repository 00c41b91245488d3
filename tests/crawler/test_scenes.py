import re
from html import unescape
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest

from crawler.site.scenes import make_site
from crawler.site.scenes.scene import Address
from crawler.site.scenes.variants import SCENES

LINK = re.compile(r'<a [^>]*?href="([^"#]*)"')


def scene(name, articles, seed) -> Any:
    return make_site(name, articles, seed)


def home(site):
    return f"http://{site.host or '127.0.0.1'}/"


def links(site, url, reply):
    """The URLs that a page links to on its own site."""
    for href in dict.fromkeys(LINK.findall(reply.body.decode("utf-8", "replace"))):
        found = urljoin(url, unescape(href)).partition("#")[0]
        if (urlsplit(found).hostname or "").endswith(site.host or "127.0.0.1"):
            yield found


def walk(site):
    """Follow links from the home page; replies by URL."""
    found, queue = {}, [home(site)]
    while queue:
        url = queue.pop(0)
        if url in found or urlsplit(url).path in ("/search", "/account/login"):
            continue
        expected = site.find(Address.of(url))
        reply = site.reply(url)
        assert reply.status == 200
        assert reply.content == expected.key
        found[url] = reply
        queue += [link for link in links(site, url, reply) if link not in found]
    return found


def articles(found):
    return {reply.article for reply in found.values()} - {""}


def everything(site):
    return {article.id for article in site.articles}


WAYS = {
    "tracking": (r"[?&]utm_source=", r"[?&]ref=", r"[?&]fbclid=", r"[?&]qzn=", r"[?&]id="),
    "sessions": (r"PHPSESSID=\w{32}$", r";jsessionid=[0-9A-F]{32}$", r"/s/[0-9a-f]{24}/"),
    "aliases": (
        *(r"/amp$", r"/index\.html$", r"\d/$", r"//[^/]+/[A-Z]", r"/[a-z-]+/\d{4}$"),
        *(r"^https:", r"^http:", r"//www\.", r"//m\.", r"\?id=.*&lang", r"\?lang="),
    ),
    "print": (r"/print/\w+/\d", r"/print$", r"printable=yes"),
}


@pytest.mark.parametrize("name", SCENES)
def test_a_quarter_of_what_is_linked_shows_what_another_way_to_write_its_url_does(name):
    site = scene(name, 12, 5)
    found = walk(site)
    for way in WAYS.get(name, ()):
        assert any(re.search(way, url) for url in found), way
    contents = [reply.content for reply in found.values()]
    assert articles(found) == everything(site)
    assert len(contents) - len(set(contents)) >= len(contents) / 4
    for url, reply in found.items():
        assert reply.content == f"{reply.article};1" or not reply.article, url

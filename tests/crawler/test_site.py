import re
from concurrent.futures import ThreadPoolExecutor
from html import unescape

from crawler.site.articles import Article
from crawler.site.news import Site
from crawler.site.shop import HOME


def walk(site):
    """Follow every link from both home pages, and what asks to come back; targets by reply."""
    found, queue = {}, ["/", HOME]
    while queue:
        target = queue.pop()
        if target in found:
            continue
        reply = site.reply(target)
        if reply.status == 503:
            reply = site.reply(target)
        found[target] = reply
        queue += [reply.headers[name] for name in ("Location",) if name in reply.headers]
        if reply.html:
            html = reply.body.decode("utf-8", "replace")
            links = [unescape(href) for href in re.findall(r'href="(/[^"#]*)"', html)]
            queue += [link for link in links if not link.startswith(("/search", "/account"))]
    return found


def test_the_same_seed_gives_the_same_site_also_to_many_at_once_and_another_seed_another():
    alone, shared = Site(20, 7), Site(20, 7)
    targets = [*alone.views, *alone.pages, "/story/gone", "/feed.xml"]
    targets += [*alone.shop.shelves, *alone.shop.lists]
    with ThreadPoolExecutor(8) as pool:
        together = pool.map(lambda target: shared.reply(target).body, targets)
    assert dict(zip(targets, together, strict=True)) == {
        target: alone.reply(target).body for target in reversed(targets)
    }
    assert sorted(entry.serve for entry in shared.log) == list(range(1, len(targets) + 1))
    headlines = [{Article(seed, n).opening[0] for n in range(50)} for seed in (1, 2)]
    assert not headlines[0] & headlines[1]


def test_every_article_version_and_offer_can_be_reached_on_a_site_that_makes_crawls_hard():
    site = Site(40, 3)
    walked = walk(site)
    seen = {(reply.article, reply.version) for reply in walked.values() if reply.article}
    assert seen == {
        (article.id, version.number) for article in site.articles for version in article.versions
    }
    offers = {reply.offer for reply in walked.values() if reply.offer}
    assert offers == site.shop.offers
    kinds = {view.kind for view in site.views.values()}
    assert kinds == {"main", "tracking", "print", "amp", "redesign", "comments", "mobile"}
    assert {article.language for article in site.articles} == {"en", "de", "ar", "zh"}
    assert {301, 302, 404} <= {reply.status for reply in walked.values()}
    assert any("sid=" in target and reply.article for target, reply in walked.items())
    assert any("/story/" in target and not reply.article for target, reply in walked.items())
    assert {"image/png", "application/rss+xml"} <= {
        reply.headers.get("Content-Type") for reply in walked.values()
    }
    unavailable = {entry.path for entry in site.log if entry.status == 503}
    assert unavailable
    assert all(walked[path].status == 200 for path in unavailable)

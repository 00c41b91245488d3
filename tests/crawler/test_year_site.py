from __future__ import annotations

import json
import re
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, Request, build_opener

import pytest

from crawler.site.process import SiteProcess, set_time
from crawler.site.year.plan import BEGIN
from crawler.site.year.site import YearSite
from simhash_gate import read_page

DAYS = 40


@pytest.fixture
def site():
    return YearSite(60, 3, DAYS)


def lives(site, paper):
    return [life for life in site.year.lives if life.paper is site.year.papers[paper]]


def changing(site, paper):
    """An article of a newspaper that has several versions."""
    return next(life for life in lives(site, paper) if len(life.versions) > 1)


def ask(site, url, reply=None, **headers):
    """Fetch a page; with a reply, ask whether it is still that."""
    if reply is not None:
        headers = {"If-None-Match": reply.headers["ETag"], **headers}
    return site.reply(url, asked=headers)


def digest(reply, url):
    return read_page(reply.body, url=url).digest


def test_a_page_is_what_it_is_at_the_time_of_the_site(site):
    life = changing(site, "morning")
    url = life.spells[0].url
    for number, moment in enumerate(life.moments, 1):
        site.set_time(moment)
        reply = site.reply(url)
        assert (reply.article, reply.version) == (life.article.id, number)
        assert reply.content == f"{life.article.id};{number}"
    first, last = life.moments[0], life.moments[-1]
    pages = []
    for moment in (first, first, last):
        site.set_time(moment)
        pages.append(site.reply(url))
    assert pages[0].body != pages[1].body
    assert digest(pages[0], url) == digest(pages[1], url) != digest(pages[2], url)


def test_every_link_leads_to_something_and_every_article_is_linked(site):
    site.set_time(20.25)
    found, queue = {}, [f"http://{host}/" for host in site.papers]
    while queue:
        url = queue.pop()
        if url in found:
            continue
        reply = found[url] = site.reply(url)
        for href in re.findall(r'href="([^"#]*)"', reply.body.decode()):
            host = urlsplit(url).netloc
            target = href if "://" in href else f"http://{host}{href}"
            if urlsplit(target).netloc == host and not href.startswith(("/search", "/account")):
                queue.append(target)
    assert {reply.status for reply in found.values()} == {200}
    there = {
        life.article.id
        for life in site.year.lives
        for spell in life.spells
        if spell.look == "main" and spell.since <= 20.25 < spell.until
    }
    assert there <= {reply.article for reply in found.values()}
    assert len(there) > 30


def test_what_is_gone_says_so_what_has_moved_leads_on_and_nothing_is_there_too_early(site):
    told = {}
    for life in site.year.lives:
        spell = life.spells[0]
        if spell.until < DAYS and life.paper.validators != "none":
            site.set_time(spell.until + 0.01)
            told[spell.after[:4]] = reply = site.reply(spell.url)
            assert reply.headers.get("Location", "404") in {spell.after, "404"}
            site.set_time(spell.until - 0.01)
            assert site.reply(spell.url).article == life.article.id
    assert {kind: reply.status for kind, reply in told.items()} == {
        "404": 404,
        "410": 410,
        "http": 301,
    }
    life = next(life for life in site.year.lives if life.since > 1)
    site.set_time(life.since - 0.1)
    assert site.reply(life.spells[0].url).status == 404
    site.set_time(life.since)
    assert site.reply(life.spells[0].url).article == life.article.id


def test_in_a_season_of_soft_404_nothing_is_missing_and_some_pages_are_not_shown():
    site = YearSite(200, 3, DAYS)
    paper = site.year.papers["village"]
    url = f"http://{paper.host}/nowhere"
    spells = [life.spells[0] for life in lives(site, "village")]
    urls = [spell.url for spell in spells if spell.until > DAYS]
    begin, end = paper.soft404
    statuses, soft = {}, 0
    for moment in (begin - 1, *(begin + day for day in range(int(end - begin))), end):
        site.set_time(moment)
        statuses[moment] = site.reply(url).status
        replies = [site.reply(url) for url in urls if site.year.spells[url][1].since < moment]
        soft += sum(reply.content.startswith("missing") for reply in replies)
        assert {reply.status for reply in replies} == {200}
    assert list(statuses.values()) == [404, *[200] * (len(statuses) - 2), 404]
    assert soft > 0


def test_servers_are_honest_stale_or_have_ever_new_validators(site):
    life = changing(site, "morning")
    url, moment = life.spells[0].url, life.moments[1]
    site.set_time(moment - 0.01)
    before = site.reply(url)
    since = {"If-Modified-Since": before.headers["Last-Modified"]}
    assert (ask(site, url, before).status, ask(site, url, before).body) == (304, b"")
    assert ask(site, url, **since).status == 304
    assert ask(site, url, **{"If-Modified-Since": "yesterday"}).status == 200
    site.set_time(moment)
    assert ask(site, url, before).status == ask(site, url, **since).status == 200
    changed = parsedate_to_datetime(site.reply(url).headers["Last-Modified"]).timestamp()
    assert changed == int(BEGIN.timestamp() + moment * 86_400)

    life = changing(site, "evening")
    url = life.spells[0].url
    site.set_time(life.moments[0])
    before = site.reply(url)
    site.set_time(life.moments[1])
    assert ask(site, url, before).status == 304
    after = site.reply(url)
    assert (after.version, after.headers["ETag"]) == (2, before.headers["ETag"])

    life = next(life for life in lives(site, "weekly") if life.since == 0)
    url = life.spells[0].url
    site.set_time(0.25)
    before = site.reply(url)
    after = ask(site, url, before)
    assert (after.status, after.content) == (200, before.content)
    assert after.headers["ETag"] != before.headers["ETag"]


def test_a_redesign_changes_the_page_and_not_what_it_says(site):
    redesign = site.year.papers["morning"].redesign.at
    life = next(
        life
        for life in lives(site, "morning")
        if life.since < 20 and life.spells[0].until > DAYS and len(life.versions) == 1
    )
    url, found = life.spells[0].url, []
    for moment in (redesign - 0.1, redesign):
        site.set_time(moment)
        site.reply(url)
        found.append(site.reply(url))
    before, after = found
    assert before.content == after.content
    assert b'class="article-body"' in before.body
    assert b'class="article-body"' not in after.body
    assert ask(site, url, before).status == 200


def test_a_running_site_is_told_the_time_and_hears_what_is_asked():
    process = SiteProcess(20, 3, days=DAYS)
    try:
        direct = build_opener(ProxyHandler({"http": process.url}))
        url = "http://morning.example/"
        with direct.open(url) as response:
            tag, first = response.headers["ETag"], response.read()
        set_time(process.url, 30.25)
        with direct.open(url) as response:
            assert response.headers["ETag"] != tag
            tag = response.headers["ETag"]
            assert response.read() != first
        request = Request(url, headers={"If-None-Match": tag})
        with pytest.raises(OSError, match="304"):
            direct.open(request)
        with build_opener(ProxyHandler({})).open(f"{process.url}/-/truth") as response:
            log = json.load(response)["log"]
    finally:
        process.stop()
    assert [(entry[1], entry[2]) for entry in log] == [(url, 200), (url, 200), (url, 304)]

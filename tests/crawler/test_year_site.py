from __future__ import annotations

from urllib.request import ProxyHandler, Request, build_opener

import pytest

from crawler.site.process import SiteProcess, set_time, truth
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
    url, digests = life.spells[0].url, set()
    for number, moment in enumerate(life.moments, 1):
        site.set_time(moment)
        reply, again = site.reply(url), site.reply(url)
        assert (reply.article, reply.version) == (life.article.id, number)
        assert reply.content == f"{life.article.id};{number}"
        assert reply.body != again.body
        assert digest(reply, url) == digest(again, url)
        digests.add(digest(reply, url))
    assert len(digests) == number


def test_what_is_gone_says_so_what_has_moved_leads_on_and_nothing_is_there_too_early(site):
    told = {}
    for life in site.year.lives:
        spell = life.spells[0]
        if spell.until < DAYS and life.paper.validators != "none":
            site.set_time(spell.until + 0.01)
            reply = site.reply(spell.url)
            told[spell.after[:4]] = reply.status
            assert reply.headers.get("Location", "404") in {spell.after, "404"}
            site.set_time(spell.until - 0.01)
            assert site.reply(spell.url).article == life.article.id
    assert told == {"404": 404, "410": 410, "http": 301}
    life = next(life for life in site.year.lives if life.since > 1)
    site.set_time(life.since - 0.1)
    assert site.reply(life.spells[0].url).status == 404


def test_in_a_season_of_soft_404_nothing_is_missing_and_some_pages_are_not_shown():
    site = YearSite(200, 3, DAYS)
    paper = site.year.papers["village"]
    urls = [life.spells[0].url for life in lives(site, "village") if life.spells[0].until > DAYS]
    begin, end = paper.soft404
    statuses, soft = [], 0
    for moment in (begin - 1, *(begin + day for day in range(int(end - begin))), end):
        site.set_time(moment)
        statuses.append(site.reply(f"http://{paper.host}/nowhere").status)
        replies = [site.reply(url) for url in urls if site.year.spells[url][1].since < moment]
        soft += sum(reply.content.startswith("missing") for reply in replies)
        assert {reply.status for reply in replies} == {200}
    assert statuses == [404, *[200] * (len(statuses) - 2), 404]
    assert soft > 0


def test_servers_are_honest_stale_or_have_ever_new_validators(site):
    life = changing(site, "morning")
    url, moment = life.spells[0].url, life.moments[1]
    site.set_time(moment - 0.01)
    before = site.reply(url)
    since = {"If-Modified-Since": before.headers["Last-Modified"]}
    assert (ask(site, url, before).status, ask(site, url, **since).status) == (304, 304)
    assert ask(site, url, **{"If-Modified-Since": "yesterday"}).status == 200
    site.set_time(moment)
    assert ask(site, url, before).status == ask(site, url, **since).status == 200

    life = changing(site, "evening")
    url = life.spells[0].url
    site.set_time(life.moments[0])
    before = site.reply(url)
    site.set_time(life.moments[1])
    assert ask(site, url, before).status == 304
    assert site.reply(url).version == 2

    life = next(life for life in lives(site, "weekly") if life.since == 0)
    url = life.spells[0].url
    site.set_time(0.25)
    before = site.reply(url)
    after = ask(site, url, before)
    assert (after.status, after.content) == (200, before.content)


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
    process, url = SiteProcess(20, 3, days=DAYS), "http://morning.example/"
    try:
        direct = build_opener(ProxyHandler({"http": process.url}))
        with direct.open(url) as response:
            first = response.read()
        set_time(process.url, 30.25)
        with direct.open(url) as response:
            tag = response.headers["ETag"]
            assert response.read() != first
        with pytest.raises(OSError, match="304"):
            direct.open(Request(url, headers={"If-None-Match": tag}))
        log = truth(process.url).log
    finally:
        process.stop()
    assert [(entry.path, entry.status) for entry in log] == [(url, 200), (url, 200), (url, 304)]

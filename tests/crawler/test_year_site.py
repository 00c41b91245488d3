from __future__ import annotations

import pytest

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


def test_a_page_is_what_it_is_at_the_time_of_the_site(site):
    life = changing(site, "morning")
    url, seen = life.spells[0].url, set()
    for number, moment in enumerate(life.moments, 1):
        site.set_time(moment)
        reply, again = site.reply(url), site.reply(url)
        assert (reply.article, reply.version) == (life.article.id, number)
        assert reply.content == f"{life.article.id};{number}"
        assert reply.body != again.body
        digests = {read_page(shown.body, url=url).digest for shown in (reply, again)}
        assert len(digests) == 1
        seen |= digests
    assert len(seen) == number


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

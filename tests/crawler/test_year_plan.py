from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from crawler.site.year.edits import KINDS, MOST_WORDS, edited
from crawler.site.year.plan import ARTICLES, DAYS, Year, live
from crawler.truth import changed_fraction


@pytest.fixture(scope="module")
def year():
    return Year(60, 3, 40)


def test_a_year_hangs_on_its_numbers_alone(year):
    same, other = Year(60, 3, 40), Year(60, 4, 40)
    assert [life.spells for life in same.lives] == [life.spells for life in year.lives]
    assert [life.moments for life in same.lives] == [life.moments for life in year.lives]
    assert [life.versions for life in same.lives] == [life.versions for life in year.lives]
    assert [life.spells for life in other.lives] != [life.spells for life in year.lives]


def test_most_articles_never_change_some_weekly_and_few_daily():
    rates = [life.rate for life in Year(ARTICLES, 1, DAYS).lives]
    never, weekly, daily = (
        sum(low <= rate <= high for rate in rates)
        for low, high in ((0, 0), (1 / 10, 1 / 5), (0.5, 1))
    )
    assert never > ARTICLES / 2
    assert ARTICLES / 10 < weekly < ARTICLES / 5
    assert 0 < daily < ARTICLES / 10


def test_versions_come_one_after_the_other_and_each_says_something_else(year):
    changed = [life for life in year.lives if len(life.versions) > 1]
    assert len(changed) > 10
    for life in year.lives:
        assert life.moments == tuple(sorted(life.moments))
        assert len(life.moments) == len(life.versions)
        assert all(moment < min(40, life.until) for moment in life.moments[1:])
        said = [version.words() for version in life.versions]
        assert all(before != after for before, after in pairwise(said))
        assert [version.number for version in life.versions] == [*range(1, len(said) + 1)]
        assert life.version_at(life.moments[-1]) is life.versions[-1]
        assert life.version_at(life.since) is life.versions[0]
        assert life.changed_at(40) == life.moments[-1]


def test_edits_go_from_one_word_to_all_of_the_text(year):
    life = year.lives[0]
    shares, lengths = [], []
    version = life.versions[0]
    for number in range(300):
        after = edited(version, life.article.writer(f"test/{number}"))
        shares.append(changed_fraction(version.words(), after.words()))
        lengths.append(len(after.words()))
        version = after
    assert 0 < min(shares) < 0.01
    assert max(shares) > 0.6
    assert sum(share < 0.05 for share in shares) > len(shares) / 4
    assert sum(share >= 0.05 for share in shares) > len(shares) / 4
    assert max(lengths) < MOST_WORDS + 250
    assert len(KINDS) == 20


def test_every_twenty_articles_have_every_fate(year):
    fates = Counter((life.spells[0].after[:4], len(life.spells) > 1) for life in year.lives)
    assert {fate for fate, _ in fates} == {"", "404", "410", "http"}
    gone = [life for life in year.lives if life.until < 40]
    stay = [life for life in year.lives if life.spells[0].until < 40 <= life.until]
    moved = [spell for life in stay for spell in life.spells if "/archive/" in spell.url]
    copies = [spell for life in stay for spell in life.spells if spell.look == "print"]
    assert (len(gone), len(stay), len(moved)) == (6, 12, 6)
    assert len(copies) >= 6
    for life in stay:
        others = [spell for spell in life.spells if spell is not life.spells[0]]
        assert others
        assert all(spell.until > 40 for spell in others)


def test_the_newest_articles_are_first_and_those_that_are_gone_are_not_there(year):
    early, late = live(year.lives, 0.0), live(year.lives, 39.0)
    assert 0 < len(early) < len(year.lives)
    dates = [life.article.published for life, _ in late]
    assert dates == sorted(dates, reverse=True)
    assert all(spell.since <= 39 < spell.until for _, spell in late)
    assert {life.article.id for life, _ in late} - {life.article.id for life, _ in early}


def test_one_newspaper_is_redesigned_and_two_send_wrong_validators(year):
    papers = year.papers.values()
    assert sum(paper.redesign is not None for paper in papers) == 1
    morning = year.papers["morning"]
    assert morning.design_at(0) != morning.design_at(39)
    assert sorted(paper.validators for paper in papers) == ["fresh", "honest", "none", "stale"]
    assert {life.paper.host for life in year.lives} == {paper.host for paper in papers}

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from crawler.site.year.plan import Year


@pytest.fixture(scope="module")
def year():
    return Year(60, 3, 40)


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

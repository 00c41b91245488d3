"""The plan of a year: which article is where, and what it says, at each moment.

Moments are days since the year's begin, with fractions; the plan depends on its arguments alone.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from functools import cached_property
from math import inf
from random import Random
from typing import NamedTuple

from crawler.site.articles import (
    Article,
    Block,
    Version,
    deal,
    paragraph_of,
    replace_sentence,
    texts,
)
from crawler.site.prose import Writer
from crawler.truth import changed_fraction, words

BEGIN = datetime(2024, 7, 1, tzinfo=timezone.utc)
DAYS = 365
ARTICLES = 300

# How many of each among twenty articles.
LENGTHS = [(60, 110)] * 4 + [(110, 200)] * 10 + [(200, 320)] * 6
SHARES = ["morning"] * 10 + ["evening"] * 4 + ["village"] * 3 + ["weekly"] * 3
# Edits a day, from and to: never, rarely, weekly, daily.
RATES = [(0.0, 0.0)] * 11 + [(1 / 90, 1 / 20)] * 5 + [(1 / 10, 1 / 5)] * 3 + [(0.5, 1.0)]
COPIES = [""] * 13 + ["print"] * 4 + ["mirror"] * 2 + ["print mirror"]
FATES = [""] * 14 + ["404", "410", "404 but copy", "410 but copy", "301", "404 and moved"]
"""What becomes of an article's page: it answers 404 or 410, and its copies with it unless they
stay, or the article is at another URL, to which the old one leads or does not."""
KINDS = ["word"] * 5 + ["sentence"] * 6 + ["paragraph"] * 5 + ["update"] * 3 + ["rewrite"]
"""How often each kind of edit comes, among twenty."""
MOST_WORDS = 450
"""An article that grows beyond this loses older paragraphs."""


class Season(NamedTuple):
    """A part of the year; by default it never comes."""

    since: float = inf
    until: float = inf

    def holds(self, moment: float) -> bool:
        """Tell whether a moment belongs to it."""
        return self.since <= moment < self.until


NEVER = Season()


class Paper(NamedTuple):
    """A newspaper: its host, its design, and what is to be known of its server.

    `validators` are honest, stale (the same ones for other content), fresh (others for the same
    content) or none. In the `redesign` season, which ends with the year, all pages have another
    design. In the `soft404` season missing pages, and some that are not missing, answer with status
    200. In the `notice` season all pages have one box more.
    """

    host: str
    design: str
    validators: str
    redesign: Season = NEVER
    soft404: Season = NEVER
    notice: Season = NEVER

    def design_at(self, moment: float) -> str:
        """Return the design of its pages."""
        return "hashed" if self.redesign.holds(moment) else self.design


class YearArticle(Article):
    """An article that is published on a day of the year; those of day 0 are older.

    It has no history of its own: what becomes of it is its life's.
    """

    def __init__(self, seed: int, number: int, day: float) -> None:
        super().__init__(seed, number)
        self.day = day
        age = -int(day) if day else self.random("day").randrange(1, 540)
        self.published = BEGIN.date() - timedelta(days=age)
        self.length = deal(LENGTHS, seed, "year/length", number)
        self.history = []


class Spell(NamedTuple):
    """One URL of an article: `look` is main, print or mirror.

    `after` its season it answers with 404, 410, or leads to a URL.
    """

    url: str
    look: str
    season: Season
    after: str = "404"


@dataclass(frozen=True)
class Life:
    """An article with all its versions, the moments of their appearance, and its URLs."""

    article: YearArticle
    paper: Paper
    moments: tuple[float, ...]
    spells: tuple[Spell, ...]

    @cached_property
    def versions(self) -> tuple[Version, ...]:
        """All versions, written when first asked for."""
        found = [self.article.versions[0]]
        while len(found) < len(self.moments):
            found.append(edited(found[-1], self.article.writer(f"edit/{len(found)}")))
        return tuple(found)

    def state_at(self, moment: float) -> tuple[Version, float]:
        """Return the version that it has at a moment of its life, and since when."""
        i = max(0, bisect_right(self.moments, moment) - 1)
        return self.versions[i], self.moments[i]


class Year:
    """All that happens in a year of so many days; `papers` are its newspapers by their host."""

    def __init__(self, articles: int = ARTICLES, seed: int = 1, days: int = DAYS) -> None:
        self.seed = seed
        self.days = days
        redesign = Season(round(0.55 * days) + 0.1)
        soft404 = Season(0.3 * days, 0.3 * days + days / 10 + 2)
        notice = Season(0.7 * days, 0.7 * days + days / 12)
        papers = (
            Paper("morning.example", "semantic", "honest", redesign=redesign),
            Paper("evening.example", "table", "stale"),
            Paper("village.example", "semantic", "none", soft404=soft404),
            Paper("weekly.example", "hashed", "fresh", notice=notice),
        )
        self.papers = {paper.host: paper for paper in papers}
        self.lives = [self._life(number) for number in range(articles)]
        self.by_id = {life.article.id: life for life in self.lives}
        self.spells = {spell.url: (life, spell) for life in self.lives for spell in life.spells}

    def _life(self, number: int) -> Life:
        rng = Random(f"{self.seed}/life/{number}")
        # Most articles are there from the first day on.
        day = rng.uniform(0.02, 0.85) * self.days if rng.random() < 0.4 else 0.0
        article = YearArticle(self.seed, number, day)
        paper = self.papers[f"{deal(SHARES, self.seed, 'year/paper', number)}.example"]
        spells = self._spells(article, paper, rng)
        rate = rng.uniform(*deal(RATES, self.seed, "year/rate", number))
        end = min(self.days, max(spell.season.until for spell in spells))
        moments, edits = [day], article.random("edits")
        while rate and (moment := moments[-1] + edits.expovariate(rate)) < end:
            moments.append(moment)
        return Life(article, paper, tuple(moments), spells)

    def _spells(self, article: YearArticle, paper: Paper, rng: Random) -> tuple[Spell, ...]:
        fate, _, remark = deal(FATES, self.seed, "year/fate", article.number).partition(" ")
        copies = deal(COPIES, self.seed, "year/copies", article.number).split()
        if remark == "but copy" and not copies:
            copies = ["print"]
        end = article.day + rng.uniform(0.2, 0.9) * (self.days - article.day) if fate else inf
        home, place = f"http://{paper.host}", f"{article.section}/{article.slug}"
        moved = f"{home}/archive/{article.slug}"
        leads = moved if fate == "301" else fate
        found = [Spell(f"{home}/{place}", "main", Season(article.day, end), leads)]
        if fate == "301" or remark == "and moved":
            found.append(Spell(moved, "main", Season(end)))
        gone = end if fate in ("404", "410") and not remark else inf
        for look in copies:
            path = f"print/{place}" if look == "print" else f"weekend/{article.slug}"
            found.append(Spell(f"{home}/{path}", look, Season(article.day, gone), fate))
        return tuple(found)


def unix(moment: float) -> float:
    """Return the Unix time of a moment."""
    return BEGIN.timestamp() + moment * 86_400


def edited(last: Version, writer: Writer) -> Version:
    """Return the next version of an article; it says something else in any case."""
    rng = writer.rng
    kind = rng.choice(KINDS)
    before = last.words()
    wanted = rng.uniform(0.1, 0.5) if kind == "update" else 0.0
    headline = last.headline
    if kind in ("update", "rewrite") and rng.random() < 0.4:
        headline = writer.write("headline")
    blocks, after = list(last.blocks), before
    while after == before or (wanted and changed_fraction(before, after) < wanted):
        _edit(kind, blocks, writer)
        after = Version(0, headline, tuple(blocks)).words()
    # An article of too many words loses older paragraphs.
    places = [i for i in texts(blocks)[1:] if blocks[i] in last.blocks]
    rng.shuffle(places)
    gone, count = set(), len(after)
    while places and count > MOST_WORDS:
        place = places.pop()
        gone.add(place)
        count -= len(words(" ".join(blocks[place].items)))
    kept = tuple(block for i, block in enumerate(blocks) if i not in gone)
    return Version(last.number + 1, headline, kept)


def _edit(kind: str, blocks: list[Block], writer: Writer) -> None:
    rng = writer.rng
    how = rng.choice(["append", "lead", "replace"]) if kind in ("paragraph", "update") else kind
    if how in ("append", "lead"):
        blocks.insert(len(blocks) if how == "append" else 1, paragraph_of(writer))
        return
    for place in texts(blocks) if how == "rewrite" else [rng.choice(texts(blocks))]:
        block = blocks[place]
        if how == "sentence":
            blocks[place] = replace_sentence(block, writer)
        elif how == "word":
            items = list(block.items)
            number = rng.randrange(len(items))
            wrong = rng.choice(words(items[number]))
            right = rng.choice(words(writer.write("sentence")))
            items[number] = items[number].replace(wrong, right, 1)
            blocks[place] = block._replace(items=tuple(items))
        else:
            blocks[place] = block._replace(items=paragraph_of(writer).items)

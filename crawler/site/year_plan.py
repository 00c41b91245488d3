"""The plan of a year: which article is where, and what it says, at each moment.

Moments are days since the year's begin, with fractions; the plan depends on its arguments alone.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
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

LENGTHS = [(60, 110)] * 4 + [(110, 200)] * 10 + [(200, 320)] * 6
SHARES = ["morning"] * 10 + ["evening"] * 4 + ["village"] * 3 + ["weekly"] * 3
# Edits a day, from and to.
NEVER, RARELY, WEEKLY, DAILY = (0.0, 0.0), (1 / 90, 1 / 20), (1 / 10, 1 / 5), (0.5, 1.0)
RATES = [NEVER] * 11 + [RARELY] * 5 + [WEEKLY] * 3 + [DAILY]
COPIES = [""] * 13 + ["print"] * 4 + ["mirror"] * 2 + ["print mirror"]
FATES = [""] * 14 + ["404", "410", "404 but copy", "410 but copy", "301", "404 and moved"]
"""What becomes of an article's page: it answers 404 or 410, and its copies with it unless they
stay, or the article is at another URL, to which the old one leads or does not."""


KINDS = ["word"] * 5 + ["sentence"] * 6 + ["paragraph"] * 5 + ["update"] * 3 + ["rewrite"]
"""How often each kind of edit comes, among twenty."""
MOST_WORDS = 450
"""An article that grows beyond this loses older paragraphs."""


class Redesign(NamedTuple):
    """From a moment on all pages have another design."""

    at: float
    design: str


class Paper(NamedTuple):
    """A newspaper: its host, its design, and what is to be known of its server.

    `validators` are honest, stale (the same ones for other content), fresh (others for the same
    content) or none. In the `soft404` season missing pages, and some that are not missing, answer
    with status 200. In the `notice` season all pages have one box more.
    """

    host: str
    design: str
    validators: str
    redesign: Redesign | None = None
    soft404: tuple[float, float] = (inf, inf)
    notice: tuple[float, float] = (inf, inf)

    def design_at(self, moment: float) -> str:
        """Return the design of its pages."""
        return self.redesign.design if self.has_moved(moment) and self.redesign else self.design

    def has_moved(self, moment: float) -> bool:
        """Tell whether the redesign has taken place."""
        return self.redesign is not None and moment >= self.redesign.at


def papers_of(days: int) -> dict[str, Paper]:
    """Return the newspapers of a year of so many days, by name."""
    return {
        "morning": Paper(
            "morning.example",
            "semantic",
            "honest",
            redesign=Redesign(round(0.55 * days) + 0.1, "hashed"),
        ),
        "evening": Paper("evening.example", "table", "stale"),
        "village": Paper(
            "village.example", "semantic", "none", soft404=(0.3 * days, 0.3 * days + days / 10 + 2)
        ),
        "weekly": Paper(
            "weekly.example", "hashed", "fresh", notice=(0.7 * days, 0.7 * days + days / 12)
        ),
    }


@dataclass(frozen=True)
class YearArticle(Article):
    """An article that is published on a day of the year; those of day 0 are older."""

    day: float = 0.0

    @cached_property
    def published(self) -> date:
        """The day of its first version."""
        if self.day:
            return BEGIN.date() + timedelta(days=int(self.day))
        return BEGIN.date() - timedelta(days=self.random("day").randrange(1, 540))

    @cached_property
    def history(self) -> list[str]:
        """Blank: what becomes of it is its life's."""
        return []

    @cached_property
    def length(self) -> tuple[int, int]:
        """How many words its first version has, at least and about at most."""
        return deal(LENGTHS, self.seed, "year/length", self.number)


class Spell(NamedTuple):
    """One URL of an article: `look` is main, print or mirror.

    It is there from `since` until `until`. `after` is what it answers then: 404, 410, or the URL
    that it leads to.
    """

    url: str
    look: str
    since: float
    until: float = inf
    after: str = "404"


@dataclass(frozen=True)
class Life:
    """An article with all its versions, the moments of their appearance, and its URLs."""

    article: YearArticle
    paper: Paper
    rate: float
    moments: tuple[float, ...]
    spells: tuple[Spell, ...]

    @cached_property
    def versions(self) -> tuple[Version, ...]:
        """All versions, written when first asked for."""
        found = [self.article.versions[0]]
        while len(found) < len(self.moments):
            found.append(edited(found[-1], self.article.writer(f"edit/{len(found)}")))
        return tuple(found)

    def version_at(self, moment: float) -> Version:
        """Return the version that it has at a moment of its life."""
        return self.versions[max(0, bisect_right(self.moments, moment) - 1)]

    def changed_at(self, moment: float) -> float:
        """Return when it got the version that it has at a moment."""
        return self.moments[max(0, bisect_right(self.moments, moment) - 1)]


class Year:
    """All that happens in a year of so many days."""

    def __init__(self, articles: int = ARTICLES, seed: int = 1, days: int = DAYS) -> None:
        self.seed = seed
        self.days = days
        self.papers = papers_of(days)
        self.lives = [self._life(number) for number in range(articles)]
        self.by_id = {life.article.id: life for life in self.lives}
        self.spells = {spell.url: (life, spell) for life in self.lives for spell in life.spells}

    def _life(self, number: int) -> Life:
        rng = Random(f"{self.seed}/life/{number}")
        # Most articles are there from the first day on.
        day = rng.uniform(0.02, 0.85) * self.days if rng.random() < 0.4 else 0.0
        article = YearArticle(self.seed, number, day)
        paper = self.papers[deal(SHARES, self.seed, "year/paper", number)]
        spells = self._spells(article, paper, rng)
        rate = rng.uniform(*deal(RATES, self.seed, "year/rate", number))
        end = min(self.days, max(spell.until for spell in spells))
        return Life(article, paper, rate, _moments(article, rate, end), spells)

    def _spells(self, article: YearArticle, paper: Paper, rng: Random) -> tuple[Spell, ...]:
        fate, *remark = deal(FATES, self.seed, "year/fate", article.number).split(" ", 1) or [""]
        copies = deal(COPIES, self.seed, "year/copies", article.number).split()
        stays = remark == ["but copy"]
        if stays and not copies:
            copies = ["print"]
        end = inf
        if fate:
            end = article.day + rng.uniform(0.2, 0.9) * (self.days - article.day)
        home = f"http://{paper.host}"
        place = f"{article.section}/{article.slug}"
        moved = f"{home}/archive/{article.slug}"
        found = [Spell(f"{home}/{place}", "main", article.day, end, fate)]
        if fate == "301":
            found = [found[0]._replace(after=moved), Spell(moved, "main", end)]
        elif remark == ["and moved"]:
            found.append(Spell(moved, "main", end))
        gone = end if fate in ("404", "410") and not remark else inf
        for look in copies:
            path = f"print/{place}" if look == "print" else f"weekend/{article.slug}"
            found.append(Spell(f"{home}/{path}", look, article.day, gone, fate))
        return tuple(found)


def unix(moment: float) -> float:
    """Return the Unix time of a moment."""
    return BEGIN.timestamp() + moment * 86_400


def _moments(article: YearArticle, rate: float, end: float) -> tuple[float, ...]:
    """Return when an article's versions appear, at random."""
    rng = article.random("edits")
    moments = [article.day]
    while rate and moments[-1] < end:
        moments.append(moments[-1] + rng.expovariate(rate))
    return tuple(moments[:1] + [moment for moment in moments[1:] if moment < end])


def live(lives: Sequence[Life], moment: float) -> list[tuple[Life, Spell]]:
    """Return the main pages that are there at a moment, with the newest articles first."""
    found = [
        (life, spell)
        for life in lives
        for spell in life.spells
        if spell.look == "main" and spell.since <= moment < spell.until
    ]
    return sorted(found, key=lambda each: (each[0].article.published, each[1].url), reverse=True)


def edited(last: Version, writer: Writer) -> Version:
    """Return the next version of an article; it says something else in any case."""
    rng = writer.rng
    kind = rng.choice(KINDS)
    before = last.words()
    wanted = rng.uniform(0.1, 0.5) if kind == "update" else 0.0
    headline = last.headline
    if kind in ("update", "rewrite") and rng.random() < 0.4:
        headline = writer.write("headline")
    blocks = list(last.blocks)
    said = before
    while said == before or (wanted and changed_fraction(before, said) < wanted):
        _edit(kind, blocks, writer)
        said = Version(0, headline, tuple(blocks)).words()
    # An article of too many words loses older paragraphs.
    places = [i for i in texts(blocks)[1:] if blocks[i] in last.blocks]
    rng.shuffle(places)
    gone, count = set(), len(said)
    while places and count > MOST_WORDS:
        place = places.pop()
        gone.add(place)
        count -= len(words(" ".join(blocks[place].items)))
    kept = tuple(block for i, block in enumerate(blocks) if i not in gone)
    return Version(last.number + 1, headline, kept)


def _edit(kind: str, blocks: list[Block], writer: Writer) -> None:
    rng = writer.rng
    if kind == "rewrite":
        for place in texts(blocks):
            blocks[place] = Block(blocks[place].kind, paragraph_of(writer).items)
        return
    if kind in ("paragraph", "update"):
        how = rng.choice(["append", "lead", "replace"])
        if how == "append":
            blocks.append(paragraph_of(writer))
            return
        if how == "lead":
            blocks.insert(1, paragraph_of(writer))
            return
    place = rng.choice(texts(blocks))
    if kind == "sentence":
        blocks[place] = replace_sentence(blocks[place], writer)
    elif kind == "word":
        items = list(blocks[place].items)
        number = rng.randrange(len(items))
        wrong = rng.choice(words(items[number]))
        right = rng.choice(words(writer.write("sentence")))
        items[number] = items[number].replace(wrong, right, 1)
        blocks[place] = Block(blocks[place].kind, tuple(items))
    else:
        blocks[place] = Block(blocks[place].kind, paragraph_of(writer).items)

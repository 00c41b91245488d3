"""Articles and their versions: texts that depend on seed, number and version alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from random import Random
from typing import NamedTuple, TypeVar

from crawler.site.prose import Writer, grammar
from crawler.truth import TRUE_UPDATE, changed_fraction, words

T = TypeVar("T")

# How many of each among twenty articles.
LANGUAGES = ["en"] * 15 + ["de"] * 2 + ["zh"] * 2 + ["ar"]
LENGTHS = ["brief"] * 2 + ["short"] * 4 + ["normal"] * 9 + ["long"] * 5
HISTORIES = [""] * 10 + ["update"] * 6 + ["update update"] * 2 + ["touch", "touch update"]
EXTRAS = [""] * 8 + ["figure"] * 5 + ["list"] * 3 + ["table"] * 2 + ["quote"] * 2

WORD_COUNTS = {"brief": (30, 80), "short": (150, 260), "normal": (260, 560), "long": (560, 900)}
FIRST_DAY = date(2023, 1, 2)


def deal(options: list[T], seed: int, name: str, number: int) -> T:
    """Return the option of a number: every len(options) numbers get each option once, shuffled."""
    deck = list(options)
    Random(f"{seed}/{name}/{number // len(deck)}").shuffle(deck)
    return deck[number % len(deck)]


class Block(NamedTuple):
    """A part of a text: `kind` is lede, p, h2, quote, ul, table, code or figure.

    `items` are sentences, points or cells (a table has `columns` of them in a row).
    """

    kind: str
    items: tuple[str, ...]
    columns: int = 0


class Version(NamedTuple):
    """One state of an article."""

    number: int
    headline: str
    blocks: tuple[Block, ...]

    def words(self) -> list[str]:
        """Return the words of the headline and of all blocks, in order."""
        return words(" ".join([self.headline, *(" ".join(b.items) for b in self.blocks)]))


@dataclass(frozen=True)
class Article:
    """One true article of the site: its facts; its text is written when first asked for."""

    seed: int
    number: int

    @property
    def id(self) -> str:
        """The article's name in the truth."""
        return f"a{self.number:05}"

    @cached_property
    def language(self) -> str:
        """Its language: en, de, ar or zh."""
        return deal(LANGUAGES, self.seed, "language", self.number)

    @cached_property
    def section(self) -> str:
        """The section it appears in: a topic, or the name of a foreign edition."""
        if self.language != "en":
            return self.language
        return deal(grammar("en").topics(), self.seed, "topic", self.number)

    @cached_property
    def published(self) -> date:
        """The day of its first version."""
        return FIRST_DAY + timedelta(days=self.random("day").randrange(540))

    @cached_property
    def length(self) -> tuple[int, int]:
        """How many words its first version has, at least and about at most."""
        return WORD_COUNTS[deal(LENGTHS, self.seed, "length", self.number)]

    @cached_property
    def history(self) -> list[str]:
        """What became of it: one "update" or "touch" for each later version."""
        return deal(HISTORIES, self.seed, "history", self.number).split()

    @cached_property
    def cast(self) -> dict[str, str]:
        """The people and places it is about."""
        return Writer(self.language, self.section, self.random("cast")).cast

    @cached_property
    def opening(self) -> tuple[str, str, str]:
        """Headline, author and lede: all that listings show."""
        write = self.writer("opening").write
        return write("headline"), write("person"), write("sentence")

    @cached_property
    def slug(self) -> str:
        """The end of its URL."""
        plain = re.findall(r"[a-z0-9]+", self.opening[0].lower())[:7]
        return "-".join([*plain, str(1000 + self.number)])

    @property
    def path(self) -> str:
        """A URL like those of newspapers."""
        return f"/{self.section}/{self.published:%Y/%m}/{self.slug}"

    @cached_property
    def comments(self) -> list[str]:
        """What readers wrote below it."""
        writer = self.writer("comments")
        return writer.several("comment", writer.rng.choice([0, 0, 1, 2, 3, 5, 8]) + 1)

    @cached_property
    def versions(self) -> list[Version]:
        """All versions, the first one first."""
        versions = [self._first_version()]
        for what in self.history:
            writer = self.writer(f"{what}/{len(versions)}")
            versions.append((touched if what == "touch" else updated)(writer, versions))
        return versions

    def changes(self) -> dict[tuple[str, int, int], float]:
        """Return how far each two versions are apart: `changed_fraction` by (id, a, b), a < b."""
        said = [(version.number, version.words()) for version in self.versions]
        return {
            (self.id, a, b): changed_fraction(before, after)
            for i, (a, before) in enumerate(said)
            for b, after in said[i + 1 :]
        }

    def random(self, name: str) -> Random:
        """Return a new random generator: each part of an article has one of its own."""
        return Random(f"{self.seed}/{name}/{self.number}")

    def writer(self, name: str) -> Writer:
        """Return a new writer about this article's people and places."""
        return Writer(self.language, self.section, self.random(name), self.cast)

    def _first_version(self) -> Version:
        headline, _, lede = self.opening
        writer = self.writer("text")
        low, high = self.length
        wanted = writer.rng.randint(low, high)
        blocks = [Block("lede", (lede,))]
        count = len(words(lede))
        while count < wanted:
            paragraph = paragraph_of(writer, short=high < 100)
            count += len(words(" ".join(paragraph.items)))
            blocks.append(paragraph)
        if high >= 100:
            self._dress(blocks, writer)
        return Version(1, headline, tuple(blocks))

    def _dress(self, blocks: list[Block], writer: Writer) -> None:
        """Put in what breaks up the paragraphs of a longer piece."""
        rng = writer.rng
        for place in range(len(blocks) - 3, 3, -rng.randint(4, 7)):
            blocks.insert(place, Block("h2", (writer.write("subhead"),)))
        extra = deal(EXTRAS, self.seed, "extra", self.number)
        if extra == "figure":
            for _ in range(rng.randint(1, 3)):
                caption = Block("figure", (writer.write("caption"),))
                blocks.insert(rng.randint(1, len(blocks)), caption)
        elif extra == "list":
            points = tuple(writer.several("point", rng.randint(3, 6)))
            blocks.insert(rng.randint(1, len(blocks)), Block("ul", points))
        elif extra == "quote":
            blocks.insert(rng.randint(1, len(blocks)), Block("quote", (writer.write("quote"),)))
        elif extra == "table":
            blocks.insert(rng.randint(2, len(blocks)), table(writer))
        if self.section in ("technology", "science") and rng.random() < 0.5:
            blocks.insert(rng.randint(2, len(blocks)), code(writer))
        if rng.random() < 0.5:
            blocks.append(Block("p", (writer.write("boilerplate"),)))


def newest_first(articles: Sequence[Article]) -> list[Article]:
    """Return articles in the order of lists."""
    return sorted(articles, key=lambda a: (a.published, a.number), reverse=True)


def paragraph_of(writer: Writer, *, short: bool = False) -> Block:
    """Return a new paragraph of one to four sentences; a short one has one."""
    return Block("p", tuple(writer.several("sentence", 1 if short else writer.rng.randint(1, 4))))


def table(writer: Writer) -> Block:
    """Return a new table of numbers."""
    rng = writer.rng
    columns = rng.randint(3, 5)
    cells = writer.several("column", columns)
    for _ in range(rng.randint(3, 8)):
        cells.append(writer.write("place"))
        cells.extend(str(rng.randint(2, 9800)) for _ in range(columns - 1))
    return Block("table", tuple(cells), columns)


def code(writer: Writer) -> Block:
    """Return a new function in Python."""
    rng = writer.rng
    name, value, other = (re.sub(r"\W+", "_", writer.write("place")).lower() for _ in range(3))
    lines = [
        f"def {name}({value}, limit={rng.randint(2, 900)}):",
        f'    """Return the {value} of {name}."""',
        f"    {other} = [x * {rng.randint(2, 40)} for x in {value} if x < limit]",
        f"    return sum({other}) / {rng.randint(2, 60)}",
    ]
    return Block("code", ("\n".join(lines),))


def updated(writer: Writer, versions: list[Version]) -> Version:
    """Return a true update: reporters add, rewrite and cut until enough has changed."""
    rng = writer.rng
    headline = versions[-1].headline
    if rng.random() < 0.4:
        headline = writer.write("headline")
    blocks = list(versions[-1].blocks)
    target = max(TRUE_UPDATE, rng.choice([rng.uniform(0.1, 0.2), rng.uniform(0.15, 0.5)]))
    habit = rng.choice(["append", "lead", "rewrite", "mixed", "sentences"])
    number = len(versions) + 1
    while True:
        edit = habit if habit != "mixed" else rng.choice(["append", "lead", "rewrite", "cut"])
        places = texts(blocks)
        i = rng.choice(places)
        if edit == "append":
            blocks.insert(rng.randint(max(1, len(blocks) - 2), len(blocks)), paragraph_of(writer))
        elif edit == "lead":
            blocks.insert(1, paragraph_of(writer))
        elif edit == "cut" and len(places) > 4:
            del blocks[i]
        elif edit == "sentences":
            blocks[i] = replace_sentence(blocks[i], writer)
        else:
            blocks[i] = Block(blocks[i].kind, paragraph_of(writer).items)
        version = Version(number, headline, tuple(blocks))
        said = version.words()
        if all(changed_fraction(old.words(), said) >= target for old in versions):
            return version


def touched(writer: Writer, versions: list[Version]) -> Version:
    """Return a correction too small to count as an update: a sentence, or only a name in it."""
    rng = writer.rng
    last = versions[-1]
    before = last.words()
    number = len(versions) + 1
    for _ in range(20):
        blocks = list(last.blocks)
        i = rng.choice(texts(blocks))
        blocks[i] = replace_sentence(blocks[i], writer)
        version = Version(number, last.headline, tuple(blocks))
        if 0 < changed_fraction(before, version.words()) < TRUE_UPDATE:
            return version
    correction = writer.write("person").split(" ")[-1]
    lede = Block("lede", (last.blocks[0].items[0], f"({correction})"))
    return Version(number, last.headline, (lede, *last.blocks[1:]))


def replace_sentence(block: Block, writer: Writer) -> Block:
    """Return the block with another sentence in place of one of its own."""
    items = list(block.items)
    items[writer.rng.randrange(len(items))] = writer.write("sentence")
    return Block(block.kind, tuple(items))


def texts(blocks: Sequence[Block]) -> list[int]:
    """Return the places of what is plain text; the first one is the lede."""
    return [i for i, block in enumerate(blocks) if block.kind in ("p", "lede")]

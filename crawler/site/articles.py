"""Articles and their versions: texts that depend on seed, number and version alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta
from functools import cached_property
from itertools import combinations
from random import Random
from typing import NamedTuple, TypeVar

from crawler.site.prose import TOPICS, Writer
from crawler.truth import TRUE_UPDATE, changed_fraction, words

T = TypeVar("T")

# How many of each among twenty articles.
LANGUAGES = ["en"] * 15 + ["de"] * 2 + ["zh"] * 2 + ["ar"]
# How many words the first version has, at least and about at most.
LENGTHS = [(30, 80)] * 2 + [(150, 260)] * 4 + [(260, 560)] * 9 + [(560, 900)] * 5
HISTORIES = [""] * 10 + ["update"] * 6 + ["update update"] * 2 + ["touch", "touch update"]
EXTRAS = [""] * 8 + ["figure"] * 5 + ["list"] * 3 + ["table"] * 2 + ["quote"] * 2
FIRST_DAY = date(2023, 1, 2)


def deal(options: Sequence[T], seed: int, name: str, number: int) -> T:
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


class Article:
    """One true article of the site: its facts; its versions are written when first asked for.

    `section` is a topic, or the language of a foreign edition. `published` is the day of the first
    version, which has as many words as `length` says, and `history` an "update" or "touch" for each
    later one. `opening` is all that lists show: headline, author and lede.
    """

    def __init__(self, seed: int, number: int) -> None:
        self.seed, self.number = seed, number
        self.id = f"a{number:05}"
        self.language = deal(LANGUAGES, seed, "language", number)
        is_english = self.language == "en"
        self.section = deal(TOPICS, seed, "topic", number) if is_english else self.language
        self.published = FIRST_DAY + timedelta(days=self.random("day").randrange(540))
        self.length = deal(LENGTHS, seed, "length", number)
        self.history = deal(HISTORIES, seed, "history", number).split()
        self.cast = Writer(self.language, self.section, self.random("cast")).cast
        write = self.writer("opening").write
        self.opening = write("headline"), write("person"), write("sentence")
        plain = re.findall(r"[a-z0-9]+", self.opening[0].lower())[:7]
        self.slug = "-".join([*plain, str(1000 + number)])

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

    def changes(self) -> dict[str, float]:
        """Return the `changed_fraction` of each two versions by "id a b", with a < b."""
        texts = [(version.number, version.words()) for version in self.versions]
        return {
            f"{self.id} {a} {b}": changed_fraction(before, after)
            for (a, before), (b, after) in combinations(texts, 2)
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
            blocks.append(paragraph_of(writer, short=high < 100))
            count += len(words(" ".join(blocks[-1].items)))
        if high >= 100:
            self._dress(blocks, writer)
        return Version(1, headline, tuple(blocks))

    def _dress(self, blocks: list[Block], writer: Writer) -> None:
        """Put in what breaks up the paragraphs of a longer piece."""
        rng, write = writer.rng, writer.write

        def place(first: int = 1) -> int:
            return rng.randint(first, len(blocks))

        for i in range(len(blocks) - 3, 3, -rng.randint(4, 7)):
            blocks.insert(i, Block("h2", (write("subhead"),)))
        extra = deal(EXTRAS, self.seed, "extra", self.number)
        if extra == "figure":
            for _ in range(rng.randint(1, 3)):
                caption = Block("figure", (write("caption"),))
                blocks.insert(place(), caption)
        elif extra == "list":
            points = tuple(writer.several("point", rng.randint(3, 6)))
            blocks.insert(place(), Block("ul", points))
        elif extra == "quote":
            blocks.insert(place(), Block("quote", (write("quote"),)))
        elif extra == "table":
            blocks.insert(place(2), table(writer))
        if self.section in ("technology", "science") and rng.random() < 0.5:
            blocks.insert(place(2), code(writer))
        if rng.random() < 0.5:
            blocks.append(Block("p", (write("boilerplate"),)))


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
    text = f'''\
def {name}({value}, limit={rng.randint(2, 900)}):
    """Return the {value} of {name}."""
    {other} = [x * {rng.randint(2, 40)} for x in {value} if x < limit]
    return sum({other}) / {rng.randint(2, 60)}'''
    return Block("code", (text,))


def updated(writer: Writer, versions: list[Version]) -> Version:
    """Return a true update: reporters add, rewrite and cut until enough has changed."""
    rng = writer.rng
    headline = writer.write("headline") if rng.random() < 0.4 else versions[-1].headline
    blocks = list(versions[-1].blocks)
    target = max(TRUE_UPDATE, rng.choice([rng.uniform(0.1, 0.2), rng.uniform(0.15, 0.5)]))
    habit = rng.choice(["append", "lead", "rewrite", "mixed", "sentences"])
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
            blocks[i] = blocks[i]._replace(items=paragraph_of(writer).items)
        version = Version(len(versions) + 1, headline, tuple(blocks))
        after = version.words()
        if all(changed_fraction(old.words(), after) >= target for old in versions):
            return version


def touched(writer: Writer, versions: list[Version]) -> Version:
    """Return a correction too small to count as an update: a sentence, or only a name in it."""
    last = versions[-1]
    before = last.words()
    for _ in range(20):
        blocks = list(last.blocks)
        i = writer.rng.choice(texts(blocks))
        blocks[i] = replace_sentence(blocks[i], writer)
        version = Version(len(versions) + 1, last.headline, tuple(blocks))
        if 0 < changed_fraction(before, version.words()) < TRUE_UPDATE:
            return version
    correction = writer.write("person").split(" ")[-1]
    lede = Block("lede", (last.blocks[0].items[0], f"({correction})"))
    return Version(len(versions) + 1, last.headline, (lede, *last.blocks[1:]))


def replace_sentence(block: Block, writer: Writer) -> Block:
    """Return the block with another sentence in place of one of its own."""
    items = list(block.items)
    items[writer.rng.randrange(len(items))] = writer.write("sentence")
    return block._replace(items=tuple(items))


def texts(blocks: Sequence[Block]) -> list[int]:
    """Return the places of what is plain text; the first one is the lede."""
    return [i for i, block in enumerate(blocks) if block.kind in ("p", "lede")]

"""How an article changes: from one word to all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.site.articles import Block, Version, paragraph_of, replace_sentence
from crawler.truth import changed_fraction, words

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.site.prose import Writer

    Edit = Callable[[list[Block], Writer], None]

KINDS = ["word"] * 5 + ["sentence"] * 6 + ["paragraph"] * 5 + ["update"] * 3 + ["rewrite"]
"""How often each kind of edit comes, among twenty."""
MOST_WORDS = 450
"""An article that grows beyond this loses older paragraphs."""


def edited(last: Version, writer: Writer) -> Version:
    """Return the next version of an article; it says something else in any case."""
    kind = writer.rng.choice(KINDS)
    before = last.words()
    wanted = writer.rng.uniform(0.1, 0.5) if kind == "update" else 0.0
    headline = last.headline
    if kind in ("update", "rewrite") and writer.rng.random() < 0.4:
        headline = writer.write("headline")
    blocks = list(last.blocks)
    said = before
    while said == before or (wanted and changed_fraction(before, said) < wanted):
        EDITS[kind](blocks, writer)
        said = Version(0, headline, tuple(blocks)).words()
    _cut(blocks, last.blocks, len(said), writer)
    return Version(last.number + 1, headline, tuple(blocks))


def _cut(blocks: list[Block], old: tuple[Block, ...], count: int, writer: Writer) -> None:
    """Take older paragraphs out of a text of too many words."""
    places = [i for i in _texts(blocks)[1:] if blocks[i] in old]
    writer.rng.shuffle(places)
    gone = set()
    while places and count > MOST_WORDS:
        place = places.pop()
        gone.add(place)
        count -= len(words(" ".join(blocks[place].items)))
    blocks[:] = [block for i, block in enumerate(blocks) if i not in gone]


def _word(blocks: list[Block], writer: Writer) -> None:
    """Correct one word: that of another sentence is in its place."""
    place = writer.rng.choice(_texts(blocks))
    items = list(blocks[place].items)
    number = writer.rng.randrange(len(items))
    wrong = writer.rng.choice(words(items[number]))
    right = writer.rng.choice(words(writer.write("sentence")))
    items[number] = items[number].replace(wrong, right, 1)
    blocks[place] = Block(blocks[place].kind, tuple(items))


def _sentence(blocks: list[Block], writer: Writer) -> None:
    place = writer.rng.choice(_texts(blocks))
    blocks[place] = replace_sentence(blocks[place], writer)


def _paragraph(blocks: list[Block], writer: Writer) -> None:
    """Add a paragraph at the end or below the lede, or replace one."""
    how = writer.rng.choice(["append", "lead", "replace"])
    if how == "append":
        blocks.append(paragraph_of(writer))
    elif how == "lead":
        blocks.insert(1, paragraph_of(writer))
    else:
        place = writer.rng.choice(_texts(blocks))
        blocks[place] = Block(blocks[place].kind, paragraph_of(writer).items)


def _rewrite(blocks: list[Block], writer: Writer) -> None:
    for place in _texts(blocks):
        blocks[place] = Block(blocks[place].kind, paragraph_of(writer).items)


EDITS: dict[str, Edit] = {
    "word": _word,
    "sentence": _sentence,
    "paragraph": _paragraph,
    "update": _paragraph,
    "rewrite": _rewrite,
}


def _texts(blocks: list[Block]) -> list[int]:
    """Return the places of what is plain text; the first one is the lede."""
    return [i for i, block in enumerate(blocks) if block.kind in ("p", "lede")]

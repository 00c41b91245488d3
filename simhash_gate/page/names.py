"""What the name of a box says of it: the words of a class, an id or a custom tag."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING

from simhash_gate.page.vocabulary import (
    CHROME_TOKENS,
    CONTENT_HEADS,
    CONTENT_STARTS,
    EXTRA_TOKENS,
    HAVING,
    MENU_TOKENS,
    PAGE_HEADS,
    SHORT_TOKENS,
    STATES,
)

if TYPE_CHECKING:
    from collections.abc import Collection

_PIECE = re.compile(r"[^A-Za-z0-9]+")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_MEAN_WORD = 2.5  # letters: `topAd` is a name
_CODE = frozenset("])")  # `top-[var(--nav-height)]` is a style, and no name
_BY_CHANCE = 2  # letters of a word that a hash may well have in it


@lru_cache(maxsize=16_384)  # the names of some dozens of sites
def speaks_of_chrome(names: str) -> bool:
    """Tell if a class or id names chrome, by whole words: `nav-bar` does, `canvas` does not."""
    return any(_chrome_words(name) for name in names.split())


@lru_cache(maxsize=16_384)
def speaks_of_menu(names: str) -> bool:
    """Tell if all chrome that a class or id names, if any, leads elsewhere or does something."""
    return all(_chrome_words(name) <= MENU_TOKENS for name in names.split())


@lru_cache(maxsize=16_384)
def speaks_of_short(names: str) -> bool:
    """Tell if all chrome that a class or id names, if any, is a line or numbers."""
    return all(_chrome_words(name) <= SHORT_TOKENS for name in names.split())


def have_any(names: str, words: Collection[str]) -> bool:
    """Tell if a class or id, or one of several, has one of some words in it."""
    return any(word in words for name in names.split() for word in _said(name_words(name)))


def name_words(name: str) -> list[str]:
    """Return the words of one class or id.

    A piece with digits inside is a hash, and has none; of what looks like one only longer words
    count: `gNav` is a name, `kKBcAd` is not.
    """
    pieces = (piece.rstrip("0123456789") for piece in _PIECE.split(name))
    found = (_WORD.findall(piece) for piece in pieces if piece.isalpha())
    return [
        word.lower()
        for words in found
        for word in words
        if len(word) > _BY_CHANCE or not _looks_hashed(words)
    ]


def _looks_hashed(words: list[str]) -> bool:
    return len(words) > 1 and sum(map(len, words)) < _MEAN_WORD * len(words)


def _chrome_words(name: str) -> frozenset[str]:
    """Return the words of one class or id that name chrome, if it is what they name."""
    if not name[-1].isalnum() and name[-1] in _CODE:
        return frozenset()
    words = list(takewhile(lambda word: word not in HAVING, name_words(name)))
    if not words or words[0] in CONTENT_STARTS or words[-1] in STATES:
        return frozenset()
    said = _said(words)
    extra = EXTRA_TOKENS & said
    if extra:
        return extra if words[-1] not in PAGE_HEADS else frozenset()
    return CHROME_TOKENS & said if words[-1] != "on" and not _content_head(words) else frozenset()


def _said(words: list[str]) -> set[str]:
    """Return words, and those that two of them make: `read-more` is `readmore`."""
    return {*words, *map("".join, pairwise(words))}


def _content_head(words: list[str]) -> bool:
    head = next((word for word in reversed(words) if len(word) > 2), words[-1])
    return head in CONTENT_HEADS

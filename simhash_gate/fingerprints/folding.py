"""The words of many texts at once: characters are folded by a table, and words hashed once.

That takes less than half as long as one by one. It needs numpy, which module `words` must not load:
options name words, and are read before page-reading processes start.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import mmh3
import numpy as np

from simhash_gate.fingerprints.arrays import distinct
from simhash_gate.fingerprints.words import (
    ASCII,
    ASCII_SIGNS,
    SIGNS,
    split,
    unsegmented,
    without_typography,
    words,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simhash_gate.fingerprints.arrays import Positions

    CodeUnits = NDArray[np.uint16]
    Words = NDArray[Any]  # of numpy.uint32

_ASCII_LINES = ASCII | {ord("\n"): "\n"}
# What stands for each UTF-16 code unit: its folded form, or a space between words, as far as that
# is a matter of the one character. Filled in as text is met.
_folded = np.zeros(1 << 16, np.uint16)
_is_unsegmented = np.zeros(1 << 16, np.bool_)
_is_sign = np.zeros(1 << 16, np.bool_)
_SPACE = ord(" ")
_ODD = "\uffff"  # more than one character matters
_folded[ord("\n")] = ord("\n")
# Frequent ones that fold to several characters or none.
_SEVERAL = (("ß", "ss"), ("™", "tm"), ("\u00ad", ""), ("\u200b", ""))
_JOINING = frozenset({"Mn", "Mc", "Me", "Cs"})


def words_of_each(texts: Sequence[str]) -> list[list[str]]:
    """Return the words of each text: faster than one by one.

    The texts have no line feeds.
    """
    plain = without_typography("\n".join(filter(str.isascii, texts))).translate(_ASCII_LINES)
    of_plain = map(str.split, _spaced(plain, ASCII_SIGNS).split("\n"))
    rest = without_typography("\n".join([text for text in texts if not text.isascii()]))
    lines = iter(_fold(rest).split("\n"))
    found = []
    for text in texts:
        if text.isascii():
            found.append(next(of_plain))
        elif _ODD in (line := next(lines)):
            found.append(words(text))
        else:
            found.append(line.split())
    return found


def _fold(text: str) -> str:
    """Return tokens with white space around them."""
    for several, folded_to in _SEVERAL:
        text = text.replace(several, folded_to)
    units = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), "<u2")
    folded = _folded.take(units)
    if not folded.all():
        for unit in set(units[folded == 0].tolist()):
            _learn(unit)
        folded = _folded.take(units)
    signs = _text(distinct(folded[_is_sign.take(folded)]))
    alone = _is_unsegmented.take(folded)
    return _spaced(_text(_set_apart(folded, alone) if alone.any() else folded), signs)


def _spaced(text: str, signs: str) -> str:
    """Put a space before and after each sign."""
    for sign in signs:
        text = text.replace(sign, f" {sign} ")
    return text


def _learn(unit: int) -> None:
    """Fill in what stands for a code unit, as `split` shows it between two letters."""
    character = chr(unit)
    folded = _ODD
    if not any(map(_joins, unicodedata.normalize("NFKC", character))):
        match split(f"a{character}b"):
            case ["a", "b"]:
                folded = " "
            case [word] if len(word) == 3:
                folded = word[1]
            case ["a", own, "b"] if own in SIGNS and own < _ODD:
                folded = own
                _is_sign[ord(own)] = True
            case ["a", own, "b"] if unsegmented([own]) and own < _ODD:
                folded = own
                _is_unsegmented[ord(own)] = True
    _folded[unit] = ord(folded)


def _joins(character: str) -> bool:
    """Tell if a character may be part of another: a mark, a letter of Hangul, half of a pair."""
    return unicodedata.category(character) in _JOINING or "\u1100" <= character <= "\u11ff"


def _set_apart(units: CodeUnits, alone: NDArray[np.bool_]) -> CodeUnits:
    """Put a space before and after each one that stands alone."""
    before = alone | np.append(False, alone[:-1])
    spaced = np.full(len(units) + np.count_nonzero(before), _SPACE, np.uint16)
    spaced[np.arange(len(units)) + np.cumsum(before)] = units
    return spaced


def _text(units: CodeUnits) -> str:
    return units.astype("<u2").tobytes().decode("utf-16-le")


def hashes_of(texts: Iterable[str] | Words) -> Words:
    """Return the 32-bit hash of each of some texts, which may be hashes already."""
    if isinstance(texts, np.ndarray):
        return texts
    return np.array(list(map(mmh3.hash, texts, repeat(0), repeat(False))), np.uint32)


SIGN, CHARACTER, WITH_NUMBER, MORE = (1 << bit for bit in range(4))
"""What a word is: a sign; an unsegmented character; not free of numbers; more of the word before.

The last are numbers and signs, which say little alone.
"""
PLACED_BY = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)
"""Odd numbers by which hashes are multiplied, to tell places apart."""


class _Known(dict[str, int]):
    """Hashes of words that came before, and above them what they are: most come on many pages."""

    def __missing__(self, word: str) -> int:
        kind = 0 if word.isascii() and word.isalpha() else _kind_of(word)
        found = mmh3.hash(word, 0, False) | kind << 32
        if len(word) <= _LONGEST_KNOWN:
            self[word] = found
        return found


def _kind_of(word: str) -> int:
    sign = word in SIGNS
    kind = SIGN * sign | CHARACTER * bool(unsegmented(word))
    if not word.isalpha() and (word.isascii() or any(map(str.isdigit, word))):
        kind |= WITH_NUMBER
    return kind | MORE if sign or "0" <= word[:1] <= "9" else kind


_known = _Known()
_MOST_KNOWN, _LONGEST_KNOWN = 1 << 15, 64


class HashedLines(NamedTuple):
    """The words of some lines: the hash of each as `hashes_of` has it, what it is, and its line."""

    words: Words
    kinds: NDArray[np.uint8]
    lines: Positions

    @classmethod
    def of(cls, lines: Sequence[Sequence[str]]) -> HashedLines:
        """Return the hashes of the words of lines."""
        if len(_known) > _MOST_KNOWN:
            _known.clear()
        sizes = np.fromiter(map(len, lines), np.intp, len(lines))
        hashes = map(_known.__getitem__, chain.from_iterable(lines))
        found = np.fromiter(hashes, "<u8", int(sizes.sum()))
        kinds = (found >> np.uint64(32)).astype(np.uint8)
        return cls(found.astype(np.uint32), kinds, np.repeat(np.arange(len(lines)), sizes))

    def only(self, kept: NDArray[np.bool_]) -> HashedLines:
        """Return some of the words."""
        return HashedLines(self.words[kept], self.kinds[kept], self.lines[kept])

    def are(self, kind: int) -> NDArray[np.bool_]:
        """Tell of each word if it is of a kind."""
        found: NDArray[np.bool_] = (self.kinds & kind) != 0
        return found

    def follow(self, kind: int) -> Positions:
        """Return where words of a kind are that are followed by another of it in their line."""
        are, lines = self.are(kind), self.lines
        return np.flatnonzero(are[:-1] & are[1:] & (lines[:-1] == lines[1:]))

    def counts(self, lines: int) -> Positions:
        """Return how many words so many lines have. Two characters without spaces are one."""
        alone = np.bincount(self.lines[self.are(CHARACTER)], minlength=lines)
        plain = np.bincount(self.lines[~self.are(SIGN | CHARACTER)], minlength=lines)
        return plain + (alone + 1) // 2

    def total(self) -> int:
        """Return how many words these are, as `counts` has it."""
        return int(self._replace(lines=np.zeros_like(self.lines)).counts(1)[0])

    def pairs(self) -> Words:
        """Return a hash of each two words that follow in a line; of a word alone in one, its own.

        They are made of the hashes of the words.
        """
        one, other = (np.uint32(by) for by in PLACED_BY[:2])
        follow = self.lines[1:] == self.lines[:-1]
        pairs = (self.words[:-1] * one) ^ (self.words[1:] * other)
        alone = np.ones(len(self.words), np.bool_)
        alone[:-1] &= ~follow
        alone[1:] &= ~follow
        return np.concatenate((pairs[follow], self.words[alone]))

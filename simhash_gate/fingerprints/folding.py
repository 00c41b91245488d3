"""The words of many texts at once. A table folds characters, and each word is hashed once.

That takes less than half the time of single texts. It needs numpy, which the module `words` must
not load: options have words in them, and are read before page-reading processes start.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from itertools import chain, repeat
from typing import Any, NamedTuple

import mmh3
import numpy as np
from numpy.typing import NDArray

from simhash_gate.fingerprints import words
from simhash_gate.fingerprints.arrays import Positions, distinct

Words = NDArray[Any]  # of numpy.uint32

_ASCII_LINES = words.ASCII | {ord("\n"): "\n"}
# Maps each UTF-16 code unit to its folded form, or to a space if it separates words. Entries are
# filled in when a text has the unit.
_folded = np.zeros(1 << 16, np.uint16)
_is_unsegmented = np.zeros(1 << 16, np.bool_)
_is_sign = np.zeros(1 << 16, np.bool_)
_SPACE = ord(" ")
_ODD = "\uffff"  # marks units whose form depends on their neighbours
_folded[ord("\n")] = ord("\n")
# Frequent characters that fold to several characters or none.
_SEVERAL = (("ß", "ss"), ("™", "tm"), ("\u00ad", ""), ("\u200b", ""))
_JOINING = frozenset({"Mn", "Mc", "Me", "Cs"})


def words_of_each(texts: Sequence[str]) -> list[list[str]]:
    """Return the words of each text, faster than `words` one by one. Texts have no line feeds."""
    plain = words.without_typography("\n".join(filter(str.isascii, texts))).translate(_ASCII_LINES)
    of_plain = map(str.split, _spaced(plain, words.ASCII_SIGNS).split("\n"))
    rest = words.without_typography("\n".join([text for text in texts if not text.isascii()]))
    lines = iter(_fold(rest).split("\n"))
    each_words = []
    for text in texts:
        if text.isascii():
            each_words.append(next(of_plain))
        elif _ODD in (line := next(lines)):
            each_words.append(words.words(text))
        else:
            each_words.append(line.split())
    return each_words


def _fold(text: str) -> str:
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
    if alone.any():
        before = alone | np.append(False, alone[:-1])
        spaced = np.full(len(folded) + np.count_nonzero(before), _SPACE, np.uint16)
        spaced[np.arange(len(folded)) + np.cumsum(before)] = folded
        folded = spaced
    return _spaced(_text(folded), signs)


def _spaced(text: str, signs: str) -> str:
    for sign in signs:
        text = text.replace(sign, f" {sign} ")
    return text


def _learn(unit: int) -> None:
    """Fill in the entry of a code unit by the result of `split` for it between two letters."""
    character = chr(unit)
    folded = _ODD
    # A mark, a letter of Hangul or a surrogate may join its neighbour.
    if not any(
        unicodedata.category(part) in _JOINING or "\u1100" <= part <= "\u11ff"
        for part in unicodedata.normalize("NFKC", character)
    ):
        match words.split(f"a{character}b"):
            case ["a", "b"]:
                folded = " "
            case [word] if len(word) == 3:
                folded = word[1]
            case ["a", sign, "b"] if sign in words.SIGNS and sign < _ODD:
                folded = sign
                _is_sign[ord(sign)] = True
            case ["a", sign, "b"] if words.unsegmented([sign]) and sign < _ODD:
                folded = sign
                _is_unsegmented[ord(sign)] = True
    _folded[unit] = ord(folded)


def _text(units: NDArray[np.uint16]) -> str:
    return units.astype("<u2").tobytes().decode("utf-16-le")


def hashes_of(texts: Iterable[str] | Words) -> Words:
    """Return the 32-bit hash of each text. Hashes are returned as they are."""
    if isinstance(texts, np.ndarray):
        return texts
    return np.array(list(map(mmh3.hash, texts, repeat(0), repeat(False))), np.uint32)


SIGN, CHARACTER, WITH_NUMBER, MORE = (1 << bit for bit in range(4))
"""Kinds of tokens, as bits: a sign; an unsegmented character; a word with a number in it; a number
or a sign, which belongs to the word before it."""


class _Known(dict[str, int]):
    """A cache of words: the low 32 bits of a value are the hash, those above are the kinds."""

    def __missing__(self, word: str) -> int:
        sign, kind = word in words.SIGNS, 0
        if not (word.isascii() and word.isalpha()):
            kind = SIGN * sign | CHARACTER * bool(words.unsegmented(word))
            kind |= MORE * (sign or "0" <= word[:1] <= "9")
            number = word.isascii() or any(map(str.isdigit, word))
            kind |= WITH_NUMBER * (number and not word.isalpha())
        hash_and_kind = mmh3.hash(word, 0, False) | kind << 32
        if len(word) <= _LONGEST_KNOWN:
            self[word] = hash_and_kind
        return hash_and_kind


_known = _Known()
_MOST_KNOWN, _LONGEST_KNOWN = 1 << 15, 64


class HashedLines(NamedTuple):
    """The words of some lines: for each its hash (`hashes_of`), its kinds and its line's number."""

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
        hashes_and_kinds = np.fromiter(hashes, "<u8", int(sizes.sum()))
        kinds = (hashes_and_kinds >> np.uint64(32)).astype(np.uint8)
        numbers = np.repeat(np.arange(len(lines)), sizes)
        return cls(hashes_and_kinds.astype(np.uint32), kinds, numbers)

    def only(self, kept: NDArray[np.bool_]) -> HashedLines:
        """Return the words whose entry in `kept` is True."""
        return HashedLines(self.words[kept], self.kinds[kept], self.lines[kept])

    def are(self, kind: int) -> NDArray[np.bool_]:
        """Tell for each word whether it is of a kind."""
        return (self.kinds & kind).astype(np.bool_)

    def follow(self, kind: int) -> Positions:
        """Return the positions of words that are, like the next word of their line, of a kind."""
        are, lines = self.are(kind), self.lines
        return np.flatnonzero(are[:-1] & are[1:] & (lines[:-1] == lines[1:]))

    def counts(self, lines: int) -> Positions:
        """Return the number of words of each line. Two unsegmented characters count as one word."""
        alone = np.bincount(self.lines[self.are(CHARACTER)], minlength=lines)
        plain = np.bincount(self.lines[~self.are(SIGN | CHARACTER)], minlength=lines)
        return plain + (alone + 1) // 2

    def total(self) -> int:
        """Return the number of all words, as `counts` counts them."""
        return int(self._replace(lines=np.zeros_like(self.lines)).counts(1)[0])

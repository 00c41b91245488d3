"""The words of many texts at once: characters are folded by a table.

That takes less than half as long as one by one. It needs numpy, which module `words` must not load:
options name words, and are read before page-reading processes start.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

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
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from numpy.typing import NDArray

    CodeUnits = NDArray[np.uint16]

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


def words_of_each(texts: Sequence[str]) -> tuple[list[list[str]], AbstractSet[str]]:
    """Return the words of each text, and which are `unsegmented`: faster than one by one.

    The texts have no line feeds.
    """
    plain = without_typography("\n".join(filter(str.isascii, texts))).translate(_ASCII_LINES)
    of_plain = map(str.split, _spaced(plain, ASCII_SIGNS).split("\n"))
    rest = without_typography("\n".join([text for text in texts if not text.isascii()]))
    folded, characters = _fold(rest)
    lines = iter(folded.split("\n"))
    found = []
    for text in texts:
        if text.isascii():
            found.append(next(of_plain))
        elif _ODD in (line := next(lines)):
            found.append(words(text))
            characters.update(unsegmented(found[-1]))
        else:
            found.append(line.split())
    return found, characters


def _fold(text: str) -> tuple[str, set[str]]:
    """Return tokens with white space around them, and those that are `unsegmented`."""
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
    if not alone.any():
        return _spaced(_text(folded), signs), set()
    characters = set(_text(distinct(folded[alone])))
    return _spaced(_text(_set_apart(folded, alone)), signs), characters


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

"""Blocks of text -> words, normalised.

Words are Unicode NFKC, case-folded; punctuation and white space tell nothing. In scripts that have
no spaces between words (Chinese, Japanese, Thai, Lao, Burmese, Khmer), each character is one.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

import numpy as np

from simhash_gate.fingerprints.arrays import distinct

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from collections.abc import Set as AbstractSet

    from numpy.typing import NDArray

    CodeUnits = NDArray[np.uint16]

_UNSEGMENTED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003134f"
)
# Vowel signs and points are part of their word, and no \w for `re`.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u0900-\u0963\u0966-\u0dff\u0f18-\u0f39"
    "\u0f3e-\u0f84\u0f86-\u0fbc"
)
_WORD = re.compile(rf"[{_UNSEGMENTED}]|(?:(?![{_UNSEGMENTED}_])[\w{_MARKS}])+")
_FAST_WORD = re.compile(r"[^\W_]+")
_CHAR = re.compile(rf"[{_UNSEGMENTED}]")
_JOINING = frozenset({"Mn", "Mc", "Me", "Cs"})
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
_FORMAT = re.compile(f"[{_INVISIBLE}]")
_UNUSUAL = re.compile(f"[{_UNSEGMENTED}{_MARKS}{_INVISIBLE}]")
# ASCII needs no pattern: all but letters and digits are spaces.
_ASCII = {code: chr(code).lower() if chr(code).isalnum() else " " for code in range(128)}
_ASCII_LINES = _ASCII | {ord("\n"): "\n"}


def words(text: str) -> list[str]:
    """Return the normalised words of a text; in scripts without word spaces, its characters."""
    if text.isascii():
        return text.translate(_ASCII).split()
    text = unicodedata.normalize("NFKC", text)
    if _UNUSUAL.search(text):
        text = _FORMAT.sub("", text)
        if _UNUSUAL.search(text):
            return _WORD.findall(text.casefold())
    return _FAST_WORD.findall(text.casefold())


def words_of_each(texts: Sequence[str]) -> tuple[list[list[str]], AbstractSet[str]]:
    """Return the words of each text, and which are `unsegmented`: faster than one by one.

    The texts have no line feeds.
    """
    plain = "\n".join(filter(str.isascii, texts)).translate(_ASCII_LINES)
    of_plain = map(str.split, plain.split("\n"))
    folded, characters = _fold("\n".join([text for text in texts if not text.isascii()]))
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


def unsegmented(tokens: Collection[str]) -> AbstractSet[str]:
    """Return those words that are a character of a script without word spaces."""
    text = "".join(tokens)
    return frozenset(() if text.isascii() else _CHAR.findall(text))


def count_words(tokens: Collection[str], characters: AbstractSet[str] | None = None) -> int:
    """Count words as a reader would: two characters of a script without word spaces make one.

    `characters` are those of them that are `unsegmented`, if known.
    """
    if characters is None:
        characters = unsegmented(tokens)
    alone = sum(map(characters.__contains__, tokens)) if characters else 0
    return len(tokens) - alone + (alone + 1) // 2


# What stands for each UTF-16 code unit: its folded form, or a space between words, as far as that
# is a matter of the one character. Filled in as text is met.
_folded = np.zeros(1 << 16, np.uint16)
_is_unsegmented = np.zeros(1 << 16, np.bool_)
_SPACE = ord(" ")
_ODD = "\uffff"  # more than one character matters
_folded[ord("\n")] = ord("\n")
# Frequent ones that fold to several characters or none.
_SEVERAL = (("ß", "ss"), ("™", "tm"), ("\u00ad", ""), ("\u200b", ""))


def _fold(text: str) -> tuple[str, set[str]]:
    """Return words with white space around them, and those that are `unsegmented`."""
    for several, folded_to in _SEVERAL:
        text = text.replace(several, folded_to)
    units = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), "<u2")
    folded = _folded.take(units)
    if not folded.all():
        for unit in set(units[folded == 0].tolist()):
            _learn(unit)
        folded = _folded.take(units)
    alone = _is_unsegmented.take(folded)
    if not alone.any():
        return _text(folded), set()
    return _text(_set_apart(folded, alone)), set(_text(distinct(folded[alone])))


def _learn(unit: int) -> None:
    """Fill in what stands for a code unit, as `words` shows it between two letters."""
    character = chr(unit)
    folded = _ODD
    if not any(map(_joins, unicodedata.normalize("NFKC", character))):
        match words(f"a{character}b"):
            case ["a", "b"]:
                folded = " "
            case [word] if len(word) == 3:
                folded = word[1]
            case ["a", own, "b"] if _CHAR.fullmatch(own) and own < _ODD:
                folded = own
                _is_unsegmented[ord(own)] = True
    _folded[unit] = ord(folded)


def _joins(character: str) -> bool:
    """Tell if a character may be part of another: a mark, a letter of Hangul, half of a pair."""
    return unicodedata.category(character) in _JOINING or "\u1100" <= character <= "\u11ff"


def _set_apart(units: CodeUnits, alone: NDArray[np.bool_]) -> CodeUnits:
    """Put spaces before and after some."""
    after_one = np.append(False, alone[:-1])
    before = alone | after_one
    spaced = np.full(len(units) + np.count_nonzero(before), _SPACE, np.uint16)
    spaced[np.arange(len(units)) + np.cumsum(before)] = units
    return spaced


def _text(units: CodeUnits) -> str:
    return units.astype("<u2").tobytes().decode("utf-16-le")

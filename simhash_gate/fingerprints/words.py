"""Blocks of text -> words, normalised.

Words are Unicode NFKC, case-folded; punctuation and white space tell nothing. In scripts that have
no spaces between words (Chinese, Japanese, Thai, Lao, Burmese, Khmer), each character is one.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection
    from collections.abc import Set as AbstractSet

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
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
_FORMAT = re.compile(f"[{_INVISIBLE}]")
_UNUSUAL = re.compile(f"[{_UNSEGMENTED}{_MARKS}{_INVISIBLE}]")
# ASCII needs no pattern: all but letters and digits are spaces.
ASCII = {code: chr(code).lower() if chr(code).isalnum() else " " for code in range(128)}


def words(text: str) -> list[str]:
    """Return the normalised words of a text; in scripts without word spaces, its characters."""
    if text.isascii():
        return text.translate(ASCII).split()
    text = unicodedata.normalize("NFKC", text)
    if _UNUSUAL.search(text):
        text = _FORMAT.sub("", text)
        if _UNUSUAL.search(text):
            return _WORD.findall(text.casefold())
    return _FAST_WORD.findall(text.casefold())


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

"""Blocks of text -> weighted features: what is hashed of a page, and what a reader would not miss.

Words are Unicode NFKC, case-folded; punctuation and white space tell nothing. A shingle is three
words in a row, or five characters where the script has no spaces between words (Chinese, Japanese,
Thai, Lao, Burmese, Khmer). Each counts once, however often it comes: weighed by count, one repeated
phrase would outvote a changed paragraph.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

Shingle = Literal["auto", "word", "char"]

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


def words_of_each(texts: Sequence[str]) -> list[list[str]]:
    """Return the words of texts that have no line feeds, faster than of one after the other."""
    plain = "\n".join(filter(str.isascii, texts))
    lines = iter(plain.translate(_ASCII_LINES).split("\n"))
    return [next(lines).split() if text.isascii() else words(text) for text in texts]


def _unsegmented(tokens: Collection[str]) -> list[str]:
    """Return those tokens that are a character of a script without word spaces."""
    text = "".join(tokens)
    if text.isascii() or not _CHAR.search(text):
        return []
    return _CHAR.findall("".join([token for token in tokens if len(token) == 1]))


def count_words(tokens: Collection[str]) -> int:
    """Count words as a reader would: two characters of a script without word spaces make one."""
    characters = len(_unsegmented(tokens))
    return len(tokens) - characters + (characters + 1) // 2


def shingles(
    tokens: Sequence[str], kind: Shingle = "auto", size: int = 3, char_size: int = 5
) -> list[str]:
    """Return the shingles of a page's words, in order; a text shorter than one is one by itself.

    `auto` takes `size` words, or `char_size` characters from where a character of a script without
    word spaces stands; `word` and `char` force one of the two.
    """
    return list(each_shingle(tokens, kind, size, char_size))


def each_shingle(
    tokens: Sequence[str], kind: Shingle = "auto", size: int = 3, char_size: int = 5
) -> Iterable[str]:
    """Return what `shingles` does, to be taken once: a long page's need not all be held."""
    if not tokens:
        return ()
    if kind == "char":
        text = " ".join(tokens)
        return (text[i : i + char_size] for i in range(max(1, len(text) - char_size + 1)))
    characters = set() if kind == "word" else set(_unsegmented(tokens))
    if not characters:
        if len(tokens) <= size:
            return (" ".join(tokens),)
        return map(" ".join, zip(*(tokens[i:] for i in range(size)), strict=False))
    sizes = [char_size if token in characters else size for token in tokens]
    found = [" ".join(tokens[i : i + n]) for i, n in enumerate(sizes) if i + n <= len(tokens)]
    return found or (" ".join(tokens),)


def features(
    tokens: Sequence[str],
    *,
    kind: Shingle = "auto",
    size: int = 3,
    char_size: int = 5,
    idf: Mapping[str, float] | None = None,
    stop_words: Collection[str] = (),
) -> dict[str, float]:
    """Return the weighted features of a page's words, as `words` gives them: shingle -> weight."""
    tokens = without(stop_words, tokens)
    found = dict.fromkeys(each_shingle(tokens, kind, size, char_size), 1.0)
    return weigh(found, idf) if idf else found


def without(stop_words: Collection[str], tokens: Sequence[str]) -> Sequence[str]:
    """Leave out the words that tell nothing, unless there are no others."""
    return ([t for t in tokens if t not in stop_words] or tokens) if stop_words else tokens


def weigh(found: Mapping[str, float], idf: Mapping[str, float]) -> dict[str, float]:
    """Weigh shingles by a table: by its entry for the whole, else by the mean over its words."""
    weighed = {}
    for shingle, weight in found.items():
        factor = idf.get(shingle)
        if factor is None:
            parts = shingle.split(" ")
            factor = sum(idf.get(part, 1.0) for part in parts) / len(parts)
        weighed[shingle] = weight * factor
    return weighed

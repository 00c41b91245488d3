"""Blocks of text -> words and signs, normalised.

Words are Unicode NFKC, case-folded. In scripts that have no spaces between words (Chinese,
Japanese, Thai, Lao, Burmese, Khmer), each character is a word. A sign is a symbol with a meaning: a
currency, an operator, a degree, a star, a check mark. Each sign is a token of its own, with or
without spaces around it. Punctuation, white space and typographic symbols are left out.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable
from collections.abc import Set as AbstractSet
from itertools import chain, groupby

UNSEGMENTED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003134f"
)
"""The characters of scripts without spaces between words, for a set in a pattern."""
# Vowel signs and points are part of their word, though `re` does not count them as \w.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u0900-\u0963\u0966-\u0dff\u0f18-\u0f39"
    "\u0f3e-\u0f84\u0f86-\u0fbc"
)
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
_FORMAT = re.compile(f"[{_INVISIBLE}]")
# No letter has so many marks. Sorting them for NFKC takes time by the square of their number.
_MARKED = re.compile(r"[^\w\s]{30}")
_UNUSUAL = re.compile(f"[{UNSEGMENTED}{_MARKS}{_INVISIBLE}]")

# Symbols that never tell pages apart: separators, bullets, box drawing, marks of rights, arrows.
_TYPOGRAPHY = re.compile(
    "[|~\u00a6\u00a9\u00ae\u2044\u2190-\u21ff\u2215\u2217-\u2219\u2223\u2225\u2236\u223c\u22c5"
    "\u2500-\u257f\u2794\u2798-\u27be\u27f0-\u27ff\u2900-\u297f\u2b00-\u2b4f\u2b5a-\u2bff"
    "\U0001f517\U0001f800-\U0001f8ff]"
)
# Symbols that are typography in most places, and signs in some.
_UP_AND_DOWN = "\u2191\u2193\u2b06\u2b07\u25b2\u25b3\u25bc\u25bd"
_SHAPES = f"\u2580-\u25ff\u2b1b\u2b1c{_UP_AND_DOWN}"
_MONEY = "$\u00a2-\u00a5\u20a0-\u20cf\uff04\uffe0\uffe1\uffe5"
# Each of these begins with one character, which `re` finds fastest.
_NO_SIGN = [
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        # No minus: within a word, a range or a line, or before no number.
        rf"-(?:(?<=[\w)\]-]-)|(?!(?:[.,]|[{_MONEY}] ?)?\d))",
        # The link beside a headline, not `C#` and not `#1`.
        r"#(?<!\b\w#)(?!\d)",
        # A bullet, emphasis, a remark, not `A*`.
        r"\*(?<!(?<!\*)\b\w\*)",
        # An arrow to the next or the last page, at the edge of a line.
        r"<(?:(?:(?<=^<)|(?<=^<<))(?! ?\d)|(?=[<> ]{0,3}$))",
        r">(?:(?:(?<=^>)|(?<=^>>))(?! ?\d)|(?=[<> ]{0,3}$))",
    )
]
# A bullet: not one of several, nor a line or a cell of its own, nor a change by a number.
_BULLET = re.compile(
    rf"[{_SHAPES}](?<![{_SHAPES}].)(?![{_SHAPES}])(?!(?<=^.)$)(?!(?<=[{_UP_AND_DOWN}]) ?\d)",
    re.MULTILINE,
)
_WRITTEN = [(dash, "-") for dash in "\u2010\u2011\u2012\u2013\u2212\u207b\ufe63\uff0d"]
_WRITTEN += [("\uff03", "#"), ("\uff0a", "*"), ("\uff1c", "<"), ("\uff1e", ">")]


def _any_of(characters: Iterable[str]) -> str:
    codes = enumerate(sorted(map(ord, characters)))
    runs = ([code for _, code in run] for _, run in groupby(codes, lambda pair: pair[1] - pair[0]))
    return "".join(f"\\U{run[0]:08x}-\\U{run[-1]:08x}" for run in runs)


_SYMBOLS = "".join(map(chr, chain(range(0x20, 0x3100), range(0x1F000, 0x1FB00))))
_NAMED = frozenset(re.findall(f"[#%&*@\u2030\u2031\\-{_SHAPES}]", _SYMBOLS))
SIGNS = _NAMED.union(
    symbol
    for symbol in re.findall(r"[^\w\s]", _TYPOGRAPHY.sub("", _UNUSUAL.sub("", _SYMBOLS)))
    if unicodedata.category(symbol) in {"Sc", "Sm", "So"}
)
"""The tokens that are not words."""

_SIGN = _any_of(SIGNS)
_TOKEN = re.compile(rf"[{UNSEGMENTED}]|(?:(?![{UNSEGMENTED}_])[\w{_MARKS}])+|[{_SIGN}]")
_FAST_TOKEN = re.compile(rf"[^\W_]+|[{_SIGN}]")
_CHAR = re.compile(rf"[{UNSEGMENTED}]")
ASCII_SIGNS = "".join(sorted(filter(str.isascii, SIGNS)))
_ASCII_SIGN = re.compile(f"[{re.escape(ASCII_SIGNS)}]")
# ASCII needs no pattern: all characters but letters, digits and signs become spaces.
ASCII = {
    code: chr(code).lower() if chr(code).isalnum() or chr(code) in SIGNS else " "
    for code in range(128)
}


def words(text: str) -> list[str]:
    """Return the normalised words and signs of a text, in order.

    In scripts without word spaces, each character is a word.
    """
    if text.isascii() and not _ASCII_SIGN.search(text):
        return text.translate(ASCII).split()
    return split(without_typography(text))


def words_and_signs(text: str) -> tuple[frozenset[str], list[str]]:
    """Return the words of a name as a set, and its signs in order. Templates reorder words."""
    tokens = words(text)
    return frozenset(tokens) - SIGNS, list(filter(SIGNS.__contains__, tokens))


def without_typography(text: str) -> str:
    """Replace symbols that are not signs at their place by spaces. Lines end at `\\n`."""
    if not text.isascii():
        for written, sign in _WRITTEN:
            text = text.replace(written, sign)
        text = _BULLET.sub(" ", text)
    for pattern in _NO_SIGN:
        text = pattern.sub(" ", text)
    return text


def split(text: str) -> list[str]:
    """Return the words of a text, and all its symbols that can be signs."""
    text = unicodedata.normalize("NFKC", _MARKED.sub(r"\g<0> ", text))
    if _UNUSUAL.search(text):
        text = _FORMAT.sub("", text)
        if _UNUSUAL.search(text):
            return _TOKEN.findall(text.casefold())
    return _FAST_TOKEN.findall(text.casefold())


def unsegmented(tokens: Collection[str]) -> AbstractSet[str]:
    """Return those tokens that are characters of scripts without word spaces."""
    text = "".join(tokens)
    return frozenset(() if text.isascii() else _CHAR.findall(text))

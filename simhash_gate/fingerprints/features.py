"""Words -> weighted features: what is hashed of a page, and how much two pages share of it.

A shingle is three words in a row, or five characters where the script has no spaces between words.
Each counts once, however often it comes: weighed by count, one repeated phrase would outvote a
changed paragraph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from simhash_gate.fingerprints.words import unsegmented

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from simhash_gate.fingerprints.arrays import Positions

Shingle = Literal["auto", "word", "char"]


def shingles(
    tokens: Sequence[str], kind: Shingle = "auto", size: int = 3, char_size: int = 5
) -> list[str]:
    """Return the shingles of a page's words, in order; a text shorter than one is one by itself.

    `auto` takes `size` words, or `char_size` characters from where a character of a script without
    word spaces stands; `word` and `char` force one of the two.
    """
    found = each_shingle(tokens, kind, size, char_size)
    return [s if isinstance(s, str) else s.decode("utf-8", "surrogatepass") for s in found]


def each_shingle(
    tokens: Sequence[str],
    kind: Shingle = "auto",
    size: int = 3,
    char_size: int = 5,
    characters: AbstractSet[str] | None = None,
) -> Iterable[str | bytes]:
    """Return what `shingles` does, to be hashed: once, and in UTF-8 where that is faster.

    `characters` are those of the words that are `unsegmented`, if known.
    """
    if not tokens:
        return ()
    if kind == "char":
        text = " ".join(tokens)
        return (text[i : i + char_size] for i in range(max(1, len(text) - char_size + 1)))
    if kind == "auto":
        characters = unsegmented(tokens) if characters is None else characters
        if characters:
            is_character = np.fromiter(map(characters.__contains__, tokens), np.bool_, len(tokens))
            return _runs(tokens, np.where(is_character, char_size, size))
    if len(tokens) <= size:
        return (" ".join(tokens),)
    return map(" ".join, zip(*(tokens[i:] for i in range(size)), strict=False))


def _runs(tokens: Sequence[str], sizes: Positions) -> list[bytes]:
    """Return as many words in a row from each one on, where there are so many, else all of them."""
    text = " ".join(tokens).encode("utf-8", "surrogatepass")
    spaces = np.flatnonzero(np.frombuffer(text, np.uint8) == ord(" "))
    starts, ends = np.append(0, spaces + 1), np.append(spaces, len(text))
    lasts = np.arange(len(tokens)) + sizes - 1
    whole = lasts < len(tokens)
    runs = zip(starts[whole].tolist(), ends[lasts[whole]].tolist(), strict=True)
    return [text[start:end] for start, end in runs] or [text]


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
    found = dict.fromkeys(shingles(tokens, kind, size, char_size), 1.0)
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

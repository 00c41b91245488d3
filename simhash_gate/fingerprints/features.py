"""Words -> shingles: what is hashed of a page, and how much two pages share of it.

A shingle is three words in a row, or five characters where the script has no spaces between words.
Each counts once, however often it comes: weighed by count, one repeated phrase would outvote a
changed paragraph.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

import numpy as np

from simhash_gate.fingerprints.words import unsegmented

if TYPE_CHECKING:
    from simhash_gate.fingerprints.arrays import Positions

_WORDS, _CHARACTERS = 3, 5


def each_shingle(
    tokens: Sequence[str], characters: AbstractSet[str] | None = None
) -> Iterable[str | bytes]:
    """Return the shingles of a page's words, in order; a text shorter than one is one by itself.

    A shingle has five characters from where one of a script without word spaces stands. They are to
    be hashed: they can be read once, and are in UTF-8 where that is faster. `characters` are those
    of the words that are `unsegmented`, if known.
    """
    if not tokens:
        return ()
    characters = unsegmented(tokens) if characters is None else characters
    if characters:
        is_character = np.fromiter(map(characters.__contains__, tokens), np.bool_, len(tokens))
        return _runs(tokens, np.where(is_character, _CHARACTERS, _WORDS))
    if len(tokens) <= _WORDS:
        return (" ".join(tokens),)
    return map(" ".join, zip(*(tokens[i:] for i in range(_WORDS)), strict=False))


def _runs(tokens: Sequence[str], sizes: Positions) -> list[bytes]:
    """Return as many words in a row from each one on, where there are so many, else all of them."""
    text = " ".join(tokens).encode("utf-8", "surrogatepass")
    spaces = np.flatnonzero(np.frombuffer(text, np.uint8) == ord(" "))
    starts, ends = np.append(0, spaces + 1), np.append(spaces, len(text))
    lasts = np.arange(len(tokens)) + sizes - 1
    whole = lasts < len(tokens)
    runs = zip(starts[whole].tolist(), ends[lasts[whole]].tolist(), strict=True)
    return [text[start:end] for start, end in runs] or [text]

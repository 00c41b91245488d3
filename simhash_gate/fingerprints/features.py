"""Words -> shingles, the features of a page.

A shingle is three words in a row, or five characters in scripts without spaces between words. Each
shingle counts once, however often it comes. Else a repeated phrase would outvote a paragraph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simhash_gate.fingerprints.folding import CHARACTER, HashedLines

if TYPE_CHECKING:
    from simhash_gate.fingerprints.arrays import Fingerprints

_WORDS, _CHARACTERS = 3, 5
# The hash of a word is multiplied by one of these odd numbers, for its place in the shingle.
_PLACES = np.array(
    [
        0x9E3779B97F4A7C15,
        0xC2B2AE3D27D4EB4F,
        0x165667B19E3779F9,
        0xD6E8FEB86659FD93,
        0xA0761D6478BD642F,
    ],
    np.uint64,
)


def shingle_hashes(words: HashedLines, salt: int = 0) -> Fingerprints:
    """Return a 64-bit hash of each shingle of a page's words, in order.

    The hashes of the words are combined. A shingle that begins with a character of a script without
    word spaces has five tokens, others have three. A text that is too short for a shingle is one
    itself. Another `salt` (64 bits) changes all hashes. The bits are mixed by the last step of
    MurmurHash3 (`fmix64`; Appleby 2011).
    """
    count = len(words.words)
    padded = np.zeros(count + _CHARACTERS, np.uint64)
    padded[:count] = words.words
    placed = [padded[at : at + count] * by for at, by in enumerate(_PLACES)]
    hashes = sum(placed[:_WORDS], np.full(count, salt, np.uint64))
    characters = words.are(CHARACTER)
    if characters.any():
        hashes += sum(placed[_WORDS:]) * characters
    sizes = np.where(characters, _CHARACTERS, _WORDS)
    whole = np.arange(count) + sizes <= count
    return _mixed(hashes[whole] if whole.any() else hashes[:1])


def _mixed(hashes: Fingerprints) -> Fingerprints:
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        hashes = (hashes ^ (hashes >> np.uint64(33))) * np.uint64(factor)
    return hashes ^ (hashes >> np.uint64(33))

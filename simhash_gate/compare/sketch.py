"""A sketch is kept for each page, to tell what differs between two pages that look alike.

A fingerprint tells how much of two texts differs, but not what: a changed clock and a changed price
move it alike. A sketch has the names and the offer of a page. It also has short hashes of its
words, and of its lines.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import mmh3
import numpy as np
from numpy.typing import NDArray

from simhash_gate.compare.names import own_words, own_words_of
from simhash_gate.fingerprints.arrays import distinct, is_in
from simhash_gate.fingerprints.folding import Words, hashes_of
from simhash_gate.fingerprints.lines import NO_LINES, Lines

Offered = tuple[tuple[str, str], ...]

KEY_BYTES = 8
"""The length of the key at the beginning of a sketch."""
_HEAD = struct.Struct(f">{KEY_BYTES}s2I")  # key, bytes of two parts
_SET = struct.Struct(">IB")
_HASH_BITS = 32
_GAP = np.dtype(np.uint8)
_SPARE = 7  # bits that keep most gaps in a byte


class WordSet(NamedTuple):
    """A set of hashes of `bits` bits, ascending. `own` marks those of the page's own article.

    A larger set has longer hashes: a missing word seems present once in 128 to 256 times.
    """

    bits: int
    values: Words
    own: NDArray[np.bool_]

    @classmethod
    def of(cls, own: Iterable[str] | Words, others: Iterable[str] | Words) -> WordSet:
        """Return the set of the words of an article (`own`) and of the rest of its page."""
        mine = hashes_of(own)
        hashes = distinct(mine, hashes_of(others))
        bits = min(_HASH_BITS, len(hashes).bit_length() + _SPARE)
        shift = np.uint32(_HASH_BITS - bits)
        values = distinct(hashes >> shift)
        return cls(bits, values, is_in(values, distinct(mine >> shift)))

    def have(self, text: str, *, own: bool = False) -> bool:
        """Tell whether the page, or its own article, has a word."""
        values = self.values[self.own] if own else self.values
        number = hashes_of([text]) >> np.uint32(_HASH_BITS - self.bits)
        return bool(is_in(number, values)[0])

    def encode(self) -> bytes:
        """Return the set as bytes: the gap to the hash before, and one bit, for each hash."""
        most = np.iinfo(_GAP).max
        gaps = self.values.copy()
        gaps[1:] -= self.values[:-1]
        longer = gaps // most
        packed = np.full(len(gaps) + int(longer.sum()), most, _GAP)
        packed[np.arange(len(gaps)) + np.cumsum(longer, dtype=np.intp)] = gaps % most
        return _SET.pack(len(gaps), self.bits) + np.packbits(self.own).tobytes() + packed.tobytes()

    @classmethod
    def decode(cls, data: bytes) -> WordSet:
        """Return the set that `encode` wrote. Raises ValueError or struct.error for other bytes."""
        count, bits = _SET.unpack_from(data)
        flags = np.frombuffer(data, np.uint8, (count + 7) // 8, _SET.size)
        gaps = np.frombuffer(data, _GAP, offset=_SET.size + len(flags))
        values = np.cumsum(gaps, dtype=np.uint32)[gaps < np.iinfo(_GAP).max]
        if len(values) != count or bits > _HASH_BITS:
            raise ValueError("another number of hashes, or of their bits")
        return cls(bits, values, np.unpackbits(flags)[:count].astype(np.bool_))


_NONE = WordSet.of((), ())


@dataclass(frozen=True, slots=True, eq=False)
class Sketch:
    """The content of one page, for comparing.

    `headline` is its own, and `heading` what its article begins with, "" if it has none; `names`
    are what its head and other headlines call it, without the name of the site. `offered` are
    fields and their values, as `find_offer` finds them; `compared` those that the user names, and
    the files that a page of few words leads to. `words` are those of the whole page, to find names
    in, and `lines` all that it shows. `single` tells that it is one thing, and no list of others.
    """

    headline: str = ""
    names: tuple[str, ...] = ()
    offered: Offered = ()
    compared: Offered = ()
    words: WordSet = _NONE
    lines: Lines = NO_LINES
    heading: str = ""
    single: bool = False

    @property
    def all_names(self) -> tuple[str, ...]:
        """What the page calls itself in any place, its headline first."""
        return tuple(dict.fromkeys(filter(None, (self.headline, *self.names, self.heading))))

    @property
    def name_key(self) -> int:
        """32 bits that pages of the same name share, never 0.

        On one site of 86 with 10,000 names, two names share them.
        """
        return hash_of(sorted(own_words(self.headline) or own_words_of(self.all_names))) or 1

    @property
    def key(self) -> bytes:
        """Eight bytes: four that pages of the same name share, and four for what they offer."""
        claims = hash_of([repr((self.offered, self.compared))])
        return b"".join(part.to_bytes(4, "big") for part in (self.name_key, claims))

    def encode(self) -> bytes:
        """Return the sketch as bytes, which begin with its key."""
        names = self.headline, self.heading, *self.names
        values = names, self.offered, self.compared, self.single
        text = json.dumps(values, ensure_ascii=False).encode("utf-8", "replace")
        parts = self.words.encode(), self.lines.encode()
        return b"".join((_HEAD.pack(self.key, *map(len, parts)), *parts, text))


@lru_cache(maxsize=1024)
def decode(data: bytes) -> Sketch:
    """Return the sketch that `encode` wrote. Raises ValueError for other bytes."""
    try:
        _, words, lines = _HEAD.unpack_from(data)
        rest = data[_HEAD.size :]
        claims = json.loads(rest[words + lines :])
        (headline, heading, *names), offered, compared, single = claims
        parts = WordSet.decode(rest[:words]), Lines.decode(rest[words:][:lines])
        values = headline, tuple(names), _frozen(offered), _frozen(compared)
        return Sketch(*values, *parts, heading, single)
    except (struct.error, TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"no sketch: {error}") from None


def hash_of(texts: Iterable[str]) -> int:
    """Return one hash of some texts, 32 bits, never 0; 0 for none."""
    joined = " ".join(texts).encode("utf-8", "surrogatepass")  # of a str with these, mmh3 crashes
    return (mmh3.hash(joined, signed=False) or 1) if joined else 0


def _frozen(fields: Sequence[Sequence[str]]) -> Offered:
    return tuple((name, value) for name, value in fields)


NO_SKETCH = Sketch().encode()
"""The sketch of a page without any text."""

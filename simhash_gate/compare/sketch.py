"""A sketch is kept for each page, to tell what differs between two pages that look alike.

A fingerprint tells how much of two texts differs, but not what: a changed clock and a changed price
move it alike. A sketch has the names and the offer of a page. It also has short hashes of its
words, its lines and the pairs of words in its article: a missing one shows.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

import mmh3
import numpy as np
from numpy.typing import NDArray

from simhash_gate.compare.names import own_words, own_words_of
from simhash_gate.fingerprints.arrays import distinct, is_in
from simhash_gate.fingerprints.folding import PLACED_BY, Words, hashes_of

Offered = tuple[tuple[str, str], ...]

KEY_BYTES = 8
"""The length of the key at the beginning of a sketch."""
MOST_LINES = 1_000
"""Lines of one page that are compared with the lines that its site repeats."""

_HEAD = struct.Struct(f">{KEY_BYTES}s8I")  # key, media, dates and order, bytes of three parts
_SET = struct.Struct(">IB")
_HASH_BITS = 32
_GAP = np.dtype("<u2")
_SPARE = 13  # bits that keep a gap in two bytes


class Hashes(NamedTuple):
    """A set of hashes of `bits` bits, ascending. `own` marks those of the page's own article.

    A larger set has longer hashes: a missing text seems present once in 8,192 to 16,384 times.
    """

    bits: int
    values: Words
    own: NDArray[np.bool_]

    @classmethod
    def of(cls, own: Iterable[str] | Words, others: Iterable[str] | Words) -> Hashes:
        """Return the set of the texts of an article (`own`) and of the rest of its page."""
        mine = hashes_of(own)
        hashes = distinct(mine, hashes_of(others))
        bits = min(_HASH_BITS, len(hashes).bit_length() + _SPARE)
        shift = np.uint32(_HASH_BITS - bits)
        values = distinct(hashes >> shift)
        return cls(bits, values, is_in(values, distinct(mine >> shift)))

    def have(self, text: str, *, own: bool = False) -> bool:
        """Tell whether the page, or its own article, has a text."""
        values = self.values[self.own] if own else self.values
        return bool(is_in(self.cut([text]), values)[0])

    def cut(self, texts: Iterable[str]) -> Words:
        """Return the hash of each text, cut to the bits of the set."""
        return hashes_of(texts) >> np.uint32(_HASH_BITS - self.bits)

    def lacking(self, other: Hashes) -> Words:
        """Return the hashes of this article that the other page has nowhere."""
        bits = min(self.bits, other.bits)
        mine = self.values[self.own]
        others = other.values >> np.uint32(other.bits - bits)
        return mine[~is_in(mine >> np.uint32(self.bits - bits), others)]

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
    def decode(cls, data: bytes) -> Hashes:
        """Return the set that `encode` wrote. Raises ValueError or struct.error for other bytes."""
        count, bits = _SET.unpack_from(data)
        flags = np.frombuffer(data, np.uint8, (count + 7) // 8, _SET.size)
        gaps = np.frombuffer(data, _GAP, offset=_SET.size + len(flags))
        values = np.cumsum(gaps, dtype=np.uint32)[gaps < np.iinfo(_GAP).max]
        if len(values) != count:
            raise ValueError("another number of hashes")
        return cls(bits, values, np.unpackbits(flags)[:count].astype(np.bool_))


_NONE = Hashes.of((), ())


@dataclass(frozen=True, slots=True, eq=False)
class Sketch:
    """The content of one page, for comparing.

    `headline` is its own, and `heading` what its article begins with, "" if it has none; `names`
    are what its head and other headlines call it, without the name of the site. `offered` are
    fields and their values, as `find_offer` finds them; `compared` those that the user names, and
    the files that a page of few words leads to. `words` and `lines` are
    those of the whole page, and the own ones those of its article that last, the headline aside.
    `pairs` is the table of the pairs of these. `images`, `controls` and `dated` are hashes of the
    files of images, of what can be played or done, and of the lines about the page; `order` is one
    of what follows what in tables, lists and labels; 0 for none. `again` counts the sentences of
    the article that it has said before.
    """

    headline: str = ""
    names: tuple[str, ...] = ()
    offered: Offered = ()
    compared: Offered = ()
    words: Hashes = _NONE
    lines: Hashes = _NONE
    pairs: bytes = b""
    images: int = 0
    controls: int = 0
    dated: int = 0
    order: int = 0
    again: int = 0
    heading: str = ""

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
        values = [(self.headline, self.heading, *self.names), self.offered, self.compared]
        text = json.dumps(values, ensure_ascii=False).encode("utf-8", "replace")
        parts = self.words.encode(), self.lines.encode(), self.pairs
        sizes = map(len, parts)
        head = _HEAD.pack(
            self.key, self.images, self.controls, self.dated, self.order, self.again, *sizes
        )
        return b"".join((head, *parts, text))


def name_in(data: bytes) -> int:
    """Return the `name_key` of an encoded sketch, which need not be made again."""
    return int.from_bytes(data[:4], "big")


@lru_cache(maxsize=1024)
def decode(data: bytes) -> Sketch:
    """Return the sketch that `encode` wrote. Raises ValueError for other bytes."""
    try:
        _, images, controls, dated, order, again, *sizes = _HEAD.unpack_from(data)
        start, parts = _HEAD.size, []
        for size in sizes:
            parts.append(data[start : start + size])
            start += size
        words, lines = Hashes.decode(parts[0]), Hashes.decode(parts[1])
        (headline, heading, *names), offered, compared = json.loads(data[start:])
        values = headline, tuple(names), _frozen(offered), _frozen(compared)
        return Sketch(
            *values, words, lines, parts[2], images, controls, dated, order, again, heading
        )
    except (struct.error, TypeError, ValueError) as error:
        raise ValueError(f"no sketch: {error}") from None


def sentences_of(lines: bytes) -> list[tuple[int, int]]:
    """Return the 32-bit hash and the number of words of each line of `Page.lines`."""
    sentences = islice(filter(None, lines.split(b"\n")), MOST_LINES)
    return [(mmh3.hash(line, signed=False), line.count(b" ") + 1) for line in sentences]


def hash_of(texts: Iterable[str]) -> int:
    """Return one hash of some texts, 32 bits, never 0; 0 for none."""
    joined = " ".join(texts).encode("utf-8", "surrogatepass")  # of a str with these, mmh3 crashes
    return (mmh3.hash(joined, signed=False) or 1) if joined else 0


# An invertible Bloom look-up table (Eppstein et al., What's the difference?, 2011). The difference
# of two tables gives the items that only one of two sets has, if these are few.
_THIRD = 8
_CELLS = np.dtype([("count", "i1"), ("key", "<u4"), ("check", "<u2")])
_CHECKED_BY = 2654435761
_MOST_APART = 200
_WORD = 0xFFFFFFFF


def pair_table(pairs: Iterable[str] | Words) -> bytes:
    """Return the table of pairs of words, given as texts or hashes, 168 bytes."""
    keys = distinct(hashes_of(pairs))
    cells = np.zeros(len(PLACED_BY) * _THIRD, _CELLS)
    checked = keys | (_check(keys).astype(np.uint64) << np.uint64(_HASH_BITS))
    for place in _places(keys):
        counts = np.bincount(place, minlength=len(cells))
        used = np.flatnonzero(counts)
        sums = checked[np.argsort(place.astype(np.uint8), kind="stable")]
        if len(used):
            sums = np.bitwise_xor.reduceat(sums, (np.cumsum(counts) - counts)[used])
        cells["count"] += counts.astype(np.int8)
        cells["key"][used] = sums.astype(np.uint32)
        cells["check"][used] = sums >> np.uint64(_HASH_BITS)
    return cells.tobytes()


def pairs_apart(table: bytes, other: bytes) -> tuple[list[int], list[int]] | None:
    """Return the hashes of pairs that only the first table has, and of those only in the other.

    Returns None if that can't be told, as for more than about 15 such pairs.
    """
    if len(table) != len(other) or not table:
        return None
    one, two = np.frombuffer(table, _CELLS), np.frombuffer(other, _CELLS)
    counts: list[int] = (one["count"] - two["count"]).tolist()
    keys: list[int] = (one["key"] ^ two["key"]).tolist()
    checks: list[int] = (one["check"] ^ two["check"]).tolist()
    keys_of_side: dict[int, list[int]] = {1: [], -1: []}
    left = list(range(len(counts)))
    while left:
        cell = left.pop()
        key, side = keys[cell], counts[cell]
        check = (key * _CHECKED_BY & _WORD) >> 16
        if side not in keys_of_side or check != checks[cell]:
            continue
        keys_of_side[side].append(key)
        for place in [int(place[0]) for place in _places(np.array([key], np.uint32))]:
            counts[place] -= side
            keys[place] ^= key
            checks[place] ^= check
            left.append(place)
        if sum(map(len, keys_of_side.values())) > _MOST_APART:
            break
    return None if any(counts) or any(keys) else (keys_of_side[1], keys_of_side[-1])


def _places(keys: Words) -> list[Words]:
    return [
        ((keys * np.uint32(by)) >> np.uint32(8)) % np.uint32(_THIRD) + np.uint32(third * _THIRD)
        for third, by in enumerate(PLACED_BY)
    ]


def _check(keys: Words) -> Words:
    return (keys * np.uint32(_CHECKED_BY)) >> np.uint32(16)


def _frozen(fields: Sequence[Sequence[str]]) -> Offered:
    return tuple((name, value) for name, value in fields)


NO_SKETCH = Sketch().encode()
"""The sketch of a page without any text."""

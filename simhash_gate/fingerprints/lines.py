"""The lines of a page as they are kept: what two pages show is compared by them.

A line is a few numbers: a hash of its words in their order, how many these are, a hash of them
without numbers, where in the template it stands, and of what kind it is. Long lines are cut where
their words say so (Manber, Finding similar files in a large file system, USENIX 1994), so that an
edit changes one piece. The hash is a polynomial (Karp and Rabin, Efficient randomized
pattern-matching algorithms, 1987): the words of a kept line are found in another text also where
its lines end elsewhere.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simhash_gate.fingerprints.arrays import Positions, distinct, is_in
from simhash_gate.fingerprints.folding import WITH_NUMBER, HashedLines, Words

_HEAD = struct.Struct(">2I")
_CUT = np.uint32(16)  # a long line is cut after a word whose hash this divides
_LONG, _LONGEST = 24, 200  # words
_MOST = 0xFFFF  # lines
_HASH = 24  # bits
_UNUSED = np.uint64(64 - _HASH)
_BASE, _MIX = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93
_INVERSE = pow(_BASE, -1, 1 << 64)
_NUMBER = np.uint64(0x5851F42D)  # stands for any number in the form of a line
_LEVEL = 1


class Kind:
    """Kinds of lines, as bits: what the page can be told by; a block of its article; what is about
    the page (a date, a clock, a counter); what leads elsewhere; a cell, an entry or a label, which
    means something beside its neighbours; five words or more; a picture or a control; a label.
    """

    CONTENT, ARTICLE, ABOUT, LINK, ORDERED, SENTENCE, MARK, LABEL = (1 << bit for bit in range(8))
    CAPTION = ABOUT | LINK


class Lines(NamedTuple):
    """The lines of a page: numpy arrays of one length, and in this order.

    `hashes` have 24 bits; `sizes` count words; `forms` are 16 bits of the words without numbers, 0
    for a line that has no number, or is long; `places` are 16 bits of where a line stands; `kinds`
    are bits.
    """

    hashes: Words
    sizes: NDArray[np.uint8]
    forms: NDArray[np.uint16]
    places: NDArray[np.uint16]
    kinds: NDArray[np.uint8]

    @property
    def keys(self) -> Words:
        """32 bits of each line, by which a site's memory knows it."""
        keys: Words = self.hashes | (self.sizes.astype(np.uint32) << np.uint32(_HASH))
        return keys

    def are(self, kind: int) -> NDArray[np.bool_]:
        """Tell of each line if it is of one of some kinds."""
        return (self.kinds & kind).astype(np.bool_)

    def only(self, kept: NDArray[np.bool_]) -> Lines:
        """Return the lines whose entry in `kept` is True."""
        return Lines._make(column[kept] for column in self)

    def said(self) -> Lines:
        """Return what the page says: the lines of its article, and others that it is told by."""
        return self.only(self.are(Kind.CONTENT | Kind.ARTICLE))

    def beside(self, others: Lines) -> Lines:
        """Return these lines, and others after them."""
        return Lines(*map(np.append, self, others))

    def encode(self) -> bytes:
        """Return the lines as bytes, about six for each."""
        hashes = self.hashes.astype("<u4").view(np.uint8).reshape(-1, 4)[:, :3].tobytes()
        numbered = self.forms > 0
        columns = numbered, self.sizes, self.kinds, self.places, self.forms[numbered]
        packed = zlib.compress(b"".join([column.tobytes() for column in columns]), _LEVEL)
        return _HEAD.pack(len(self.hashes), len(packed)) + hashes + packed

    @classmethod
    def decode(cls, data: bytes) -> Lines:
        """Return the lines that `encode` wrote. Raises ValueError or struct.error for others."""
        count, length = _HEAD.unpack_from(data)
        start = _HEAD.size + 3 * count
        hashes = np.zeros((count, 4), np.uint8)
        hashes[:, :3] = np.frombuffer(data, np.uint8, 3 * count, _HEAD.size).reshape(-1, 3)
        try:
            rest = zlib.decompress(data[start : start + length])
        except zlib.error as error:
            raise ValueError(str(error)) from None
        numbered = np.frombuffer(rest, np.uint8, count).astype(np.bool_)
        sizes = np.frombuffer(rest, np.uint8, count, count)
        kinds = np.frombuffer(rest, np.uint8, count, 2 * count)
        places = np.frombuffer(rest, "<u2", count, 3 * count)
        forms = np.zeros(count, np.uint16)
        forms[numbered] = np.frombuffer(rest, "<u2", offset=5 * count)
        return cls(hashes.view("<u4").ravel(), sizes, forms, places, kinds)


_TYPES = (np.uint32, np.uint8, np.uint16, np.uint16, np.uint8)
NO_LINES = Lines._make(np.zeros(0, it) for it in _TYPES)


def cut_lines(
    words: HashedLines, kinds: Sequence[int], places: Sequence[int]
) -> tuple[Lines, Positions]:
    """Return lines, given by their words, and where the words of each begin; the last ends there.

    Lines without words are left out, and what is beyond 65,535 lines.
    """
    if not len(words.words):
        return NO_LINES, np.zeros(1, np.intp)
    count = len(words.words)
    new = np.ones(count, np.bool_)
    new[1:] = words.lines[1:] != words.lines[:-1]
    begins = np.flatnonzero(new)
    lengths = np.diff(np.append(begins, count))
    long = np.repeat(lengths > _LONG, lengths)
    new[1:] |= long[1:] & (words.words[:-1] % _CUT == 0)
    pieces = np.append(np.flatnonzero(new), count)
    for piece in np.flatnonzero(np.diff(pieces) > _LONGEST).tolist():
        new[pieces[piece] : pieces[piece + 1] : _LONGEST] = True
    starts = np.append(np.flatnonzero(new), count)[: _MOST + 1]
    line_of = words.lines[starts[:-1]]
    numbered = np.logical_or.reduceat(words.are(WITH_NUMBER) & ~long, starts[:-1])
    plain = words.words.astype(np.uint64)
    plain[words.are(WITH_NUMBER)] = _NUMBER
    forms = (_hashes(plain, starts) >> np.uint64(48)).astype(np.uint16) | np.uint16(1)
    lines = Lines(
        (_hashes(words.words, starts) >> _UNUSED).astype(np.uint32),
        np.diff(starts).astype(np.uint8),
        np.where(numbered, forms, np.uint16(0)),
        np.asarray(places, np.uint16)[line_of],
        np.asarray(kinds, np.uint8)[line_of],
    )
    return lines, starts


def found_in(lines: Lines, words: Words) -> list[tuple[int, Positions]]:
    """Return where the words of lines stand one after the other in a text, whatever its lines.

    These are the numbers of the lines that are found, each with the places where its words begin.
    """
    sums, backs = _sums(words)
    found = []
    for size in distinct(lines.sizes).tolist():
        if size > len(words):
            break
        numbers = np.flatnonzero(lines.sizes == size)
        windows = ((sums[size:] - sums[:-size]) * backs[: len(sums) - size]) >> _UNUSED
        places = np.flatnonzero(is_in(windows, np.sort(lines.hashes[numbers]).astype(np.uint64)))
        hashes = windows[places]
        for number in numbers.tolist():
            its = places[hashes == lines.hashes[number]]
            if len(its):
                found.append((number, its))
    return found


def _hashes(words: NDArray[np.generic], starts: Positions) -> NDArray[np.uint64]:
    """Return the 64-bit hash of each run of words that begins at one of `starts`."""
    sums, backs = _sums(words)
    hashes: NDArray[np.uint64] = (sums[starts[1:]] - sums[starts[:-1]]) * backs[starts[:-1]]
    return hashes


def _sums(words: NDArray[np.generic]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the sums of the words before each place, and what makes a difference of them a hash.

    All is modulo 2 ** 64.
    """
    count = len(words)
    sums = np.zeros(count + 1, np.uint64)
    np.cumsum(words.astype(np.uint64) * _powers(_BASE, count), out=sums[1:])
    return sums, _powers(_INVERSE, count + 1) * np.uint64(_MIX)


def _powers(base: int, count: int) -> NDArray[np.uint64]:
    powers = np.full(count, base, np.uint64)
    powers[:1] = 1
    np.cumprod(powers, out=powers)
    return powers

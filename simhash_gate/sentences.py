"""The sentences of a page, by their hashes: what sketches compare, and what a site repeats."""

from __future__ import annotations

import re
import struct
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import mmh3

from simhash_gate.fingerprints.folding import words_of_each

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MOST = 1_000
"""Sentences of one page that are looked at for what its site repeats."""

_END = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])")
_PACKED = struct.Struct(">IH")
_MOST_WORDS = 0xFFFF


class Sentence(NamedTuple):
    """A 32-bit hash of a sentence, and how many words it has."""

    hash: int
    words: int


def pack(found: Iterable[Sentence]) -> bytes:
    """Return sentences as bytes, 6 for each."""
    return b"".join(_PACKED.pack(number, min(count, _MOST_WORDS)) for number, count in found)


def unpack(data: bytes) -> Iterator[Sentence]:
    """Yield the sentences that `pack` wrote."""
    return map(Sentence._make, _PACKED.iter_unpack(data))


def sentences(text: str) -> list[str]:
    """Split a block of text after its sentences."""
    return [part for part in _END.split(text) if part]


def hash_of(tokens: Iterable[str]) -> int:
    """Return the unsigned 32-bit hash of a sentence, given as words."""
    return mmh3.hash(" ".join(tokens), signed=False)


def sentences_of(texts: Iterable[tuple[str, list[str]]]) -> list[Sentence]:
    """Return the sentences of blocks of text, each given with its words."""
    found: list[list[str] | None] = []
    several: list[str] = []  # those of blocks of more than one: their words are not known
    for text, tokens in islice(texts, MOST):
        parts = sentences(text) if text else []
        if len(parts) > 1:
            several += parts
            found += [None] * len(parts)
        elif tokens:
            found.append(tokens)
    of_several, _ = words_of_each(several)
    rest: Iterator[list[str]] = iter(of_several)
    each = (next(rest) if own is None else own for own in found)
    return [Sentence(hash_of(own), len(own)) for own in islice(each, MOST) if own]

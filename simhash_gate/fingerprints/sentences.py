"""The sentences of a page, by their hashes: what sketches compare, and what a site repeats."""

from __future__ import annotations

import re
import struct
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import mmh3

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


def sentences_of(blocks: Iterable[list[str]]) -> list[Sentence]:
    """Return blocks of text, given as words, as one sentence each.

    Most blocks are one sentence. To split the others takes longer, and changes next to nothing.
    """
    return [Sentence(hash_of(tokens), len(tokens)) for tokens in islice(blocks, MOST) if tokens]

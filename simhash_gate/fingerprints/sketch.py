"""What is remembered of a page's words, to tell what exactly differs once two pages look alike.

A fingerprint knows how much of two texts differs, never what: a changed clock and a changed price
move it alike. A sketch keeps the sentences, compressed, or for a long page a hash of each. Such
hashes also tell what a site repeats.
"""

from __future__ import annotations

import json
import re
import struct
import zlib
from collections import Counter
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import mmh3

from simhash_gate.fingerprints.folding import words_of_each
from simhash_gate.fingerprints.words import words, words_and_signs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

LIMIT = 5120
"""Bytes of a sketch beyond which sentences are kept as hashes."""

MOST = 1_000
"""Sentences of one page that are looked at for what its site repeats."""

_END = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])")
_SENTENCE = struct.Struct(">IH")
_MOST_WORDS = 0xFFFF
_SHOWN = 60
_PAIRED = 4  # sentences of each page, and characters of each sentence: it is for a person to read
_COMPARED = 150
_NO_WORDS = mmh3.hash("", signed=False)
_SOME_WORDS = 4
_SAME_HEADLINE = 0.8  # of the words of the shorter one: templates add the name of the site


class Sentence(NamedTuple):
    """A 32-bit hash of a sentence, and how many words it has."""

    hash: int
    words: int


def pack_sentences(found: Iterable[Sentence]) -> bytes:
    """Return sentences as bytes, 6 for each."""
    return b"".join(_SENTENCE.pack(number, min(count, _MOST_WORDS)) for number, count in found)


def unpack_sentences(data: bytes) -> Iterator[Sentence]:
    """Yield the sentences that `pack_sentences` wrote."""
    return map(Sentence._make, _SENTENCE.iter_unpack(data))


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


@dataclass(frozen=True, slots=True)
class Sketch:
    """The words of one page.

    `headline` is the article's own, "" if it has none; then `outer_headline` is the heading that
    stands before it on the page, and `outer_place` where the template puts it. `title` is the
    page's, `canonical` the address that it gives itself. `sentences` are what it says, and `hashes`
    a 32-bit hash of each; of a long page these are all there is. `elsewhere` are 16-bit hashes of
    what the page says outside its article, `captions` of what it says under its images, `fleeting`
    its lines about itself (clocks, counters). `played` are the names of its videos and sounds; on
    a page of few words, `images` those of its images.
    """

    headline: str = ""
    title: str = ""
    canonical: str = ""
    sentences: tuple[str, ...] = ()
    fleeting: tuple[str, ...] = ()
    hashes: tuple[int, ...] = ()
    elsewhere: tuple[int, ...] = ()
    outer_headline: str = ""
    outer_place: str = ""
    captions: tuple[int, ...] = ()
    images: tuple[str, ...] = ()
    played: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.hashes:
            object.__setattr__(self, "hashes", tuple(_hashes(self.sentences)))

    def within(self, page: Iterable[str], captions: Iterable[str] = ()) -> Sketch:
        """Return the sketch of an article that stands among these sentences of a whole page.

        `captions` are those of its sentences that stand under its images.
        """
        own = set(map(_short_hash, self.hashes))
        elsewhere = set(map(_short_hash, _hashes(set(page)))) - own
        shown = own & set(map(_short_hash, _hashes(captions)))
        return replace(self, elsewhere=tuple(sorted(elsewhere)), captions=tuple(sorted(shown)))

    def encode(self) -> bytes:
        """Return the sketch as bytes, about `LIMIT` at most but for very long pages."""
        whole = _pack(self)
        return whole if len(whole) <= LIMIT else _pack(replace(self, sentences=(), fleeting=()))


def decode(data: bytes) -> Sketch:
    """Return the sketch that `encode` wrote. Raises ValueError for anything else."""
    try:
        values: list[Any] = json.loads(zlib.decompress(data))
        frozen: list[Any] = [tuple(v) if isinstance(v, list) else v for v in values]
        return Sketch(*frozen)
    except (zlib.error, TypeError, ValueError) as error:
        raise ValueError(f"no sketch: {error}") from error


class Compared(NamedTuple):
    """Whether two pages say the same, and what differs, in words."""

    same: bool
    difference: str


def compare(
    kept: Sketch,
    new: Sketch,
    *,
    strict: bool = False,
    is_repeated: Callable[[int], bool] | None = None,
    is_claimed: Callable[[str], bool] | None = None,
) -> Compared:
    """Compare two pages by what they say, whatever order their blocks stand in.

    Another headline or sentence makes another page. What is fleeting does not, unless the
    comparison is `strict` and both pages have such lines. Nor do sentences that only one of the
    pages has, and that the site repeats, as `is_repeated` tells by their hashes: the line under a
    print view. Few words may be all that tells of a change: these count. Sentences that say what
    both pages claim, as `is_claimed` tells by their text, may be written in any way.
    """
    for before, after in (
        *(() if _same_headline(kept, new) else ((kept.headline, new.headline),)),
        *(() if _same_outer_headline(kept, new) else ((kept.outer_headline, new.outer_headline),)),
        *(() if _same_address(kept, new) else ((kept.title, new.title),)),
        # A print view has none.
        (" ".join(kept.images), " ".join(new.images)),
        (" ".join(kept.played), " ".join(new.played)),
    ):
        if before and after and before != after:
            return Compared(False, _change(before, after))
    removed, added = _differing(kept, new, is_repeated, is_claimed)
    if removed or added:
        return Compared(False, _first_change(removed, added))
    before, after = (" ".join(sketch.fleeting) for sketch in (kept, new))
    if strict and before and after and before != after:
        return Compared(False, _change(before, after))
    if before != after and kept.sentences and new.sentences:
        return Compared(True, f"only {_change(before, after)} differs")
    return Compared(True, "the same text")


def _pack(sketch: Sketch) -> bytes:
    values = [getattr(sketch, name) for name in sketch.__slots__]
    return zlib.compress(json.dumps(values, ensure_ascii=False).encode("utf-8", "replace"), 6)


def _hashes(texts: Iterable[str]) -> list[int]:
    found, _ = words_of_each([text.replace("\n", " ") for text in texts])
    return [hash_of(tokens) for tokens in found]


def _short_hash(number: int) -> int:
    return number & 0xFFFF


def _same_headline(a: Sketch, b: Sketch) -> bool:
    (one, signs), (other, its_signs) = map(words_and_signs, (a.headline, b.headline))
    if one == other:
        return signs == its_signs
    own, its_own = Counter(signs), Counter(its_signs)
    if own - its_own and its_own - own:
        return False
    return len(one & other) >= _SAME_HEADLINE * min(len(one), len(other))


def _same_outer_headline(a: Sketch, b: Sketch) -> bool:
    """Tell if what stands before the articles says nothing against them.

    What another template says there does not, nor what the other page says elsewhere.
    """
    if a.outer_place != b.outer_place:
        return True
    one, other = _hashes((a.outer_headline, b.outer_headline))
    return one == other or _short_hash(one) in b.elsewhere or _short_hash(other) in a.elsewhere


def _same_address(a: Sketch, b: Sketch) -> bool:
    if not a.canonical or not b.canonical or a.canonical == b.canonical:
        return True
    (one, signs), (other, its_signs) = map(words_and_signs, (a.title, b.title))
    return signs == its_signs if one == other else not one.isdisjoint(other)


def _differing(
    kept: Sketch,
    new: Sketch,
    is_repeated: Callable[[int], bool] | None,
    is_claimed: Callable[[str], bool] | None,
) -> tuple[list[str], list[str]]:
    """Return the sentences that only one of the pages has, "" for one that is known by its hash."""
    gone = Counter(kept.hashes) - Counter(new.hashes)
    come = Counter(new.hashes) - Counter(kept.hashes)
    del gone[_NO_WORDS], come[_NO_WORDS]
    texts = dict(zip(kept.hashes, kept.sentences, strict=False))
    texts.update(zip(new.hashes, new.sentences, strict=False))
    for alone in (gone, come):
        for number in [n for n in alone if is_claimed and n in texts and is_claimed(texts[n])]:
            del alone[number]
    for own, other, alone in ((kept, new, gone), (new, kept, come)):
        if own.captions and not other.captions:  # a print view has no images
            for number in [n for n in alone if _short_hash(n) in own.captions]:
                del alone[number]
    if not (gone and come):
        # A box more or less was taken for a part of the article: the page has it in any case.
        elsewhere = {*(new if gone else kept).elsewhere}
        rest = [n for n in gone or come if _short_hash(n) not in elsewhere]
        if not rest or (is_repeated is not None and _is_of_site(rest, kept, new, is_repeated)):
            return [], []
    removed, added = ([texts.get(n, "") for n in part.elements()] for part in (gone, come))
    if words(" ".join(removed)) == words(" ".join(added)) and all((*removed, *added)):
        return [], []  # the same, but split elsewhere
    return removed, added


def _is_of_site(
    hashes: list[int], kept: Sketch, new: Sketch, is_repeated: Callable[[int], bool]
) -> bool:
    """Tell if sentences are all known, of some words, and repeated by the site."""
    texts = {
        n: text for one in (kept, new) for n, text in zip(one.hashes, one.sentences, strict=False)
    }
    return all(is_repeated(n) and len(words(texts.get(n, ""))) >= _SOME_WORDS for n in hashes)


def _first_change(removed: list[str], added: list[str]) -> str:
    """Describe the change that tells most: a sentence that was altered, else one come or gone."""
    pairs = [(a, b) for a in removed[:_PAIRED] for b in added[:_PAIRED] if a and b]
    ratio = SequenceMatcher(None, autojunk=False)
    for a, b in pairs:
        ratio.set_seqs(a[:_COMPARED], b[:_COMPARED])
        if ratio.real_quick_ratio() > 0.6 and ratio.ratio() > 0.6:
            return _change(a, b)
    if any(added):
        return f"{_short(next(filter(None, added)))} was added"
    if any(removed):
        return f"{_short(next(filter(None, removed)))} is gone"
    return f"{len(removed)} sentences are gone and {len(added)} came"


def _change(before: str, after: str) -> str:
    """Show where two texts begin to differ, with a word of context."""
    a, b = before.split(), after.split()
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    end = 0
    while end < min(len(a), len(b)) - start and a[-1 - end] == b[-1 - end]:
        end += 1
    start = max(0, start - 1)
    old = " ".join(a[start : len(a) - end])
    new = " ".join(b[start : len(b) - end])
    return f"{_short(old)} → {_short(new)}"


def _short(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")

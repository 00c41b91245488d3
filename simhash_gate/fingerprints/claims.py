"""What a page claims to be: the names that it gives itself, and what it offers.

Two pages that a template makes alike are told apart by it. A record keeps it in some 100 bytes, and
2 for each word of the text: names are no contradiction where the other text has their words.
"""

from __future__ import annotations

import json
import re
import struct
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

import mmh3
import numpy as np

from simhash_gate.fingerprints.words import unsegmented, words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    Offered = tuple[tuple[str, str], ...]

KEY_BYTES = 8
"""The length of the key that the claims of a page begin with."""
NAME_BYTES = 4
"""How much of it stands for the name."""
SAID = 2_000
"""Words of a page in which the names of another are looked for."""

LONGEST_NAME = 300
"""Characters of a name that are looked at."""

_SHOWN = 60
_HEAD = struct.Struct(f">{KEY_BYTES}sII")  # key, and bytes of what follows
UNKNOWN = "unknown"
"""What a page is said to offer where its data, which would tell, are not known."""

_PRODUCT = ("sku", "mpn", "gtin", "gtin8", "gtin12", "gtin13", "gtin14", "productid", "isbn")
IN_DATA = {
    "shown number": (*_PRODUCT, *(f"offer {name}" for name in _PRODUCT), "item"),
    "shown price": ("price",),
    "": ("chosen", "startDate", "endDate", "place", "salary"),
}
"""The names of fields that only data have, by the field that a text has in their place."""
TEXT_ALONE = "the text alone of"
"""The field, with its URL as the value, of a page that was read from its text."""
_NUMBERS = frozenset({"sku", "mpn", "productid", "item", "offer sku", "shown number"})
_AFTER_DIGITS = ":"  # in ASCII, where only signs come before them
_LABEL = 2  # words
_LABEL_END = re.compile(r"(?::|#|\b(?:no|nr)\.?)\s*\Z", re.IGNORECASE)
_MONEY = frozenset("$€£¥₹")
_ONE_PRODUCT = 3  # numbers or prices: more are those of its variants
_COUNTER = re.compile(r"\A\s*[(\[]\d+[)\]]\s*")
_VERSION = re.compile(r"\((?=[^()]*\)\s*\Z)[^()]*\d\.\d.*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Claims:
    """What one page claims.

    `headline` is its own, "" if it has none; `names` are all that it calls itself, without the name
    of the site. `said` are 16-bit hashes of the words of its text.
    `offered` are fields and their values, as `find_offer` finds them; `compared` those that the
    user names.
    """

    headline: str = ""
    names: tuple[str, ...] = ()
    said: frozenset[int] = frozenset()
    offered: Offered = ()
    compared: Offered = ()

    @property
    def key(self) -> bytes:
        """Eight bytes: four that pages of the same name share, and four for what they offer."""
        name = _own_words(self.headline) or _own_words_of(self.names)
        parts = " ".join(sorted(name)), repr((self.offered, self.compared))
        return b"".join(mmh3.hash(part, signed=False).to_bytes(4, "big") for part in parts)

    def encode(self) -> bytes:
        """Return the claims as bytes, which begin with their key."""
        names = self.headline, *self.names
        told = json.dumps([names, self.offered, self.compared], ensure_ascii=False)
        text = told.encode("utf-8", "replace")
        said = np.array(sorted(self.said), ">u2").tobytes()
        return _HEAD.pack(self.key, len(said), len(text)) + said + text


def split_claims(data: bytes) -> tuple[bytes, bytes]:
    """Return the claims that some bytes begin with, and the rest.

    Raises ValueError where they begin with none.
    """
    try:
        _, said, told = _HEAD.unpack_from(data)
    except struct.error as error:
        raise ValueError(f"no claims: {error}") from None
    end = _HEAD.size + said + told
    return data[:end], data[end:]


@lru_cache(maxsize=1024)
def decode_claims(data: bytes) -> Claims:
    """Return the claims that `encode` wrote. Raises ValueError for anything else."""
    try:
        _, size, _ = _HEAD.unpack_from(data)
        end = _HEAD.size + size
        said = frozenset(np.frombuffer(data[_HEAD.size : end], ">u2").tolist())
        (headline, *names), offered, compared = json.loads(data[end:])
        return Claims(headline, tuple(names), said, _frozen(offered), _frozen(compared))
    except (struct.error, TypeError, ValueError) as error:
        raise ValueError(f"no claims: {error}") from None


def name_and_words(data: bytes, count: int) -> bytes:
    """Return what stands for the name in claims as `encode` wrote them, and hashes of words.

    The name takes `NAME_BYTES`, all zero if there is none. Then come the least hashes, two bytes
    each, `count` at most; without words nothing is returned.
    """
    if len(data) < _HEAD.size or not (said := _HEAD.unpack_from(data)[1]):
        return b""
    return data[:NAME_BYTES] + data[_HEAD.size : _HEAD.size + min(2 * count, said)]


def read_from_text(claims: Claims, title: str, url: str) -> Claims:
    """Return the claims of a page of which the title and the text are known, and not its data.

    They contradict whatever the data of another page say that the text does not show: nobody can
    tell whether it is the same product, event or job. Nor can two such pages be told apart: they
    contradict each other, unless they are of the same URL.
    """
    shown = dict(claims.offered)
    unknown = {
        name: UNKNOWN for field, names in IN_DATA.items() if field not in shown for name in names
    }
    offered = tuple(sorted((unknown | shown | {TEXT_ALONE: url}).items()))
    return replace(claims, headline=claims.headline or title, offered=offered)


def said_by(tokens: Iterable[str]) -> frozenset[int]:
    """Return hashes of the words of a text; of a very long one those of its beginning."""
    return frozenset(map(_hash, _all_words(list(islice(tokens, SAID)))))


class Contradiction(NamedTuple):
    """In what two pages contradict each other, and how, in words."""

    differs: Literal["names", "offers", "fields"]
    said: str


def contradiction(kept: Claims, new: Claims) -> Contradiction | None:
    """Return how two pages contradict each other, None if they don't.

    Names do where each has a word of its own that the other has nowhere: a name that is part of the
    other does not. Where both pages have a headline, headlines decide. Of what is offered, each
    field that both pages have must agree.
    """
    if said := _of_fields(kept.compared, new.compared):
        return Contradiction("fields", said)
    if said := _of_names(kept, new):
        return Contradiction("names", said)
    if said := _of_fields(kept.offered, new.offered) or _of_offers(kept, new):
        return Contradiction("offers", said)
    return None


def same_name(kept: Claims, new: Claims) -> bool:
    """Tell if both pages have a name, and the same."""
    return bool(new.headline or new.names) and kept.key[:NAME_BYTES] == new.key[:NAME_BYTES]


def agreement(kept: Claims, new: Claims) -> bool:
    """Tell if two pages claim to be of one product, by its name, its number and its price."""
    numbers = _numbers(kept), _numbers(new)
    one = not numbers[0].isdisjoint(numbers[1]) and len(numbers[0] | numbers[1]) <= _ONE_PRODUCT
    return one and same_name(kept, new) and _price(kept) == _price(new) != ""


def is_claimed(claims: Claims, sentence: str) -> bool:
    """Tell if a sentence says what a page claims, and next to nothing else: `SKU: A-1`."""
    tokens = words(sentence)
    said = _words_claimed(claims)
    rest = [token for token in tokens if token not in said]
    if len(rest) > _LABEL or any(token[0].isdigit() for token in rest):
        return False
    return len(rest) < len(tokens) or _LABEL_END.search(sentence) is not None


@lru_cache(maxsize=256)
def _words_claimed(claims: Claims) -> frozenset[str]:
    offered = (value for _, value in claims.offered)
    return frozenset(word for text in (*claims.names, *offered) for word in words(text)) | _MONEY


def _of_offers(kept: Claims, new: Claims) -> str:
    """Compare what data say of one page with what another shows: a print view has no data."""
    before, now = _numbers(kept), _numbers(new)
    if before and now and before.isdisjoint(now):
        return f"{', '.join(sorted(before))} → {', '.join(sorted(now))}"
    price, other = _price(kept), _price(new)
    return f"price {price} → {other}" if price and other and price != other else ""


def _numbers(claims: Claims) -> set[str]:
    """Return the numbers that data say or the page shows."""
    said = [value for name, value in claims.offered if name in _NUMBERS]
    return {number.casefold() for value in said for number in value.split(", ")}


def _price(claims: Claims) -> str:
    """Return the lowest amount that data say, or else that the page shows.

    What a page shows may have the price before a sale, which is more.
    """
    offered = dict(claims.offered)
    said = offered.get("price") or offered.get("shown price") or ""
    amounts = [part.split(" ")[0] for part in said.split(", ")]
    return min(amounts, key=lambda amount: (len(amount.partition(".")[0]), amount))


def _of_fields(kept: Offered, new: Offered) -> str:
    before = dict(kept)
    for name, value in new:
        if name in before and before[name] != value:
            return f"{name} {before[name] or 'none'} → {value or 'none'}"
    return ""


def _of_names(kept: Claims, new: Claims) -> str:
    before: Collection[str] = (kept.headline,)
    now: Collection[str] = (new.headline,)
    if not (_own_words(kept.headline) and _own_words(new.headline)):
        before, now = kept.names, new.names
    words_before, words_now = _own_words_of(before), _own_words_of(now)
    if not (words_before and words_now):
        return ""
    gone, come = words_before - words_now, words_now - words_before
    if _is_missing(gone, new) and _is_missing(come, kept):
        return f"another name: {_shown(before)} → {_shown(now)}"
    return ""


def _is_missing(own: Iterable[str], other: Claims) -> bool:
    """Tell if there is a word that another page has nowhere."""
    told = [word for word in own if _hash(word) not in other.said]
    if not told:
        return False
    named = {word for name in other.names for word in _all_words(words(name))}
    return not named.issuperset(told)


def _own_words_of(names: Iterable[str]) -> frozenset[str]:
    """Return the words of a page's names: those of all of them, if there are any.

    What only some of them have is more often the site's part.
    """
    each = [own for own in map(_own_words, names) if own]
    return frozenset.intersection(*each) or frozenset().union(*each) if each else frozenset()


@lru_cache(maxsize=4096)
def _own_words(name: str) -> frozenset[str]:
    """Return what tells a name from others: its words, without a counter before it.

    A number goes with the word before it. In scripts without word spaces, two characters make a
    word. The version of a piece of software, as templates put it behind the name, is left out.
    """
    tokens = words(_COUNTER.sub("", _VERSION.sub("", name)).strip() or name)
    pairs, alone = _pairs(tokens)
    return frozenset(pairs | alone)


def _all_words(tokens: list[str]) -> set[str]:
    """Return the words of a text as names are looked for in it."""
    found = set(tokens)
    found.update([f"{one} {other}" for one, other in pairwise(tokens) if other < _AFTER_DIGITS])
    characters = unsegmented(found)
    if characters:
        each = pairwise(tokens)
        found.update([a + b for a, b in each if a in characters and b in characters])
    return found


def _pairs(tokens: Sequence[str]) -> tuple[set[str], set[str]]:
    """Return the pairs of words that mean something only together, and the words in none."""
    characters = unsegmented(tokens)
    pairs: set[str] = set()
    paired: set[int] = set()
    for place, (one, other) in enumerate(pairwise(tokens)):
        if other in characters and one in characters:
            pairs.add(one + other)
            paired |= {place, place + 1}
        elif "0" <= other < _AFTER_DIGITS:
            pairs.add(f"{one} {other}")
            paired.add(place + 1)
    return pairs, {token for place, token in enumerate(tokens) if place not in paired}


def _hash(word: str) -> int:
    return mmh3.hash(word, signed=False) & 0xFFFF


def _shown(names: Collection[str]) -> str:
    return " / ".join(repr(name if len(name) <= _SHOWN else f"{name[:_SHOWN]}…") for name in names)


def _frozen(said: Sequence[Sequence[str]]) -> Offered:
    return tuple((name, value) for name, value in said)


NO_CLAIMS = Claims().encode()
"""What is kept of a page that claims nothing."""

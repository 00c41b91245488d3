"""What is remembered of a page: its words, its key and its bytes."""

import random
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_gate.compare.sketch import KEY_BYTES, NO_SKETCH, Sketch, WordSet, decode
from simhash_gate.fingerprints.folding import HashedLines
from tests.fingerprints.made_lines import lines_of

TEXTS = st.sets(st.text(max_size=8), max_size=60)
DICE = random.Random(1)
WORDS = [f"{DICE.getrandbits(40):x}" for _ in range(3000)]


@given(TEXTS, TEXTS)
def test_any_set_of_hashes_survives_its_encoding(own, others) -> None:
    given = WordSet.of(own, others)
    found = WordSet.decode(given.encode())
    assert found.bits == given.bits
    assert found.values.tolist() == given.values.tolist()
    assert found.own.tolist() == given.own.tolist()
    assert all(found.have(text, own=True) for text in own)
    assert all(found.have(text) for text in others)


@pytest.mark.parametrize("count", [100, 1000, 3000])
def test_a_hash_takes_a_gap_and_a_bit(count) -> None:
    assert 1.1 * count <= len(WordSet.of(WORDS[:count], ()).encode()) <= 1.5 * count


def test_words_of_the_article_are_told_from_those_beside_it() -> None:
    words = WordSet.of(WORDS[:300], WORDS[300:600])
    assert all(map(words.have, WORDS[:600]))
    assert sum(words.have(word, own=True) for word in WORDS[300:600]) < 10
    assert sum(map(words.have, WORDS[600:])) < 2400 / 50, "others seem to be there once in 128"


@given(st.text(max_size=40), st.lists(st.text()), st.dictionaries(st.text(), st.text()))
def test_any_sketch_survives_its_encoding(headline, names, offered) -> None:
    told = headline, tuple(names), tuple(offered.items())
    words, lines = WordSet.of("ab", "c"), lines_of("a b", "9")
    given = Sketch(*told, (), words, lines, headline)
    found = decode(given.encode())
    assert (found.headline, found.names, found.offered) == told
    assert found.heading == headline
    assert found.words.values.tolist() == words.values.tolist()
    assert found.lines.keys.tolist() == lines.keys.tolist()
    assert found.encode() == given.encode()


def test_the_key_is_of_the_name_and_of_what_is_offered() -> None:
    keys = [
        Sketch(name, (name,), (("price", price),)).encode()[:KEY_BYTES]
        for name, price in (("Blue", "1"), ("(2) blue", "1"), ("Blue", "2"), ("Red", "1"))
    ]
    assert keys[0] == keys[1] != keys[2]
    assert keys[0][:4] == keys[2][:4] != keys[3][:4]


LONGER_HASHES = NO_SKETCH[:20] + b"\x21" + NO_SKETCH[21:]


@pytest.mark.parametrize("data", [b"", b"x", b"of another version", NO_SKETCH[:-1], LONGER_HASHES])
def test_what_is_no_sketch_is_said_to_be_none(data: bytes) -> None:
    with pytest.raises(ValueError, match="no sketch"):
        decode(data)


def test_endless_words_of_many_pages_take_no_memory() -> None:
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for number in range(30):
            HashedLines.of([[f"{number}" + "x" * 100_000, "and", "others"]])
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 1_000_000

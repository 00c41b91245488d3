"""What is remembered of a page: its bytes, and what of another page it lacks."""

import random
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_gate.compare.sketch import (
    KEY_BYTES,
    NO_SKETCH,
    Hashes,
    Sketch,
    decode,
    pair_table,
    pairs_apart,
    sentences_of,
)
from simhash_gate.fingerprints.folding import HashedLines

TEXTS = st.sets(st.text(max_size=8), max_size=60)
DICE = random.Random(1)
WORDS = [f"{DICE.getrandbits(40):x}" for _ in range(3000)]


@given(TEXTS, TEXTS)
def test_any_set_of_hashes_survives_its_encoding(own, others) -> None:
    given = Hashes.of(own, others)
    found = Hashes.decode(given.encode())
    assert found.bits == given.bits
    assert found.values.tolist() == given.values.tolist()
    assert found.own.tolist() == given.own.tolist()
    assert all(found.have(text, own=True) for text in own)
    assert all(found.have(text) for text in others)
    assert not found.lacking(given).size


@pytest.mark.parametrize("count", [100, 1000, 3000])
def test_a_hash_takes_a_gap_and_a_bit(count) -> None:
    assert 2.1 * count <= len(Hashes.of(WORDS[:count], ()).encode()) <= 2.3 * count


def test_what_only_one_article_says_is_lacking_wherever_the_other_page_has_it_not() -> None:
    kept = Hashes.of(WORDS[:500], WORDS[500:600])
    new = Hashes.of([*WORDS[:499], WORDS[550], "new"], WORDS[700:2900])
    assert kept.lacking(new).tolist() == kept.cut([WORDS[499]]).tolist()
    assert new.lacking(kept).tolist() == new.cut(["new"]).tolist()
    assert kept.have(WORDS[550])
    assert not kept.have(WORDS[550], own=True)


def test_few_other_pairs_are_told_whatever_two_texts_have_in_common() -> None:
    text = [WORDS[n : n + 10] for n in range(0, 3000, 10)]
    moved = [*text[:-1], [*text[-1][:8], text[-1][9], text[-1][8]]]
    pairs, its = (HashedLines.of(lines).pairs() for lines in (text, moved))
    gone, come = pairs_apart(pair_table(pairs), pair_table(its))
    assert len(gone) == len(come) == 2
    assert set(gone) == set(pairs.tolist()) - set(its.tolist())
    assert set(come) == set(its.tolist()) - set(pairs.tolist())
    assert pairs_apart(pair_table(pairs), pair_table(pairs)) == ([], [])
    assert pairs_apart(pair_table(pairs), pair_table(pairs[450:])) is None
    assert pairs_apart(pair_table(()), b"") is None


def test_pairs_are_of_words_that_follow_within_a_line_and_in_their_order() -> None:
    def pairs(*lines):
        return set(HashedLines.of([line.split() for line in lines]).pairs().tolist())

    assert pairs("a b c", "", "d e") == pairs("a b") | pairs("b c") | pairs("d e")
    assert pairs("a b") != pairs("b a")
    assert pairs("a", "b c") == {*HashedLines.of([["a"]]).words.tolist()} | pairs("b c")
    assert not pairs() | pairs("", "")


@given(st.text(max_size=40), st.lists(st.text()), st.dictionaries(st.text(), st.text()))
def test_any_sketch_survives_its_encoding(headline, names, offered) -> None:
    told = headline, tuple(names), tuple(offered.items())
    words, lines = Hashes.of("ab", "c"), Hashes.of(["a b"], ())
    given = Sketch(*told, (), words, lines, pair_table(["a b"]), 1, 2, 3)
    found = decode(given.encode())
    assert (found.headline, found.names, found.offered) == told
    assert (found.images, found.controls, found.dated, found.pairs) == (1, 2, 3, given.pairs)
    assert found.words.values.tolist() == words.values.tolist()
    assert found.lines.own.tolist() == [True]
    assert found.encode() == given.encode()


def test_the_key_is_of_the_name_and_of_what_is_offered() -> None:
    keys = [
        Sketch(name, (name,), (("price", price),)).encode()[:KEY_BYTES]
        for name, price in (("Blue", "1"), ("(2) blue", "1"), ("Blue", "2"), ("Red", "1"))
    ]
    assert keys[0] == keys[1] != keys[2]
    assert keys[0][:4] == keys[2][:4] != keys[3][:4]


@pytest.mark.parametrize("data", [b"", b"x", b"of another version", NO_SKETCH[:-1]])
def test_what_is_no_sketch_is_said_to_be_none(data: bytes) -> None:
    with pytest.raises(ValueError, match="no sketch"):
        decode(data)


def test_sentences_are_the_lines_of_an_article() -> None:
    one, other, again = sentences_of(b"the bees fly\nhome\n\nthe bees fly")
    assert (one, one[1], other[1]) == (again, 3, 1)


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

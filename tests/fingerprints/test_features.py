"""The features of a text: the hashes of its shingles."""

import pytest

from simhash_gate.fingerprints.folding import HashedLines
from simhash_gate.fingerprints.simhash import shingle_hashes
from simhash_gate.fingerprints.words import words


def hashes(*lines: str, salt: int = 0) -> list[int]:
    return list(map(int, shingle_hashes(HashedLines.of([words(line) for line in lines]), salt)))


@pytest.mark.parametrize(
    ("text", "shingles"),
    [
        ("a b c d", ["a b c", "b c d"]),
        ("一二三四五六", ["一二三四五", "二三四五六"]),
        ("short", ["short"]),
        ("two words", ["two words"]),
        ("一二", ["一二"]),
    ],
)
def test_shingles_are_three_words_or_five_characters(text, shingles):
    assert hashes(text) == [only for shingle in shingles for only in hashes(shingle)]


def test_five_characters_may_go_on_in_words():
    first, second, third, last = hashes("a 一二三四五 b c")
    assert second == hashes("一二三四五")[0]
    assert third == hashes("二三四五 b")[0]
    assert last == hashes("三四五 b c")[0]
    assert first == hashes("a 一二")[0]


def test_a_shingle_is_its_words_in_their_order_over_the_ends_of_lines():
    assert hashes("a b", "c d") == hashes("a b c d")
    orders = ("a b c", "a c b", "b a c", "b c a", "c a b", "c b a", "a a b", "a b", "c")
    assert len({hashes(order)[0] for order in orders}) == len(orders)
    assert hashes() == hashes("") == []


def test_another_salt_gives_other_hashes():
    assert set(hashes("a b c d")).isdisjoint(hashes("a b c d", salt=1))

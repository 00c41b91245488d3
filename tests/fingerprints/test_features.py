"""The features of a text: its shingles."""

from simhash_gate.fingerprints.features import each_shingle
from simhash_gate.fingerprints.words import words


def shingles(tokens):
    return [each if isinstance(each, str) else each.decode() for each in each_shingle(tokens)]


def test_shingles_are_three_words_or_five_characters():
    assert shingles(words("a b c d")) == ["a b c", "b c d"]
    assert shingles(words("一二三四五六")) == ["一 二 三 四 五", "二 三 四 五 六"]
    mixed = ["a 一 二", "一 二 三 四 五", "二 三 四 五 b", "三 四 五 b c"]
    assert shingles(words("a 一二三四五 b c")) == mixed
    assert shingles(["short"]) == ["short"]
    assert shingles([]) == []

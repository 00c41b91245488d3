"""The features of a text: its shingles, and what they weigh."""

from simhash_gate.fingerprints.features import features, shingles
from simhash_gate.fingerprints.words import words


def test_shingles_are_three_words_or_five_characters():
    assert shingles(words("a b c d")) == ["a b c", "b c d"]
    assert shingles(words("一二三四五六")) == ["一 二 三 四 五", "二 三 四 五 六"]
    mixed = ["a 一 二", "一 二 三 四 五", "二 三 四 五 b", "三 四 五 b c"]
    assert shingles(words("a 一二三四五 b c")) == mixed
    assert shingles(["short"]) == ["short"]
    assert shingles([]) == []
    assert shingles(words("a b c d"), size=2) == ["a b", "b c", "c d"]
    assert shingles(words("ab cd"), kind="char", char_size=3) == ["ab ", "b c", " cd"]
    assert shingles(words("一二三四"), kind="word", size=2) == ["一 二", "二 三", "三 四"]


def test_a_phrase_counts_once_however_often_it_comes():
    found = features(words("go on and go on and go on and"))
    assert found == {"go on and": 1.0, "on and go": 1.0, "and go on": 1.0}


def test_stop_words_are_left_out_unless_nothing_is_left():
    assert features(words("the cat and the dog"), stop_words={"the", "and"}) == {"cat dog": 1.0}
    assert features(["the"], stop_words={"the"}) == {"the": 1.0}


def test_a_table_weighs_shingles_by_themselves_or_by_their_words():
    idf = {"a b c": 5.0, "d": 4.0}
    assert features(words("a b c d"), idf=idf) == {"a b c": 5.0, "b c d": 2.0}

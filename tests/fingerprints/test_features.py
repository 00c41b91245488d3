"""The features of a text: its shingles, and what they weigh."""

from hypothesis import given
from hypothesis import strategies as st

from simhash_gate.fingerprints.features import features, shingles
from simhash_gate.fingerprints.words import words


def test_shingles_are_three_words_or_five_characters():
    assert shingles(words("a b c d")) == ["a b c", "b c d"]
    assert shingles(words("一二三四五六")) == ["一 二 三 四 五", "二 三 四 五 六"]
    assert shingles(["short"]) == ["short"]
    assert shingles([]) == []
    assert shingles(words("a b c d"), size=2) == ["a b", "b c", "c d"]
    assert shingles(words("ab cd"), kind="char", char_size=3) == ["ab ", "b c", " cd"]
    assert shingles(words("一二三四"), kind="word", size=2) == ["一 二", "二 三", "三 四"]


@given(st.lists(st.sampled_from(["a", "été", "7", "漢", "か", "𠀋"]), min_size=1))
def test_a_shingle_is_as_long_as_its_first_word_asks_for(tokens):
    sizes = [5 if token in "漢か𠀋" else 3 for token in tokens]
    found = [" ".join(tokens[i : i + n]) for i, n in enumerate(sizes) if i + n <= len(tokens)]
    assert shingles(tokens) == (found or [" ".join(tokens)])


def test_a_phrase_counts_once_however_often_it_comes():
    found = features(words("go on and go on and go on and"))
    assert found == {"go on and": 1.0, "on and go": 1.0, "and go on": 1.0}


def test_stop_words_are_left_out_unless_nothing_is_left():
    assert features(words("the cat and the dog"), stop_words={"the", "and"}) == {"cat dog": 1.0}
    assert features(["the"], stop_words={"the"}) == {"the": 1.0}


def test_a_table_weighs_shingles_by_themselves_or_by_their_words():
    idf = {"a b c": 5.0, "d": 4.0}
    assert features(words("a b c d"), idf=idf) == {"a b c": 5.0, "b c d": 2.0}


@given(st.text())
def test_any_text_has_features_exactly_when_it_has_words(text):
    tokens = words(text)
    assert bool(features(tokens)) == bool(tokens)

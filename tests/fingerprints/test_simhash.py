import mmh3
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_gate.fingerprints.simhash import simhash, simhash_of_set

weighted = st.dictionaries(
    st.text(max_size=8), st.floats(0, 100, allow_nan=False, width=32), max_size=30
)


def by_definition(features):
    """Charikar's votes, one bit and one feature at a time."""
    value = 0
    for bit in range(64):
        vote = 0
        for name, weight in features.items():
            hashed = mmh3.hash64(name.encode(), signed=False)[0]
            vote += round(weight * 1024) * (1 if hashed >> bit & 1 else -1)
        value |= (vote > 0) << bit
    return value


@given(weighted)
def test_it_is_what_the_definition_says(features):
    assert simhash(features) == by_definition(features)


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=2)))
def test_in_a_set_each_feature_counts_once(names):
    assert simhash_of_set(names) == simhash(dict.fromkeys(names, 1.0))


def test_a_set_may_be_large():
    names = [f"feature {n}" for n in range(1000)]
    assert simhash_of_set(names) == by_definition(dict.fromkeys(names, 1.0))


@given(weighted, st.randoms())
def test_order_and_kind_of_input_mean_nothing(features, random):
    pairs = list(features.items())
    random.shuffle(pairs)
    assert simhash(pairs) == simhash(iter(pairs)) == simhash(features)


def test_one_feature_has_its_own_hash():
    assert simhash({"one": 1.0}) == mmh3.hash64("one", signed=False)[0]


def test_no_features_are_zero():
    assert simhash({}) == simhash([]) == 0
    assert simhash({"nothing": 0.0}) == 0


@pytest.mark.parametrize(
    ("features", "expected"),
    [
        ({"a": 1.0, "b": 1.0, "c": 1.0}, "8e18dd65f25b70cf"),
        ({"a": 1.0, "b": 2.5, "漢字": 0.5}, "7a98a957b1d3d1ee"),
    ],
)
def test_values_are_the_same_on_every_platform(features, expected):
    assert f"{simhash(features):016x}" == expected


def test_similar_features_have_near_fingerprints():
    page = {f"shingle {n}": 1.0 for n in range(400)}
    changed = {f"shingle {n}": 1.0 for n in range(4, 404)}
    other = {f"another {n}": 1.0 for n in range(400)}
    assert (simhash(page) ^ simhash(changed)).bit_count() <= 8
    assert (simhash(page) ^ simhash(other)).bit_count() >= 20

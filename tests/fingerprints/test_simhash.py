import mmh3
from hypothesis import example, given
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


@given(weighted, st.randoms())
def test_it_is_what_the_definition_says_in_any_order(features, random):
    pairs = list(features.items())
    random.shuffle(pairs)
    assert simhash(features) == simhash(dict(pairs)) == by_definition(features)


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=2)))
@example([f"feature {n}" for n in range(1000)])
def test_in_a_set_each_feature_counts_once(names):
    assert simhash_of_set(names) == simhash(names) == simhash(dict.fromkeys(names, 1.0))


def test_values_are_the_same_on_every_platform():
    assert f"{simhash({'a': 1.0, 'b': 2.5, '漢字': 0.5}):016x}" == "7a98a957b1d3d1ee"


def test_one_feature_has_its_own_hash_and_none_are_zero():
    assert simhash({"one": 1.0}) == mmh3.hash64("one", signed=False)[0]
    assert simhash({}) == simhash([]) == simhash({"nothing": 0.0}) == 0

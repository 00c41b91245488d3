"""Texts of pages in every store."""

import random

from tests.stores.kept import keep_text, text, texts

PLENTY = 10**9


def test_a_text_is_kept_under_scope_and_digest(store):
    assert text(store, "a", 1) == b""
    keep_text(store, "a", 2**64 - 1, b"\0\xff" * 40_000, 1.0, PLENTY)
    keep_text(store, "b", 2**64 - 1, b"other", 2.5, PLENTY)
    keep_text(store, "\ud800\0", 0, b"third", 3.0, PLENTY)
    assert text(store, "a", 2**64 - 1) == b"\0\xff" * 40_000
    assert text(store, "b", 2**64 - 1) == b"other"
    assert text(store, "\ud800\0", 0) == b"third"
    assert text(store, "a", 0) == b""
    listed = [("\ud800\0", 0, 3.0, 5), ("a", 2**64 - 1, 1.0, 80_000), ("b", 2**64 - 1, 2.5, 5)]
    assert sorted(texts(store), key=lambda it: it[0].encode("utf-8", "replace")) == listed
    assert [*texts(store, "b")] == listed[2:]
    for digest in (0, 2**64 - 1):
        keep_text(store, "a", digest, b"", 0.0, PLENTY)
    assert text(store, "a", 2**64 - 1) == b""
    assert len(texts(store)) == 2


def test_a_text_that_comes_again_takes_its_own_place(store):
    keep_text(store, "a", 1, b"12345", 5.0, PLENTY)
    keep_text(store, "a", 1, b"123", 7.0, PLENTY)
    assert texts(store) == [("a", 1, 7.0, 3)]
    keep_text(store, "a", 2, b"x" * 11, 8.0, 10)  # larger than the budget: nothing is kept
    assert texts(store) == []


def test_the_oldest_texts_of_the_whole_store_go_until_the_budget_is_kept(store):
    """Some that are older come after younger ones, and some come again."""
    chance, kept = random.Random(3), {}
    for number in range(300):
        key = (chance.choice("ab"), chance.randrange(40))
        data, at = bytes(chance.randrange(1, 200)), chance.random() * 100 + number
        budget = 1_000 if number < 250 else 300
        keep_text(store, *key, data, at, budget)
        kept[key] = (at, data)
        found = {its[:2]: its[2:] for its in texts(store)}
        assert found == {key: (kept[key][0], len(kept[key][1])) for key in found}
        assert sum(size for _, size in found.values()) <= budget + budget // 20
        gone = [kept.pop(key)[0] for key in kept.keys() - found.keys()]
        assert max(gone, default=0) <= min((at for at, _ in found.values()), default=at)
        if gone:  # no more than had to
            assert sum(size for _, size in found.values()) > 0.95 * budget - 200
    assert all(text(store, *key) == data for key, (_, data) in kept.items())


def test_many_texts_are_told_once_each(store):
    for digest in range(1_100):
        keep_text(store, "a", digest, b"x", digest, PLENTY)
    assert sorted(digest for _, digest, _, _ in texts(store, "a")) == [*range(1_100)]

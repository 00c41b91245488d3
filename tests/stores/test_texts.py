"""Texts of pages in every store."""

from __future__ import annotations

import random

from simhash_gate.stores.base import KeptText

PLENTY = 10**9


def test_a_text_is_kept_under_scope_and_digest(store):
    assert store.text("a", 1) == b""
    store.keep_text("a", 2**64 - 1, b"\0\xff" * 40_000, 1.0, PLENTY)
    store.keep_text("b", 2**64 - 1, b"other", 2.5, PLENTY)
    store.keep_text("\ud800\0", 0, b"third", 3.0, PLENTY)
    assert store.text("a", 2**64 - 1) == b"\0\xff" * 40_000
    assert store.text("b", 2**64 - 1) == b"other"
    assert store.text("\ud800\0", 0) == b"third"
    assert store.text("a", 0) == b""
    listed = [
        KeptText("\ud800\0", 0, 3.0, 5),
        KeptText("a", 2**64 - 1, 1.0, 80_000),
        KeptText("b", 2**64 - 1, 2.5, 5),
    ]
    assert sorted(store.texts(), key=lambda text: text.scope.encode("utf-8", "replace")) == listed
    assert [*store.texts("b")] == listed[2:]
    assert store.texts_size() == 80_010
    store.sweep()
    store.forget_text("a", 0)
    store.forget_text("a", 2**64 - 1)
    assert (store.text("a", 2**64 - 1), store.texts_size()) == (b"", 10)


def test_a_text_that_comes_again_takes_its_own_place_and_grows_no_older(store):
    store.keep_text("a", 1, b"12345", 5.0, PLENTY)
    store.keep_text("a", 1, b"123", 2.0, PLENTY)
    assert [*store.texts()] == [KeptText("a", 1, 5.0, 3)]
    assert store.texts_size() == 3
    store.keep_text("a", 1, b"1234", 7.0, PLENTY)
    assert [*store.texts()] == [KeptText("a", 1, 7.0, 4)]
    assert store.texts_size() == 4
    store.keep_text("a", 2, b"x" * 11, 8.0, 10)  # larger than the budget: nothing is kept
    assert ([*store.texts()], store.texts_size()) == ([], 0)


def test_the_oldest_texts_of_the_whole_store_go_until_the_budget_is_kept(store):
    """Against a list; older texts come after younger ones, and some come again."""
    chance, kept = random.Random(3), {}
    for number in range(300):
        key = (chance.choice("ab"), chance.randrange(40))
        data, at = bytes(chance.randrange(1, 200)), chance.random() * 100 + number
        budget = 1_000 if number < 250 else 300
        store.keep_text(*key, data, at, budget)
        kept[key] = (max(at, kept.get(key, (at,))[0]), data)
        while sum(len(data) for _, data in kept.values()) > budget:
            del kept[min(kept, key=lambda key: kept[key][0])]
    assert store.texts_size() == sum(len(data) for _, data in kept.values())
    found = {(text.scope, text.digest): (text.at, text.size) for text in store.texts()}
    assert found == {key: (at, len(data)) for key, (at, data) in kept.items()}
    assert all(store.text(*key) == data for key, (_, data) in kept.items())


def test_many_texts_are_told_once_each(store):
    for digest in range(1_100):
        store.keep_text("a", digest, b"x", digest, PLENTY)
    assert sorted(text.digest for text in store.texts("a")) == [*range(1_100)]

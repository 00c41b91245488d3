"""Windows of a store: how many pages count as recent, and how old they may be."""

from contextlib import closing
from dataclasses import replace

from simhash_gate.stores import Window, open_store, sqlite
from tests.stores.kept import by_scope, keep_text, texts

BASE = 0x9E3779B97F4A7C15


def test_a_window_keeps_the_last_pages_of_its_scope_of_whatever_pipeline_version(
    store, make_record
):
    """Whatever times they tell, as those of an archive do."""
    window = Window(pages=3)
    elsewhere = make_record(BASE, scope="other.example")
    store.check_and_add(elsewhere, 0, window=window)
    pages = [
        make_record(number << 20, pipeline=f"v{number % 2}", last_seen=-1e9 * (number % 3))
        for number in range(6)
    ]
    for page in pages:
        assert store.check_and_add(page, 0, window=window).added
    assert by_scope(store.records()) == by_scope([elsewhere, *pages[3:]])
    assert not store.check_and_add(pages[3], 0, window=window).added
    assert store.check_and_add(pages[2], 0, window=window).added
    assert store.check_and_add(pages[2], 0, window=Window(pages=0)).added
    assert [*store.records()] == [elsewhere]


def test_pages_older_than_the_window_are_not_compared_and_evicted_oldest_first(store, make_record):
    old, young = make_record(BASE, last_seen=100.0), make_record(BASE ^ 0xFF00, last_seen=150.0)
    store.check_and_add(old, 3)
    store.check_and_add(young, 3)
    window = Window(seconds=60.0)
    assert not store.check_and_add(make_record(BASE, last_seen=160.0), 3, window=window).added
    page = make_record(BASE, last_seen=160.5)
    assert store.check_and_add(page, 3, window=window).added
    assert [*store.records()] == [young, page]
    old_behind = make_record(~BASE % 2**64, last_seen=50.0)
    store.check_and_add(old_behind, 3)
    page = make_record(~BASE % 2**64, last_seen=160.5)
    assert store.check_and_add(page, 3, window=window).added


def test_the_age_of_a_page_counts_from_the_last_visit_to_its_own_url(store, make_record):
    """Copies under other URLs keep no page alive: the page itself may be long gone."""
    window = Window(seconds=60.0)
    visited, copied, left = (make_record(1 << 20 * at, last_seen=100.0) for at in range(1, 4))
    for page in (visited, copied, left):
        store.check_and_add(page, 0)
    store.update([visited], seen=150.0)
    for at in (120.0, 140.0, 160.0):
        copy = make_record(copied.fingerprint, last_seen=at)
        assert not store.check_and_add(copy, 0, window=window).added
        again = replace(left, first_seen=at, last_seen=at)
        assert not store.check_and_add(again, 0, window=window).added
    late = make_record(copied.fingerprint, last_seen=170.0)
    assert store.check_and_add(late, 0, window=window).added
    for page in (visited, left):
        late = make_record(page.fingerprint, last_seen=170.0)
        match = store.check_and_add(late, 0, window=window).match
        assert match.record.identity == page.identity
    # The first one was seen lately: who stands behind it keeps a place, and is compared with none.
    assert [page.last_seen for page in store.records()] == [150.0, 100.0, 160.0, 170.0]


def test_a_store_in_memory_forgets_the_scopes_whose_last_page_came_longest_ago(
    make_record, monkeypatch
):
    monkeypatch.setattr(sqlite, "MOST_SCOPES", 20)
    monkeypatch.setattr(sqlite, "_AT_ONCE", 10)
    with closing(open_store("memory:")) as store:
        store.begin("run")
        for number in range(60):
            scope = f"site-{number}.example"
            assert store.check_and_add(make_record(number << 20, scope=scope), 3).added
            keep_text(store, scope, number, b"text", 1.0, 1000)
            store.check_and_add(
                make_record(number * 0x9E3779B97F4A7C15 % 2**64, scope="site-0.example"), 3
            )
        known = {record.scope for record in store.records()}
        assert 20 <= len(known) <= 30
        assert {"site-0.example", "site-59.example"} <= known
        assert {scope for scope, *_ in texts(store)} == known
        forgotten = make_record(5 << 20, scope="site-5.example")
        assert store.check_and_add(forgotten, 3).added
        assert not store.check_and_add(forgotten, 3).added

"""The bound of a store in memory."""

from contextlib import closing

from simhash_gate.stores import open_store, sqlite
from tests.stores.kept import keep_text, texts


def test_a_store_in_memory_forgets_scopes_whose_last_page_is_oldest(make_record, monkeypatch):
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

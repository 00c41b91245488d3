"""A PostgreSQL store: whose its tables are, how they are asked, and who may use them."""

from contextlib import closing
from dataclasses import replace
from time import sleep

import psycopg
import pytest

from simhash_gate.stores import StoreError, StoreUnavailable, Window, open_store
from simhash_gate.stores.driver import State
from simhash_gate.stores.postgres import driver_opener
from tests.stores.kept import PageHistory, forget_history, history_of, keep_history
from tests.stores.postgres_server import QUOTED

BASE = 0x9E3779B97F4A7C15


@pytest.fixture
def url(address):
    return address


def test_tables_of_another_application_are_named_and_left_as_they_are(address, admin, schema):
    admin(f"CREATE SCHEMA {schema} AUTHORIZATION crawler")
    admin("CREATE TABLE page (number integer)")
    admin("INSERT INTO page VALUES (7)")
    with pytest.raises(StoreError, match=r"already exists.*another schema") as caught:
        open_store(address)
    assert not isinstance(caught.value, StoreUnavailable)
    tables = "SELECT tablename FROM pg_tables WHERE schemaname = %s"
    assert admin(tables, (schema,)).fetchall() == [("page",)]
    assert admin("SELECT * FROM page").fetchall() == [(7,)]


def test_a_schema_of_a_newer_version_or_without_a_table_is_an_error_that_no_retry_mends(
    address, admin, make_record
):
    with closing(open_store(address)) as store:
        store.begin("run")
        admin("DROP TABLE page CASCADE")
        with pytest.raises(StoreError, match="damaged") as damaged:
            store.check_and_add(make_record(BASE), 3)
    admin("UPDATE simhash_gate_schema SET version = 999")
    with pytest.raises(StoreError, match=r"version 999.*update simhash-gate") as newer:
        open_store(address)
    for caught in (damaged, newer):
        assert not isinstance(caught.value, StoreUnavailable)


def test_commits_are_awaited_where_the_url_says_so_and_where_it_counts(
    postgresql_server, schema, monkeypatch
):
    # Whatever the server takes for an isolation level by default.
    monkeypatch.setenv("PGOPTIONS", "-c default_transaction_isolation=serializable")
    for durable, expected in (("false", "off"), ("true", "on")):
        url = postgresql_server.url_with(schema=schema, durable=durable)
        with closing(driver_opener(url)()) as driver:
            assert driver._rows("SHOW synchronous_commit")[0][0] == expected
            assert driver._rows("SHOW transaction_isolation")[0][0] == "read committed"


def test_no_lookup_reads_a_whole_table(store, schema, postgresql_server, admin, make_record):
    """Or each page would cost more than the one before; the planner knows of an empty table."""
    admin("ANALYZE")
    for number in range(40):
        page = make_record(number << 30)
        for exact in (False, True):
            store.check_and_add(page, 3, near=8, exact=exact, window=Window(pages=20))
        keep_history(store, PageHistory(page.scope, page.key, "u", page.run, 1.0, b"said"))
        history_of(store, page.scope, page.key, page.run)
        store.update([page], settled=True, durable=True)
        store.update([page], seen=1e9)
        store.forget(page)
        forget_history(store, page.scope, page.key, page.run)
    store.end("run")
    store.close()  # its session tells what it has read
    read = """SELECT relname, seq_tup_read, idx_scan > 0 FROM pg_stat_user_tables
        WHERE schemaname = %s AND relname IN ('page', 'blob') ORDER BY 1"""
    assert postgresql_server.admin(read, schema) == [("blob", 0, True), ("page", 0, True)]


def test_near_duplicates_are_found_in_sql(store, admin, make_record):
    near, other = make_record(BASE ^ 0b1111), make_record(~BASE % 2**64)
    for page in (make_record(BASE), near, other, make_record(BASE, scope="b")):
        store.check_and_add(page, 0)
    asked = f"{BASE:016x}"
    found = """SELECT hamming_distance(fingerprint, %s) AS distance, url FROM kept_page
        WHERE scope = 'example.com' AND hamming_distance(fingerprint, %s) <= %s ORDER BY 1"""
    assert admin(found, (asked, asked, 3)).fetchall() == [(0, f"https://example.com/{BASE:x}")]
    assert [distance for distance, _ in admin(found, (asked, asked, 5))] == [0, 4]
    row = admin("SELECT scope, fingerprint, run, title FROM kept_page WHERE scope = 'b'")
    assert row.fetchall() == [("b", asked, "run", "Title")]


def test_a_page_whose_texts_postgresql_can_not_have_hides_no_other(store, admin, make_record):
    pages = [
        make_record(BASE),
        replace(make_record(7), title="a\0b"),
        replace(make_record(8 << 20), title="a\ud800"),
        make_record(9 << 40, scope="bad\ud800.example"),
    ]
    for page in pages:
        assert store.check_and_add(page, 0).added
    rows = admin("SELECT fingerprint, title, scope FROM kept_page ORDER BY id").fetchall()
    assert rows == [
        (f"{BASE:016x}", "Title", "example.com"),
        (f"{7:016x}", None, "example.com"),
        (f"{8 << 20:016x}", None, "example.com"),
        (f"{9 << 40:016x}", "Title", None),
    ]


def test_what_counts_for_later_runs_is_on_disk_when_the_store_says_so(store, admin, make_record):
    ask = "SELECT pg_current_wal_insert_lsn() > pg_current_wal_flush_lsn()"
    before, after = [], []  # whether something is in memory only
    for number in range(1, 9):
        page = make_record(number << 30, run=f"run {number}")
        store.begin(page.run)
        store.check_and_add(page, None)
        before += admin(ask).fetchone()
        if number % 2:
            store.update([page], durable=True)
        else:
            store.end(page.run)
        after += admin(ask).fetchone()
    # The server writes by itself now and then, before a commit or after it.
    assert before.count(True) >= 6
    assert after.count(True) <= 1


def test_who_may_not_log_in_or_make_a_schema_is_told_what_no_retry_mends(
    postgresql_server, address, schema
):
    postgresql_server.admin("CREATE ROLE guest LOGIN PASSWORD 'x'")
    for right, wrong, why in (
        (QUOTED, "wrong", "password authentication failed"),
        ("crawler:", "nobody:", "authentication failed"),
        ("/pages?", "/other?", "does not exist"),
        (f"crawler:{QUOTED}", "guest:x", f"permission denied.*{schema}"),
    ):
        with pytest.raises(StoreError, match=why) as caught:
            open_store(address.replace(right, wrong))
        assert not isinstance(caught.value, StoreUnavailable)


def test_a_statement_that_waits_too_long_is_ended_and_worth_another_try(
    store, address, postgresql_server, schema, make_record
):
    with closing(open_store(f"{address}&timeout=0.5")) as late:
        late.begin("late")
        with psycopg.connect(postgresql_server.url) as other:
            other.execute(f"LOCK TABLE {schema}.page")
            with pytest.raises(StoreUnavailable, match="statement timeout"):
                late.check_and_add(make_record(BASE, run="late"), 3)
        assert late.check_and_add(make_record(BASE, run="late"), 3).added


@pytest.mark.parametrize("others", [(), ("small.example",)])
def test_of_a_large_table_only_what_is_new_is_read(address, schema, admin, make_record, others):
    """Whatever the server knows of the table: so there are statistics of it."""
    with closing(open_store(address)) as store:
        store.begin("run")
        for number in range(30):
            for scope in ("large.example", *others):
                page = make_record(number * BASE % 2**64, scope=scope)
                assert store.check_and_add(page, None).added
        store.end("run")
    scope = f"(SELECT id FROM {schema}.scope WHERE name = 'large.example'::bytea)"
    columns = f"nextval('{schema}.number'), scope, run, mark, last_seen, gave, head, body"
    admin(
        f"INSERT INTO {schema}.page SELECT {columns} FROM {schema}.page"
        f" CROSS JOIN generate_series(1, 3000) WHERE scope = {scope}"
    )
    admin(f"UPDATE {schema}.scope SET last = nextval('{schema}.number') WHERE id = {scope}")
    admin(f"ANALYZE {schema}.page, {schema}.scope")

    def read():
        """Return how many rows of pages were read, once all connections have told."""
        table = f"WHERE schemaname = '{schema}' AND relname = 'page'"
        told = [None]
        while len(told) < 5 or len({*told[-5:]}) > 1:
            sleep(0.05)
            ask = f"SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_user_tables {table}"
            told += admin(ask).fetchone()
        return told[-1]

    before = read()
    scope, window = ([*others] or ["large.example"])[0], Window(pages=10**6)
    with closing(open_store(address)) as one, closing(open_store(address)) as other:
        for number, (store, run) in enumerate([(one, "one"), (other, "other")] * 10):
            if number < 2:
                store.begin(run)
            met = make_record(0, scope=scope, run=run)
            assert store.check_and_add(met, 0, window=window).match.record.scope == scope
            new = make_record(number + 1, scope=scope, run=run)
            assert store.check_and_add(new, 0, window=window).added
    met = 2 * 30 if others else 2 * 90_030
    assert met <= read() - before < met + 2_000


@pytest.mark.parametrize("reached", [32_000, 2**31 - 1_000])
def test_numbers_of_any_size_are_asked_for_together(store, schema, admin, make_record, reached):
    alike = []
    for start in (1, reached, reached + 2_000, 2**40):
        admin(f"SELECT setval('{schema}.number', {start})")
        for bit in range(3):
            page = make_record(BASE ^ 1 << bit, title=f"{start}")
            assert store.check_and_add(page, None).added
            alike.append(page)
            assert store.check_and_add(make_record(BASE), 3, alike[:-1]).match.record == page
            assert not store.check_and_add(make_record(BASE), 3).added
    store.update(alike, settled=True, seen=1e9)
    assert all(record.settled for record in store.records())
    assert [store.forget(page) for page in alike] == [True] * len(alike)


def test_a_large_number_is_asked_for_after_a_small_one(store):
    # One statement twice in a row: psycopg then takes the types of the first time.
    for number in (1, 40_000, 2**40):
        store.driver.change("example.com", [number], 1, 0.0)
        assert store.driver.load(State("example.com"), [number]) == (None, [None])

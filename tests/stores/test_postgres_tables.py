"""The tables of a PostgreSQL store: schema and versions, leases, plans, questions in SQL."""

from __future__ import annotations

import random
import threading
from contextlib import closing
from dataclasses import replace
from importlib.resources import files

import psycopg
import pytest

from simhash_gate.stores import (
    Answer,
    PageHistory,
    StoreError,
    StoreUnavailable,
    Window,
    open_store,
)
from simhash_gate.stores.postgres import PostgresStore

BASE = 0x9E3779B97F4A7C15


def expire(admin, run):
    """Let the lease of a run have run out."""
    done = admin("UPDATE run SET expires = now() - interval '1 minute' WHERE name = %s", (run,))
    assert done.rowcount == 1


def test_tables_of_another_application_are_named_and_left_as_they_are(address, admin, schema):
    admin(f"CREATE SCHEMA {schema} AUTHORIZATION crawler")
    admin("CREATE TABLE page (number integer)")
    admin("INSERT INTO page VALUES (7)")
    for _ in range(2):
        with pytest.raises(StoreError, match=r"already exists.*another schema") as caught:
            open_store(address)
        assert not isinstance(caught.value, StoreUnavailable)
    tables = "SELECT tablename FROM pg_tables WHERE schemaname = %s"
    assert admin(tables, (schema,)).fetchall() == [("page",)]
    assert admin("SELECT * FROM page").fetchall() == [(7,)]


def test_a_schema_of_a_newer_version_is_named_and_left_as_it_is(address, admin):
    open_store(address).close()
    admin("UPDATE simhash_gate_schema SET version = 999")
    with pytest.raises(StoreError, match=r"version 999.*update simhash-gate") as caught:
        open_store(address)
    assert not isinstance(caught.value, StoreUnavailable)


def test_a_schema_of_the_first_version_is_migrated_with_its_pages(
    server, address, admin, schema, make_record
):
    page = make_record(BASE, run="old", first_seen=1.0, last_seen=1.0)
    stored = (page.scope, page.url, page.request, BASE - 2**64, page.digest - 2**64, page.title)
    with psycopg.connect(server.url, autocommit=True) as old:
        old.execute(f"CREATE SCHEMA {schema}")
        old.execute(f"SET search_path = {schema}")
        old.execute(
            files("simhash_gate.stores.postgres").joinpath("schema_001.sql").read_text("utf-8")
        )
        old.execute("CREATE TABLE simhash_gate_schema AS SELECT 1 AS version")
        old.execute("SELECT begin_run('old', 1, '1 hour'), pipeline_id('v1')")
        added = old.execute(
            "SELECT outcome FROM check_and_add(1, %s, 1, %s, %s, %s, %s, 100, %s, 1.0, 1.0, '',"
            " false, 3, 8, false, false, 10000, '-infinity')",
            stored,
        ).fetchone()
        assert added == ("added",)
        old.execute("SELECT end_run(1)")
    with closing(open_store(address)) as store:
        settled = replace(page, settled=True)
        assert [*store.records()] == [settled]
        store.begin("run")
        again = make_record(BASE, request=page.request, last_seen=2.0)
        assert store.check_and_add(again, 3).match.record == replace(settled, last_seen=2.0)
    assert admin("SELECT version FROM simhash_gate_schema").fetchall() == [(8,)]


def test_a_schema_of_the_sixth_version_keeps_its_pages_and_takes_histories(
    server, address, admin, schema, make_record
):
    folder = files("simhash_gate.stores.postgres")
    with psycopg.connect(server.url, autocommit=True) as old:
        old.execute(f"CREATE SCHEMA {schema}")
        old.execute(f"SET search_path = {schema}")
        for number in range(1, 7):
            old.execute(folder.joinpath(f"schema_00{number}.sql").read_text("utf-8"))
        old.execute("CREATE TABLE simhash_gate_schema AS SELECT 6 AS version")
        for run in ("'dead', 1, '-1 hour'", "'old', 2, '1 hour'"):
            old.execute(f"SELECT begin_run({run}), pipeline_id('v1')")
        old.execute(
            "SELECT check_and_add(2, 'example.com', 1, 'u', 'r', 7, 7, 100, 't', 1.0, 1.0, '',"
            " false, 3, 8, 10000, '-infinity')"
        )
        old.execute("SELECT end_run(2), keep_url_rules('example.com', 'x')")
    with closing(open_store(address)) as store:
        assert [page.url for page in store.records()] == ["u"]
        assert store.url_rules("example.com") == b"x"
        store.begin("run")
        history = PageHistory("example.com", "r", "u", "run", 3.0, b"said")
        store.keep_history(history)
        store.keep_text("example.com", 7, b"text", 3.0, 100)
        store.see(next(store.records()), 5.0)
        store.end("run")
        assert [*store.histories()] == [history]
        assert [page.last_seen for page in store.records()] == [5.0]
        assert store.texts_size() == 4


def test_a_schema_that_lost_a_table_is_an_error_that_no_retry_mends(address, admin, make_record):
    with closing(open_store(address)) as store:
        store.begin("run")
        admin("DROP TABLE page CASCADE")
        with pytest.raises(StoreError, match="damaged") as caught:
            store.check_and_add(make_record(BASE), 3)
        assert not isinstance(caught.value, StoreUnavailable)


def test_pages_of_another_pipeline_version_stay_and_are_not_compared(address, make_record):
    old = make_record(BASE, run="old", pipeline="v1")
    with closing(open_store(address)) as store:
        store.begin("old")
        store.check_and_add(old, 3)
        store.end("old")
    with closing(open_store(address)) as store:
        store.begin("run")
        new = make_record(BASE, pipeline="v2")
        assert store.check_and_add(new, 3, near=8) == Answer(True, None)
        assert [record.pipeline for record in store.records()] == ["v1", "v2"]


def test_crawlers_that_start_at_once_make_one_schema(address, make_record):
    barrier = threading.Barrier(20)
    kept, failed = [], []

    def start(number):
        barrier.wait()
        try:
            with closing(open_store(address)) as store:
                store.begin(f"run {number}")
                page = make_record(BASE, run=f"run {number}")
                kept.append(store.check_and_add(page, 3).added)
                store.end(f"run {number}")
        except StoreError as error:
            failed.append(error)

    threads = [threading.Thread(target=start, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert sum(kept) == 1


def test_a_run_whose_lease_ran_out_counts_no_more_and_is_removed(address, admin, make_record):
    with closing(open_store(address)) as store, closing(open_store(address)) as dead:
        store.begin("run")
        dead.begin("dead")
        pages = [make_record(n << 30, scope=f"{n % 3}.example", run="dead") for n in range(30)]
        for page in pages:
            dead.check_and_add(page, 0)
        assert not store.check_and_add(replace(pages[0], run="run"), 3).added
        dead.settle(pages[:1], durable=True)
        expire(admin, "dead")
        again = replace(pages[1], run="run")
        assert store.check_and_add(again, 3) == Answer(True, None)
        assert store.current(pages[2]) is None
        assert [*store.records()] == [replace(pages[0], settled=True, last_seen=1.0), again]
        store.renew("run")
        assert admin("SELECT count(*) FROM page").fetchone() == (2,)
        assert admin("SELECT sum(kept) FROM scope").fetchone() == (2,)


def test_the_histories_of_a_run_whose_lease_ran_out_are_removed(address, admin):
    with closing(open_store(address)) as store, closing(open_store(address)) as dead:
        store.begin("run")
        dead.begin("dead")
        for number in range(1_200):
            page = PageHistory(f"{number % 3}", f"{number}", "u", "dead", 1.0, b"said")
            dead.keep_history(page)
        expire(admin, "dead")
        assert [*store.histories()] == []
        store.renew("run")
        assert admin("SELECT count(*) FROM history").fetchone() == (0,)
        dead.keep_history(page)  # it slept: its run is announced again
        dead.end("dead")
        assert [*store.histories()] == [page]


def test_a_run_that_slept_past_its_lease_goes_on(address, admin, make_record):
    with closing(open_store(address)) as store, closing(open_store(address)) as other:
        store.begin("run")
        store.check_and_add(make_record(BASE), 3)
        for removes in (False, True):
            expire(admin, "run")
            if removes:
                other.begin("other")
            assert store.check_and_add(make_record(BASE + removes), 3).added == removes
            store.renew("run")
        store.end("run")
        assert [record.run for record in other.records()] == ["run"]


def test_a_lease_is_as_long_as_the_url_says(server, schema, admin):
    with closing(open_store(server.url_with(schema=schema, lease="300"))) as store:
        store.begin("run")
        left = "SELECT extract(epoch FROM expires - clock_timestamp()) FROM run"
        assert 250 < admin(left).fetchone()[0] <= 300


def test_commits_are_awaited_where_the_url_says_so_and_where_it_counts(server, schema):
    for durable, expected in (("false", "off"), ("true", "on")):
        url = server.url_with(schema=schema, durable=durable)
        with closing(PostgresStore(url)) as store:
            assert store._value("SHOW synchronous_commit", ()) == expected


def test_many_evicted_pages_are_not_passed_over_again(address, admin, make_record):
    """The oldest page is found from where the last one was removed, not from the very first."""
    window = Window(pages=5)
    with closing(open_store(address)) as store:
        store.begin("run")
        pages = [make_record(number << 30) for number in range(50)]
        for page in pages:
            store.check_and_add(page, 0, window=window)
        assert [*store.records()] == pages[-5:]
        (evicted,) = admin("SELECT evicted FROM scope").fetchone()
        (oldest,) = admin("SELECT min(id) FROM page").fetchone()
        assert evicted == oldest - 1


@pytest.mark.parametrize("pages", [0, 2_000])
def test_no_lookup_reads_a_table_from_end_to_end(
    address, schema, server, admin, make_record, pages
):
    """Whatever the planner knew of the table when the session began."""
    chance = random.Random(5)
    with closing(open_store(address)) as store:
        store.begin("run")
        for _ in range(pages):
            store.check_and_add(make_record(chance.getrandbits(64)), None)
    admin("ANALYZE")
    with closing(open_store(address)) as store:
        store.begin("second")
        window = Window(pages=100)
        for _ in range(300):
            page = make_record(chance.getrandbits(64), run="second")
            store.check_and_add(page, chance.choice([0, 3, 5, 9]), near=8, window=window)
            store.check_and_add(replace(page, digest=0), 0, exact=True, window=window)
            store.settle([page])
            store.see(page, 1e9)
            store.forget(page)
        store.end("second")
    read = """SELECT seq_tup_read, idx_scan > 0 FROM pg_stat_user_tables
        WHERE schemaname = %s AND relname = 'page'"""
    assert server.admin(read, schema) == [(0, True)]


@pytest.mark.parametrize("pages", [0, 1_500])
def test_no_lookup_reads_more_histories_than_those_of_its_page(
    address, schema, server, admin, make_record, pages
):
    def visit(run, number):
        return PageHistory("example.com", f"{number:040x}", "u", run, float(number), b"said")

    with closing(open_store(address)) as store:
        store.begin("old")
        for number in range(pages):
            store.keep_history(visit("old", number))
        store.end("old")
    admin("ANALYZE")
    with closing(open_store(address)) as store:
        store.begin("run")
        for number in range(200):
            store.keep_history(visit("run", number))
            store.history("example.com", f"{number:040x}", "run")
            page = make_record(1, request=f"{number:040x}")
            store.settle([page], durable=True)
            store.forget_history("example.com", page.request, "run")
        store.end("run")
    read = """SELECT seq_tup_read, idx_tup_fetch < 20 * 200 FROM pg_stat_user_tables
        WHERE schemaname = %s AND relname = 'history'"""
    assert server.admin(read, schema) == [(0, True)]
    read = """SELECT sum(idx_tup_read) < 20 * 200 FROM pg_stat_user_indexes
        WHERE schemaname = %s AND relname = 'history'"""
    assert server.admin(read, schema) == [(True,)]


def test_near_duplicates_are_found_in_sql(address, admin, make_record):
    with closing(open_store(address)) as store:
        store.begin("run")
        near, other = make_record(BASE ^ 0b1111), make_record(~BASE % 2**64)
        for page in (make_record(BASE), near, other, make_record(BASE, scope="b")):
            store.check_and_add(page, 0)
        found = "SELECT distance, url FROM near_duplicates(%s, 'example.com', %s)"
        asked = f"{BASE:016x}"
        assert admin(found, (asked, 3)).fetchall() == [(0, f"https://example.com/{BASE:x}")]
        assert [distance for distance, _ in admin(found, (asked, 5))] == [0, 4]
        pairs = "SELECT scope, distance, url, near_url FROM near_duplicate_pages ORDER BY url"
        assert admin(pairs).fetchall() == [
            ("example.com", 4, f"https://example.com/{a:x}", f"https://example.com/{b:x}")
            for a, b in sorted([(BASE, near.fingerprint), (near.fingerprint, BASE)])
        ]
        row = admin("SELECT scope, fingerprint, run, title FROM kept_page WHERE scope = 'b'")
        assert row.fetchall() == [("b", asked, "run", "Title")]


def test_a_sweep_leaves_no_row_of_what_is_gone(address, admin, make_record):
    with closing(open_store(address)) as store:
        for run in ("first", "second", "live"):
            store.begin(run)
            page = make_record(BASE, scope=run, run=run)
            store.check_and_add(page, 3)
            store.keep_site_memory(run, b"a")
            if run == "second":
                store.forget(page)
        store.end("first")
        store.end("second")
        store.sweep()
        assert admin("SELECT name FROM scope ORDER BY 1").fetchall() == [("first",), ("live",)]
        assert admin("SELECT name FROM run ORDER BY 1").fetchall() == [("first",), ("live",)]
        assert admin("SELECT count(*) FROM site_memory").fetchall() == [(2,)]

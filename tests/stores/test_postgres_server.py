"""A server of PostgreSQL: who may use it, and how its deaths are survived."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import psycopg
import pytest

from simhash_gate.stores import Answer, StoreError, StoreUnavailable, open_store
from tests.stores.postgres_server import QUOTED, running

BASE = 0x9E3779B97F4A7C15


@pytest.fixture
def mortal():
    """A server of one test, which may kill it."""
    with running() as server:
        yield server


@pytest.mark.parametrize(
    ("right", "wrong", "why"),
    [
        (QUOTED, "wrong", "password authentication failed"),
        ("crawler:", "nobody:", "authentication failed"),
        ("/pages?", "/other?", "does not exist"),
    ],
)
def test_a_wrong_login_or_database_is_an_error_that_no_retry_mends(
    postgresql_server, right, wrong, why
):
    with pytest.raises(StoreError, match=why) as caught:
        open_store(postgresql_server.url.replace(right, wrong))
    assert not isinstance(caught.value, StoreUnavailable)


def test_a_user_who_may_not_create_a_schema_is_told(postgresql_server, schema):
    postgresql_server.admin("CREATE ROLE guest LOGIN PASSWORD 'x'")
    with pytest.raises(StoreError, match=f"permission denied.*{schema}"):
        open_store(postgresql_server.url_with(user="guest", password="x", schema=schema))


def test_a_server_killed_and_started_again_costs_the_calls_in_between(mortal, make_record):
    with closing(open_store(mortal.url)) as store:
        store.begin("run")
        kept, page = make_record(BASE), make_record(~BASE % 2**64)
        assert store.check_and_add(kept, 3).added
        store.end("run")  # is on disk from here on
        store.begin("second")
        mortal.crash()
        for _ in range(3):
            with pytest.raises(StoreUnavailable, match="PostgreSQL store"):
                store.check_and_add(replace(page, run="second"), 3)
        with pytest.raises(StoreUnavailable, match="PostgreSQL store"):
            store.renew("second")
        mortal.start()
        again = replace(kept, run="second")
        assert store.check_and_add(again, 3).match.record.identity == kept.identity
        assert store.check_and_add(replace(page, run="second"), 3).added
        store.renew("second")
        store.end("second")
        assert [record.run for record in store.records()] == ["run", "second"]


def test_a_server_that_comes_back_empty_is_made_ready_and_told_of_the_run(
    address, admin, schema, make_record
):
    with closing(open_store(address)) as store:
        store.begin("run")
        for version in ("v1", "v2"):
            store.check_and_add(make_record(BASE, pipeline=version), 3)
        admin(f"DROP SCHEMA {schema} CASCADE")
        admin("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'crawler'")
        # The new tables number the versions in another order.
        pages = [make_record(BASE, pipeline=version) for version in ("v2", "v1")]
        with pytest.raises(StoreUnavailable):
            store.check_and_add(pages[0], 3)
        for page in pages:
            assert store.check_and_add(page, 3) == Answer(True, None)
        store.end("run")
        assert [*store.records()] == [replace(page, settled=True) for page in pages]


def test_a_statement_that_waits_too_long_is_ended_and_worth_another_try(
    postgresql_server, schema, make_record
):
    open_store(postgresql_server.url_with(schema=schema)).close()  # which may take longer
    with closing(open_store(postgresql_server.url_with(schema=schema, timeout="0.5"))) as store:
        store.begin("run")
        assert store.check_and_add(make_record(BASE), 3).added
        with psycopg.connect(postgresql_server.url) as other:
            other.execute(f"LOCK TABLE {schema}.page")
            with pytest.raises(StoreUnavailable, match="statement timeout"):
                store.check_and_add(make_record(~BASE % 2**64), 3)
        assert store.check_and_add(make_record(~BASE % 2**64), 3).added

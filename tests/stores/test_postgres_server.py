"""A server of PostgreSQL: how it is reached, and how its deaths and its network are survived."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import psycopg
import pytest

from benchmarks.proxy import Proxy
from simhash_gate.stores import Answer, StoreError, StoreUnavailable, open_store
from tests.stores.ports import free_port
from tests.stores.postgres_server import QUOTED, running

BASE = 0x9E3779B97F4A7C15


@pytest.fixture
def mortal():
    """A server of one test, which may kill it."""
    with running() as server:
        yield server


@pytest.fixture
def proxy(server):
    proxy = Proxy(server.port)
    yield proxy
    proxy.close()


def test_a_server_that_is_down_at_the_start_is_named_and_worth_another_try(server):
    port = free_port()
    with pytest.raises(StoreUnavailable, match=f"127.0.0.1:{port}.*down") as caught:
        open_store(server.url_with(port=port))
    assert "pass" not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("right", "wrong", "why"),
    [
        (QUOTED, "wrong", "password authentication failed"),
        ("crawler:", "nobody:", "authentication failed"),
        ("/pages?", "/other?", "does not exist"),
    ],
)
def test_a_wrong_login_or_database_is_an_error_that_no_retry_mends(server, right, wrong, why):
    with pytest.raises(StoreError, match=why) as caught:
        open_store(server.url.replace(right, wrong))
    assert not isinstance(caught.value, StoreUnavailable)


def test_a_user_who_may_not_create_a_schema_is_told(server, schema):
    server.admin("CREATE ROLE guest LOGIN PASSWORD 'x'")
    with pytest.raises(StoreError, match=f"permission denied.*{schema}"):
        open_store(server.url_with(user="guest", password="x", schema=schema))


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
        store.check_and_add(make_record(BASE), 3)
        admin(f"DROP SCHEMA {schema} CASCADE")
        admin("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'crawler'")
        page = make_record(BASE)
        with pytest.raises(StoreUnavailable):
            store.check_and_add(page, 3)
        assert store.check_and_add(page, 3) == Answer(True, None)
        store.end("run")
        assert [*store.records()] == [replace(page, settled=True)]


def test_a_slow_network_is_waited_for_and_a_reply_that_never_comes_is_given_up(
    server, proxy, schema, make_record
):
    open_store(server.url_with(schema=schema)).close()  # which may take longer
    url = server.url_with(port=proxy.port, schema=schema, timeout="0.5")
    with closing(open_store(url)) as store:
        store.begin("run")
        proxy.delay = 0.1
        assert store.check_and_add(make_record(BASE), 3).added
        proxy.delay, proxy.swallow = 0.0, True
        with pytest.raises(StoreUnavailable, match="no answer within"):
            store.check_and_add(make_record(~BASE % 2**64), 3)
        proxy.swallow = False
        assert store.check_and_add(make_record(BASE ^ 0xFFFF), 3).added


@pytest.mark.parametrize("after", [0, 1, 40])
def test_a_connection_cut_in_mid_reply_costs_one_call(server, proxy, schema, make_record, after):
    with closing(open_store(server.url_with(port=proxy.port, schema=schema))) as store:
        store.begin("run")
        page = make_record(BASE)
        proxy.cut_after = after
        with pytest.raises(StoreUnavailable, match="PostgreSQL store"):
            store.check_and_add(page, 3)
        # Whether it was added, nobody can know; whoever is told must be told of that very page.
        answer = store.check_and_add(make_record(BASE), 3)
        assert answer.added or answer.match.record.identity == page.identity
        assert len([*store.records()]) == 1
        store.end("run")


def test_a_begin_and_an_end_whose_replies_were_cut_can_be_said_again(server, proxy, schema):
    with closing(open_store(server.url_with(port=proxy.port, schema=schema))) as store:
        for call in (lambda: store.begin("run"), lambda: store.end("run")):
            proxy.cut_after = 0
            with pytest.raises(StoreUnavailable):
                call()
            call()
        with pytest.raises(StoreError, match="new name"):
            store.begin("run")


def test_a_statement_that_waits_too_long_is_ended_and_worth_another_try(
    server, schema, make_record
):
    open_store(server.url_with(schema=schema)).close()  # which may take longer
    with closing(open_store(server.url_with(schema=schema, timeout="0.5"))) as store:
        store.begin("run")
        assert store.check_and_add(make_record(BASE), 3).added
        with psycopg.connect(server.url) as other:
            other.execute(f"LOCK TABLE {schema}.page")
            with pytest.raises(StoreUnavailable, match="statement timeout"):
                store.check_and_add(make_record(~BASE % 2**64), 3)
        assert store.check_and_add(make_record(~BASE % 2**64), 3).added

"""A server of PostgreSQL: who may use it."""

from __future__ import annotations

from contextlib import closing

import psycopg
import pytest

from simhash_gate.stores import StoreError, StoreUnavailable, open_store
from tests.stores.postgres_server import QUOTED

BASE = 0x9E3779B97F4A7C15


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

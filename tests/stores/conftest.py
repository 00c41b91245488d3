"""Stores, pages and crawlers for the suites of this room."""

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from simhash_gate.stores import Record, open_store
from tests.stores.kept import sqlite_store
from tests.stores.store_urls import STORES, url_maker

CRAWLER = Path(__file__).with_name("crawler_process.py")
ROOT = Path(__file__).parents[2]


@pytest.fixture(params=STORES)
def new_url(request):
    return url_maker(request, request.param)


@pytest.fixture
def url(new_url, tmp_path):
    return new_url(tmp_path)


@pytest.fixture
def empty_url(new_url, tmp_path, request):
    """As `new_url`; that of PostgreSQL is one schema, emptied each time: to make one takes long."""
    url = new_url(tmp_path)
    schema = url.partition("&schema=")[2]
    if not schema:
        return new_url
    open_store(url).close()
    admin = request.getfixturevalue("postgresql_server").admin
    filled = "'simhash_gate_schema'"
    tables = admin(
        f"SELECT tablename FROM pg_tables WHERE schemaname = %s AND tablename NOT IN ({filled})",
        schema,
    )

    def make(_folder):
        admin("".join(f'DELETE FROM "{schema}".{table};' for (table,) in tables))
        return url

    return make


@pytest.fixture
def store(url):
    with closing(open_store(url)) as store:
        store.begin("run")
        yield store


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.sqlite"


@pytest.fixture
def make_record():
    """Make records that differ in what is named; times count up by themselves."""
    clock = iter(range(1, 10**9))

    def make(fingerprint, **named):
        now = float(next(clock))
        fields = {
            "scope": "example.com",
            "url": f"https://example.com/{fingerprint:x}",
            "key": f"{int(now):040x}",
            "fingerprint": fingerprint,
            "digest": fingerprint,
            "words": 100,
            "title": "Title",
            "pipeline": "v1",
            "run": "run",
            "first_seen": now,
            "last_seen": now,
        }
        return Record(**fields | named)

    return make


@pytest.fixture
def filled(path, make_record):
    """The path of a database with some hundred pages."""
    with closing(sqlite_store(path)) as store:
        store.begin("run")
        for number in range(300):
            store.check_and_add(make_record(number << 30, title="word " * 50), 0)
        store.end("run")
    return path


@pytest.fixture
def crawler():
    """Start crawlers in processes of their own; all of them are gone after the test."""
    started = []

    def start(*arguments):
        process = subprocess.Popen(
            [sys.executable, str(CRAWLER), *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


@pytest.fixture
def schema(tmp_path):
    """The PostgreSQL schema of a test."""
    return f"s{abs(hash(tmp_path)):x}"


@pytest.fixture
def address(postgresql_server, schema):
    """The URL of a store in that schema."""
    return postgresql_server.url_with(schema=schema)


@pytest.fixture
def admin(postgresql_server, schema):
    """Run statements as superuser, in that schema."""
    with psycopg.connect(
        postgresql_server.url_with(user="postgres"), autocommit=True
    ) as connection:
        connection.execute(f"SET search_path = {schema}")
        yield connection.execute

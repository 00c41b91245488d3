"""Runs in every store: whose records count, when they are settled, what a death leaves."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from simhash_gate.stores import Answer, StoreError, open_store, read_store
from simhash_gate.stores.base import SITE_MEMORY, SITE_NOTES
from tests.stores.kept import (
    PageHistory,
    forget_history,
    history_of,
    keep,
    keep_history,
    keep_text,
    text,
)

URL_RULES = "rules"  # a kind of blobs that another package keeps

BASE = 0x9E3779B97F4A7C15


def test_a_run_lives_from_begin_to_end_and_once(store, make_record):
    store.begin("second")
    store.begin("run")  # it is told again
    assert store.is_live("run")
    assert "run" not in store.lost
    for name in ("unknown", "run"):
        if name == "run":
            store.end("run")
        with pytest.raises(StoreError, match=name):
            store.check_and_add(make_record(BASE, run=name), 3)
        with pytest.raises(StoreError, match=name):
            store.end(name)
        assert not store.is_live(name)
    with pytest.raises(StoreError, match="new name"):
        store.begin("run")
    assert store.is_live("second")
    assert [*store.records()] == []


def test_others_see_that_a_run_is_live_and_that_it_died(lasting_url, make_record):
    with closing(open_store(lasting_url)) as store:
        store.begin("run")
        with closing(open_store(lasting_url)) as other:
            assert other.is_live("run")
            with pytest.raises(StoreError, match="new name"):
                other.begin("run")
            with pytest.raises(StoreError, match="not live here"):
                other.check_and_add(make_record(1), 3)
            other.begin("dead")
            assert store.is_live("dead")
        assert not store.is_live("dead")


def test_a_run_that_died_with_nothing_durable_leaves_nothing_that_counts(lasting_url, make_record):
    for run in ("run", "next"):
        with closing(open_store(lasting_url)) as store:
            assert [*store.records()] == []
            store.begin(run)
            assert store.check_and_add(make_record(BASE, run=run), 3) == Answer(True, None)
            assert history_of(store, "example.com", "ab" * 20, run) == b""
            keep_history(store, PageHistory("example.com", "ab" * 20, "u", run, 1.0, b"said"))


def test_a_death_is_seen_at_the_match_without_a_new_begin(lasting_url, make_record):
    with closing(open_store(lasting_url)) as store, closing(open_store(lasting_url)) as other:
        store.begin("run")
        other.begin("other")
        for bit in range(5):
            other.check_and_add(make_record(1 << bit * 4, run="other"), 0)
        page = make_record(0)
        assert store.check_and_add(page, 3).match.record.run == "other"
        other.close()
        assert store.check_and_add(page, 3, near=8) == Answer(True, None)
        assert [*store.records()] == [page]


@pytest.fixture
def stored(lasting_url, request):
    """Return all that there is of a store where it lasts, in one piece."""
    parts = urlsplit(lasting_url)

    def of_sqlite():
        files = [entry for entry in Path(parts.path[1:]).parent.iterdir() if entry.is_file()]
        return b"".join(file.read_bytes() for file in files)

    def of_redis():
        prefix = parse_qs(parts.query)["prefix"][0]
        with request.getfixturevalue("redis_server").client() as client:
            client.config_set("rdbcompression", "no")
            keys = sorted(client.keys(f"{prefix}*"))
            return b"".join([*keys, *map(client.dump, keys)])

    def of_postgresql():
        schema = parse_qs(parts.query)["schema"][0]
        admin = request.getfixturevalue("postgresql_server").admin
        tables = admin("SELECT tablename FROM pg_tables WHERE schemaname = %s", schema)
        rows = [row for (name,) in tables for row in admin(f'TABLE "{schema}".{name}')]
        return repr(rows).encode()

    return {"sqlite": of_sqlite, "redis": of_redis, "postgresql": of_postgresql}[parts.scheme]


def test_who_reads_a_store_knows_what_counts_there_and_leaves_it_as_it_was(
    lasting_url, stored, make_record
):
    scope = "example.com"
    page, dead = make_record(BASE, digest=7), make_record(~BASE % 2**64, run="dead")
    kinds = (SITE_MEMORY, URL_RULES, SITE_NOTES)

    def keep_all(store, run, what):
        for kind in kinds:
            keep(store, kind, scope, what)
        keep_history(store, PageHistory(scope, page.key, "u", run, 1.0, what))
        keep_text(store, scope, 7, what, 1.0, 100)

    def known(store, run):
        kept = [store.get(kind, scope) for kind in kinds]
        return {*kept, history_of(store, scope, page.key, run), text(store, scope, 7)}

    with closing(read_store(lasting_url)) as reader:
        reader.begin("look")
        assert reader.check_and_add(replace(page, run="look"), 3).added
    with closing(open_store(lasting_url)) as store:
        assert [*store.records()] == []
        for added in (page, dead):
            store.begin(added.run)
            assert store.check_and_add(added, 3).added
        keep_all(store, "run", b"there")
        store.end("run")
    before = stored()
    with closing(read_store(lasting_url)) as reader:
        reader.begin("look")
        assert known(reader, "look") == {b"there"}
        assert [*reader.records()] == [replace(page, settled=True)]
        match = reader.check_and_add(make_record(BASE ^ 1, run="look"), 3).match
        assert match == (replace(page, settled=True), 1)
        assert reader.current(page) == match[0]
        added = replace(dead, run="look", key="ab" * 20)
        assert reader.check_and_add(added, 3).added
        assert reader.check_and_add(replace(added, key="cd" * 20), 3).match.record == added
        keep_all(reader, "look", b"here")
        assert known(reader, "look") == {b"here"}
        assert reader.forget(page)
        reader.end("look")
    assert stored() == before


def test_of_what_was_forgotten_nothing_is_left(lasting_url, stored, make_record):
    """Nor in what SQLite leaves free in its file."""
    words = [f"secret-{what}" for what in ("run", "scope", "url", "title", "note", "text")]
    run, scope, url, title, note, content = words
    with closing(open_store(lasting_url)) as store:
        keep(store, SITE_MEMORY, scope, note.encode() * 1_000)  # before the first page
        store.begin(run)
        pages = [
            make_record(n << 20, url=url, title=title * n, scope=scope, run=run) for n in range(100)
        ]
        for page in pages:
            store.check_and_add(page, 0)
            keep_history(store, PageHistory(scope, page.key, url, run, 1.0, note.encode()))
            keep_text(store, scope, page.digest, content.encode(), 1.0, 10**6)
        keep(store, SITE_NOTES, scope, note.encode() * 1_000)
        store.end(run)
    kept = stored()
    assert [word for word in words if word.encode() in kept] == words
    with closing(open_store(lasting_url)) as store:
        for page in pages:
            assert store.forget(page)
            forget_history(store, scope, page.key)
            keep_text(store, scope, page.digest, b"", 0.0, 10**6)
        for kind in (SITE_NOTES, SITE_MEMORY):
            keep(store, kind, scope, b"")
    kept = stored()
    assert [word for word in words if word.encode() in kept] == []


def test_of_records_with_one_identity_the_latest_is_current(store, make_record):
    """They may differ in the pipeline version, whatever versions were met before."""
    store.check_and_add(make_record(~BASE % 2**64, pipeline="v1"), 0)
    for number, version in enumerate(("v2", "v1")):
        page = make_record(BASE, key="same", pipeline=version, title=f"{number}")
        assert store.check_and_add(page, 0).added
    assert store.current(page) == page

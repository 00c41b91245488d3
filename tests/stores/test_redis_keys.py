"""The keys of a Redis store: whose they are, how they are asked, and what is left of them."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from urllib.parse import quote

import pytest

from simhash_gate.stores import PageHistory, StoreError, StoreUnavailable, Window, open_store

BASE = 0x9E3779B97F4A7C15


@pytest.fixture
def own_url(redis_server, tmp_path):
    return f"{redis_server.url}?prefix={tmp_path}:"


@pytest.mark.parametrize("field", ["", "field", "scope"])
@pytest.mark.parametrize("key", ["scope:{example.com}", "{runs}:leases", "{runs}:ended"])
def test_keys_of_another_application_are_named_and_left_alone(
    redis_server, own_url, tmp_path, make_record, key, field
):
    key = f"{tmp_path}:{key}"
    with redis_server.client() as client, closing(open_store(own_url)) as store:
        client.hset(key, field, "x") if field else client.set(key, "x")
        before = client.dump(key)

        def use():
            store.begin("run")
            store.check_and_add(make_record(BASE), 3)
            store.end("run")

        with pytest.raises(StoreError, match=r"another application.*prefix") as caught:
            use()
        assert not isinstance(caught.value, StoreUnavailable)
        assert client.dump(key) == before


def test_keys_of_others_beside_its_own_do_no_harm(redis_server, own_url, tmp_path, make_record):
    others = {f"{tmp_path}:dupefilter:{number}": b"\xff" for number in range(1_100)}
    with redis_server.client() as client, closing(open_store(own_url)) as store:
        client.mset(others | {f"{tmp_path}:scope:{{another}}": "x"})
        store.begin("run")
        page = make_record(BASE)
        store.check_and_add(page, 3)
        store.sweep()
        assert [*store.records()] == [page]
        assert len(client.keys(f"{tmp_path}:*")) == 1_101 + 3  # the scope, and two of the runs


def test_stores_with_different_prefixes_share_nothing(redis_server, tmp_path, make_record):
    prefixes = [f"{tmp_path}{end}" for end in ("a*b?:", "[x]", "\\", "ü ", "", "axb:xx")]
    for prefix in prefixes:
        with closing(open_store(f"{redis_server.url}?prefix={quote(prefix)}")) as store:
            store.begin("run")
            page = make_record(BASE)
            assert store.check_and_add(page, 3).added
            assert [*store.records()] == [page]
            store.end("run")


def test_a_scope_expires_with_its_window(redis_server, own_url, tmp_path, make_record):
    key = f"{tmp_path}:scope:{{example.com}}"
    with redis_server.client() as client, closing(open_store(own_url)) as store:
        store.begin("run")
        page = make_record(BASE)
        later = replace(page, last_seen=60.0)
        store.check_and_add(page, 3, window=Window(seconds=600))
        assert 600 < client.ttl(key) <= 600 + 3600
        for seen in (lambda: store.see(page, 50.0), lambda: store.check_and_add(later, 3)):
            client.expire(key, 10)
            seen()
            assert 600 < client.ttl(key) <= 600 + 3600
        store.check_and_add(make_record(~BASE % 2**64), 3)
        assert client.ttl(key) == -1


def test_what_is_gone_leaves_no_key_and_all_else_stays(
    redis_server, own_url, tmp_path, make_record
):
    with redis_server.client() as client, closing(open_store(own_url)) as store:
        store.begin("run")
        pages = [make_record(number << 40) for number in range(200)]
        for page in pages:
            store.check_and_add(page, 0)
            store.keep_history(PageHistory(page.scope, page.request, "u", "run", 1.0, b"x"))
        store.keep_site_memory(page.scope, b"a")
        store.keep_site_notes(page.scope, b"{}")
        store.keep_text(page.scope, 7, b"text", 1.0, 100)
        store.end("run")
        store.sweep()
        lasting = {key for key in client.keys(f"{tmp_path}:*") if client.ttl(key) == -1}
        assert len(lasting) == 1 + 2 + 1 + 3 + 2  # of pages, histories, notes, texts and runs
        for page in pages:
            assert store.forget(page)
            store.forget_history(page.scope, page.request)
        store.keep_site_notes(page.scope, b"")
        store.forget_text(page.scope, 7)
        store.sweep()
        assert client.keys(f"{tmp_path}:*") == []


def test_a_crowd_of_fingerprints_is_searched_to_the_last(own_url, make_record):
    """All share the lowest block, so that one bucket holds them all however often it splits."""
    pages = [make_record(number * 0x9E3779B97F5 % 2**48 << 16) for number in range(1_500)]
    with closing(open_store(own_url)) as store:
        store.begin("run")
        for page in pages:
            store.check_and_add(page, None)
        for page in pages[::100]:
            near_by = replace(page, request="x", fingerprint=page.fingerprint ^ 1 << 63)
            assert store.check_and_add(near_by, 1).match.record.fingerprint == page.fingerprint
        for page in pages[:-1]:
            assert store.forget(page)
        assert [*store.records()] == pages[-1:]


def test_scripts_that_the_server_has_lost_are_sent_again(redis_server, own_url, make_record):
    with redis_server.client() as client, closing(open_store(own_url)) as store:
        store.begin("run")
        client.script_flush()
        assert store.check_and_add(make_record(BASE), 3).added

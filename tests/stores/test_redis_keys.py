"""The keys of a Redis store: whose they are, how they are asked, and what is left of them."""

from contextlib import closing
from dataclasses import replace
from urllib.parse import quote

import pytest

from simhash_gate.stores import StoreError, StoreUnavailable, Window, open_store

BASE = 0x9E3779B97F4A7C15


@pytest.fixture
def url(redis_server, tmp_path):
    return f"{redis_server.url}?prefix={tmp_path}:"


@pytest.mark.parametrize(
    ("key", "field"),
    [
        *(("scope:{example.com}", field) for field in ("", "field", "scope")),
        *((f"run{part}:{{{of}}}", "") for part in ("", "-heads") for of in ("live", "ended")),
    ],
)
def test_keys_of_another_application_are_named_and_left_alone(
    redis_server, url, tmp_path, make_record, key, field
):
    key = f"{tmp_path}:{key}"
    with redis_server.client() as client, closing(open_store(url)) as store:
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


def test_stores_share_nothing_with_each_other_nor_with_keys_of_others(
    redis_server, tmp_path, make_record
):
    others = {f"{tmp_path}:dupefilter:{number}": b"\xff" for number in range(1_100)}
    others[f"{tmp_path}:scope:{{another}}"] = b"x"
    with redis_server.client() as client:
        client.mset(others)
        for end in (":", "a*b?:", "[x]", "\\", "ü ", "", "axb:xx"):
            url = f"{redis_server.url}?prefix={quote(f'{tmp_path}{end}')}"
            with closing(open_store(url)) as store:
                store.begin("run")
                page = make_record(BASE)
                assert store.check_and_add(page, 3).added
                assert [*store.records()] == [page]
                store.end("run")
        assert client.mget(others) == [*others.values()]


def test_a_scope_expires_with_its_window(redis_server, url, tmp_path, make_record):
    key = f"{tmp_path}:scope:{{example.com}}"
    with redis_server.client() as client, closing(open_store(url)) as store:
        store.begin("run")
        page = make_record(BASE)
        later = replace(page, last_seen=60.0)
        store.check_and_add(page, 3, window=Window(seconds=600))
        assert 600 < client.ttl(key) <= 600 + 3600
        for seen in (
            lambda: store.update([page], seen=50.0),
            lambda: store.check_and_add(later, 3),
        ):
            client.expire(key, 10)
            seen()
            assert 600 < client.ttl(key) <= 600 + 3600
        store.check_and_add(make_record(~BASE % 2**64), 3)
        assert client.ttl(key) == -1


def test_a_crowd_of_fingerprints_is_searched_to_the_last(store, make_record):
    """All share the lowest block, so that one bucket holds them all however often it splits."""
    pages = [make_record(number * 0x9E3779B97F5 % 2**48 << 16) for number in range(700)]
    for page in pages:
        store.check_and_add(page, None)
    for page in pages[::50]:
        near_by = replace(page, key="x", fingerprint=page.fingerprint ^ 1 << 63)
        assert store.check_and_add(near_by, 1).match.record.fingerprint == page.fingerprint
    for page in pages[:-1]:
        assert store.forget(page)
    assert [*store.records()] == pages[-1:]


def test_a_scope_whose_pages_redis_let_go_begins_anew(redis_server, url, tmp_path, make_record):
    key = f"{tmp_path}:scope:{{example.com}}"
    with redis_server.client() as client, closing(open_store(url)) as store:
        store.begin("run")
        for number in range(2):
            assert store.check_and_add(make_record(BASE, key=f"{number}"), 3).added
            assert client.delete(key) == 1
        assert store.check_and_add(make_record(BASE), 3).added
        assert not store.check_and_add(make_record(BASE), 3).added

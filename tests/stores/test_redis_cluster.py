"""A cluster of Redis: the scripts are those of one server, only the ways to them differ."""

from contextlib import closing
from dataclasses import replace

import pytest

from simhash_gate.stores import Answer, Match, StoreError, Window, open_store
from simhash_gate.stores.base import SITE_MEMORY, SITE_NOTES
from tests.stores.kept import (
    PageHistory,
    by_scope,
    forget_history,
    histories,
    history_of,
    keep,
    keep_history,
    keep_text,
    kept,
    texts,
)
from tests.stores.redis_server import RedisCluster

URL_RULES = "rules"  # a kind of blobs that another package keeps

BASE = 0x9E3779B97F4A7C15
KINDS = [SITE_MEMORY, URL_RULES, SITE_NOTES]
SCOPES = ["", "}", "a}b", "{", "x/", "\0\ud800", *(f"{number}.example" for number in range(6))]


@pytest.fixture(scope="module")
def redis_cluster_server(tmp_path_factory):
    cluster = RedisCluster(tmp_path_factory.mktemp("redis_cluster"))
    yield cluster
    cluster.kill()


def test_every_call_finds_its_scope_whichever_node_that_is_on(redis_cluster_server, make_record):
    """A script that asks for keys of two slots is refused."""
    url = redis_cluster_server.url
    with closing(open_store(url)) as store, closing(open_store(url)) as dead:
        store.begin("run")
        dead.begin("dead")
        pages = []
        for scope in SCOPES:
            first, page, near = (make_record(bits, scope=scope) for bits in (7, BASE, BASE ^ 31))
            assert store.check_and_add(first, 3).added
            assert store.check_and_add(page, 3).added
            assert store.check_and_add(replace(page, key="x"), 3).match == Match(page, 0)
            window = Window(pages=2, seconds=1e9)
            assert store.check_and_add(near, 3, near=8, window=window) == Answer(
                True, Match(page, 5)
            )
            assert store.forget(near)
            store.update([page], seen=1e6)
            store.update([page], settled=True, durable=True)
            pages.append(replace(page, last_seen=1e6, settled=True))
            assert store.current(page) == pages[-1]
            for owner, run in ((store, "run"), (dead, "dead")):
                keep_history(owner, PageHistory(scope, "r", "u", run, 1.0, run.encode()))
            assert history_of(store, scope, "r", "run") == b"run"
            forget_history(store, scope, "other")
            for kind in KINDS:
                keep(store, kind, scope, kind.encode())
            keep_text(store, scope, 7, b"said", 1.0, 10**6)
            assert dead.check_and_add(replace(first, run="dead"), 3).added
        dead.close()
        store.begin("next")
        store.end("run")
        assert by_scope(store.records()) == by_scope(pages)
        for kind in KINDS:
            assert kept(store, kind) == dict.fromkeys(SCOPES, kind.encode())
        assert {(page.scope, page.run) for page in histories(store)} == {
            (scope, "run") for scope in SCOPES
        }
        assert {scope for scope, *_ in texts(store)} == set(SCOPES)
        with pytest.raises(StoreError, match="new name"):
            store.begin("run")
    for node in redis_cluster_server.nodes:
        with node.client() as client:
            assert len(client.keys("simhash_gate:scope:*")) > 1

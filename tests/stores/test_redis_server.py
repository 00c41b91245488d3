"""A server of Redis: how it is reached, its outages, its rights, its full memory."""

import tempfile
from contextlib import closing
from dataclasses import replace

import pytest

from benchmarks.proxy import Proxy
from simhash_gate.stores import StoreError, StoreUnavailable, Window, open_store
from tests.crawls.harness import until
from tests.stores.redis_server import (
    RedisSentinel,
    RedisServer,
    documented_rights,
    make_certificate,
)

BASE = 0x9E3779B97F4A7C15


def test_after_a_failover_the_replica_is_used(tmp_path, make_record):
    servers = RedisSentinel(tmp_path / "redis")
    try:
        with closing(open_store(servers.url)) as store:
            store.begin("run")
            page = make_record(BASE)
            store.check_and_add(page, 3)
            servers.stop()
            servers.start()

            def answers():
                try:
                    return store.current(page)
                except StoreUnavailable:
                    return None

            until(answers)
            assert store.check_and_add(make_record(BASE), 3).match.record.identity == page.identity
            store.end("run")
    finally:
        servers.kill()


def test_full_memory_loses_the_page_in_hand_only(own_redis, make_record):
    with closing(open_store(own_redis.url)) as store:
        store.begin("run")
        kept = []

        def fill():
            for number in range(1_000):
                page = make_record(number << 30, title="x" * 3_000)
                store.check_and_add(page, 0)
                kept.append(page)

        with own_redis.client() as client:
            client.config_set("maxmemory", client.info("memory")["used_memory"] + 300_000)
            with pytest.raises(StoreUnavailable, match="maxmemory"):
                fill()
            assert len(kept) > 10
            assert [*store.records()] == kept
            client.config_set("maxmemory", 0)
        assert store.check_and_add(make_record(BASE), 3).added


def test_wrong_logins_and_missing_rights_are_told_and_the_documented_rights_are_all_that_it_needs(
    own_redis, make_record
):
    with own_redis.client() as client:
        for user, rights in (("reader", ["~*", "+ping", "+get"]), ("gate", documented_rights())):
            client.execute_command("ACL", "SETUSER", user, "reset", "on", ">secret", *rights)
        client.config_set("requirepass", "right")
    for login in ("", ":wrong@", "nobody:right@", "reader:secret@"):
        with (
            pytest.raises(StoreError, match="password") as caught,
            closing(open_store(own_redis.url.replace("//", f"//{login}"))) as store,
        ):
            store.begin("run")
        assert not isinstance(caught.value, StoreUnavailable)
        assert "wrong" not in str(caught.value)
        assert ("permissions" in str(caught.value)) == login.startswith("reader")
    with closing(open_store(own_redis.url.replace("//", "//gate:secret@"))) as store:
        store.begin("run")
        page = make_record(BASE)
        store.check_and_add(page, 3, window=Window(seconds=60.0))
        store.update([page], settled=True)
        assert store.current(page) == replace(page, settled=True)
        store.end("run")
        store.begin("next")
        assert store.forget(page)
        assert [*store.records()] == []


def test_over_tls_the_certificate_is_looked_at(redis_server, tmp_path, make_record):
    certificate, context = make_certificate(tmp_path)
    proxy = Proxy(redis_server.port, context)
    url = f"rediss://127.0.0.1:{proxy.port}/0?prefix=p:"
    try:
        with closing(open_store(f"{url}&ssl_ca_certs={certificate}")) as store:
            store.begin("tls")
            assert store.check_and_add(make_record(BASE, run="tls"), 3).added
        with pytest.raises(StoreError, match=r"CERTIFICATE_VERIFY_FAILED.*ssl_ca_certs") as caught:
            open_store(url)
        assert not isinstance(caught.value, StoreUnavailable)  # it will never work
    finally:
        proxy.close()


def test_a_socket_file_will_do(tmp_path):
    # A path may have 107 bytes, and that of a test has about as many.
    with tempfile.TemporaryDirectory() as folder:
        server = RedisServer(tmp_path / "redis", unixsocket=f"{folder}/redis.sock")
        try:
            with closing(open_store(f"unix://{folder}/redis.sock?db=2&prefix=p:")) as store:
                store.begin("run")
                assert server.client(db=2).keys("p:*")
        finally:
            server.kill()

"""What is particular to a server: its outages, its other users, the deaths of its crawlers."""

from __future__ import annotations

import random
import re
import ssl
import tempfile
import time
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import quote

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from proxy import Proxy
from redis_server import RedisSentinel, RedisServer, free_port, wait_until

from simhash_gate.stores import StoreError, StoreUnavailable, Window, open_store

DOCS = Path(__file__).parents[2] / "docs" / "stores.md"
BASE = 0x9E3779B97F4A7C15


@pytest.fixture
def server(tmp_path):
    """A server that the test may treat as it likes."""
    started = RedisServer(tmp_path / "redis", appendonly="yes", appendfsync="always")
    yield started
    started.kill()


@pytest.fixture
def proxy(redis_server):
    between = Proxy(redis_server.port)
    yield between
    between.close()


@pytest.fixture
def own_url(redis_server, tmp_path):
    return f"{redis_server.url}?prefix={tmp_path}:"


@pytest.fixture
def proxied(proxy, tmp_path):
    """A store behind the proxy, with a run and a page."""
    with closing(open_store(f"redis://127.0.0.1:{proxy.port}?prefix={tmp_path}:")) as store:
        store.begin("run")
        yield store


def test_a_server_that_is_down_at_the_start_is_named_without_the_password():
    port = free_port()
    with pytest.raises(StoreUnavailable, match=f"127.0.0.1:{port}.*refused") as caught:
        open_store(f"redis://:secret@127.0.0.1:{port}/0")
    assert "secret" not in str(caught.value)


def test_a_server_that_came_back_with_its_data_is_used_as_if_nothing_had_been(server, make_record):
    page = make_record(BASE)
    with closing(open_store(server.url)) as store:
        store.begin("run")
        store.check_and_add(page, 3)
        server.kill()
        for use in (lambda: store.check_and_add(page, 3), lambda: store.current(page)):
            with pytest.raises(StoreUnavailable, match=str(server.port)):
                use()
        server.start()
        assert not store.check_and_add(replace(page, request="x"), 3).added
        store.end("run")
    with closing(open_store(server.url)) as store:
        assert [*store.records()] == [replace(page, settled=True)]


def test_a_run_is_announced_again_to_a_server_that_came_back_empty(server, make_record):
    page = make_record(BASE)
    with closing(open_store(server.url)) as store, closing(open_store(server.url)) as other:
        store.begin("run")
        other.begin("other")
        store.check_and_add(page, 3)
        server.kill()
        server.lose_all()
        server.start()
        assert [*other.records()] == []
        assert store.check_and_add(page, 3).added
        assert not other.check_and_add(replace(page, run="other"), 3).added
        store.end("run")
        with pytest.raises(StoreError, match="new name"):
            other.begin("run")


def test_a_server_that_answers_late_is_waited_for(proxy, proxied, make_record):
    proxy.delay = 0.1
    page = make_record(BASE)
    assert proxied.check_and_add(page, 3).added
    assert proxied.check_and_add(page, 3).match.record == page


def test_a_server_that_does_not_answer_is_given_up(server, make_record):
    page = make_record(BASE)
    with closing(open_store(f"{server.url}?timeout=0.2")) as store:
        store.begin("run")
        server.pause()
        with pytest.raises(StoreUnavailable, match=r"(?i)timeout"):
            store.check_and_add(page, 3)
        server.resume()
        # The server may have done what it was asked for, though nobody heard.
        assert store.check_and_add(page, 3).match in (None, (page, 0))
        assert [*store.records()] == [page]


@pytest.mark.parametrize("heard", [0, 1, 3])
def test_a_page_whose_answer_was_cut_is_asked_for_once(proxy, proxied, make_record, heard):
    first, page = make_record(~BASE % 2**64), make_record(BASE)
    proxied.check_and_add(first, 3)
    proxy.cut_after = heard
    with pytest.raises(StoreUnavailable):
        proxied.check_and_add(page, 3)
    # It was added, and was not taken for its own copy by a second attempt behind the scenes.
    assert [*proxied.records()] == [first, page]
    assert not proxied.check_and_add(make_record(BASE), 3).added


def test_a_connection_that_was_cut_between_two_calls_is_made_again(proxy, proxied, make_record):
    page = make_record(BASE)
    proxied.check_and_add(page, 3)
    proxy.cut()
    time.sleep(0.05)
    assert proxied.check_and_add(make_record(BASE), 3).match.record.identity == page.identity


def test_after_a_failover_the_replica_is_used(tmp_path, make_record):
    servers = RedisSentinel(tmp_path / "redis")
    try:
        with closing(open_store(servers.url)) as store:
            store.begin("run")
            page = make_record(BASE)
            store.check_and_add(page, 3)
            wait_for_replica(servers)
            servers.fail_over()
            again = make_record(BASE)
            wait_until(lambda: answers(lambda: store.current(page)))
            assert store.check_and_add(again, 3).match.record.identity == page.identity
            store.end("run")
    finally:
        servers.kill()


def wait_for_replica(servers):
    with servers.first.client() as client:
        assert client.wait(1, 20_000) == 1


def answers(use):
    try:
        use()
    except StoreUnavailable:
        return False
    return True


def test_full_memory_loses_the_page_in_hand_only(server, make_record):
    with closing(open_store(server.url)) as store:
        store.begin("run")
        kept = []

        def fill():
            for number in range(5_000):
                page = make_record(number << 30, title="x" * 3_000)
                store.check_and_add(page, 0)
                kept.append(page)

        with server.client() as client:
            client.config_set("maxmemory", client.info("memory")["used_memory"] + 300_000)
            with pytest.raises(StoreUnavailable, match="maxmemory"):
                fill()
            assert len(kept) > 10
            assert [*store.records()] == kept
            client.config_set("maxmemory", 0)
        assert store.check_and_add(make_record(BASE), 3).added


def test_wrong_credentials_are_told_from_an_outage(server):
    with server.client() as client:
        client.config_set("requirepass", "right")
    for login in ("", ":wrong@", "nobody:right@"):
        with pytest.raises(StoreError, match="password") as caught:
            open_store(server.url.replace("//", f"//{login}"))
        assert not isinstance(caught.value, StoreUnavailable)
        assert "wrong" not in str(caught.value).replace("WRONGPASS", "")
    open_store(server.url.replace("//", "//:right@")).close()


def test_a_user_who_may_not_run_scripts_is_told_so(server):
    with server.client() as client:
        client.execute_command("ACL", "SETUSER", "reader", "on", ">secret", "~*", "+ping", "+get")
    with (
        closing(open_store(server.url.replace("//", "//reader:secret@"))) as store,
        pytest.raises(StoreError, match=r"permissions.*password") as caught,
    ):
        store.begin("run")
    assert not isinstance(caught.value, StoreUnavailable)


def test_the_documented_rights_are_all_that_it_needs(server, make_record):
    rights = re.search(r"`(~simhash_gate:\S* [^`]+)`", DOCS.read_text("utf-8"))[1].split()
    with server.client() as client:
        client.execute_command("ACL", "SETUSER", "gate", "reset", "on", ">secret", *rights)
    with closing(open_store(server.url.replace("//", "//gate:secret@"))) as store:
        store.begin("run")
        page = make_record(BASE)
        store.check_and_add(page, 3, window=Window(seconds=60.0))
        store.settle([page])
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
        with pytest.raises(StoreUnavailable, match="CERTIFICATE_VERIFY_FAILED"):
            open_store(url)
    finally:
        proxy.close()


def make_certificate(folder):
    """Return the path of a certificate for 127.0.0.1, and a server's context that shows it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(timezone.utc)
    here = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(here, critical=False)
        .sign(key, hashes.SHA256())
    )
    path = folder / "certificate.pem"
    path.write_bytes(
        certificate.public_bytes(Encoding.PEM)
        + key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return path, context


@pytest.mark.parametrize(
    "take", ["set {key} x", "rpush {key} x", "hset {key} field x", "hset {key} scope x"]
)
@pytest.mark.parametrize("which", ["scope:{{example.com}}", "{{runs}}:leases", "{{runs}}:ended"])
def test_keys_of_another_application_are_named_and_left_alone(server, make_record, take, which):
    key = f"simhash_gate:{which.format()}"
    with server.client() as client, closing(open_store(server.url)) as store:
        client.execute_command(*take.format(key=key).split())
        before = client.dump(key)

        def use():
            store.begin("run")
            store.check_and_add(make_record(BASE), 3)
            store.end("run")

        with pytest.raises(StoreError, match=r"another application.*prefix") as caught:
            use()
        assert not isinstance(caught.value, StoreUnavailable)
        assert client.dump(key) == before
        client.delete(key)


def test_keys_of_others_beside_its_own_do_no_harm(server, own_url, make_record):
    with server.client() as client, closing(open_store(server.url)) as store:
        for number in range(2_000):
            client.set(f"dupefilter:{number}", b"\xff")
        client.rpush("simhash_gate:scope:{another}", "x")
        store.begin("run")
        page = make_record(BASE)
        store.check_and_add(page, 3)
        assert [*store.records()] == [page]
        assert client.dbsize() == 2_001 + 1 + 2  # the scope, and two of the runs


@pytest.mark.parametrize("prefix", ["a*b?:", "[x]", "\\", "ü ", ""])
def test_stores_with_different_prefixes_share_nothing(redis_server, tmp_path, make_record, prefix):
    urls = [f"{redis_server.url}?prefix={quote(f'{tmp_path}{end}')}" for end in (prefix, "axb:xx")]
    with closing(open_store(urls[0])) as one, closing(open_store(urls[1])) as other:
        for store in (one, other):
            store.begin("run")
            page = make_record(BASE)
            assert store.check_and_add(page, 3).added
            assert [*store.records()] == [page]


def test_a_run_dies_when_its_lease_runs_out(own_url, make_record):
    page = make_record(BASE, run="other")
    mine = replace(page, run="run")
    other = open_store(f"{own_url}&lease=0.5")
    other.begin("other")
    with closing(open_store(own_url)) as store:
        store.begin("run")
        other.check_and_add(page, 3)
        for _ in range(3):
            time.sleep(0.3)
            other.renew("other")
        assert store.check_and_add(mine, 3).match.record == page
        time.sleep(0.6)
        assert store.current(page) is None
        assert store.check_and_add(mine, 3, near=8) == (True, None)
        assert [*store.records()] == [mine]
    other.close()


def test_a_run_that_was_late_lives_again(own_url, make_record):
    page = make_record(BASE, run="late")
    with closing(open_store(f"{own_url}&lease=0.2")) as late, closing(open_store(own_url)) as store:
        late.begin("late")
        store.begin("run")
        time.sleep(0.3)
        assert late.check_and_add(page, 3).added
        assert store.check_and_add(replace(page, run="run"), 3).match.record == page
        late.end("late")
        assert [*store.records()] == [replace(page, settled=True)]


def test_a_run_that_was_taken_for_dead_is_no_ended_one(own_url, make_record):
    durable, later = make_record(BASE, run="late"), make_record(~BASE % 2**64, run="late")
    with closing(open_store(own_url)) as store:
        with closing(open_store(f"{own_url}&lease=0.2")) as late:
            late.begin("late")
            late.check_and_add(durable, 3)
            late.settle([durable], durable=True)
            time.sleep(0.3)
            store.begin("run")
            late.renew("late")
            late.check_and_add(later, 3)
            assert not store.check_and_add(replace(later, run="run"), 3).added
        assert [*store.records()] == [replace(durable, settled=True)]


def test_a_killed_crawler_leaves_nothing_that_counts(own_url, crawler, make_record):
    process = crawler("crawl", f"{own_url}&lease=1", "killed", 5)
    for _ in range(300):
        assert process.stdout.readline()
    process.kill()
    process.wait()
    with closing(open_store(own_url)) as store:
        store.begin("early")
        assert len([*store.records()]) >= 298
        time.sleep(1.2)
        store.begin("next")
        assert [*store.records()] == []
        assert store.check_and_add(
            make_record(random.Random("5").getrandbits(64), run="next"), 3
        ).added


def test_a_process_that_is_forked_off_gets_the_answers_to_its_own_questions(own_url, crawler):
    process = crawler("fork", own_url, "forked", 0)
    assert process.communicate()[0].split() == ["ready", "begun", "0", "0"]


def test_the_pages_of_many_scopes_go_with_a_dead_run_and_others_stay(own_url, make_record):
    with closing(open_store(own_url)) as store:
        store.begin("run")
        with closing(open_store(own_url)) as dead:
            dead.begin("dead")
            pages = [
                make_record(number << 40, scope=f"{number % 3}", run=("run", "dead")[number % 2])
                for number in range(900)
            ]
            for page in pages:
                (dead if page.run == "dead" else store).check_and_add(page, 0)
        assert [*store.records()] == pages[::2]
        for page in pages[::2]:
            assert not store.check_and_add(page, 0).added


def test_a_scope_without_pages_leaves_no_key(redis_server, own_url, tmp_path, make_record):
    pages = [make_record(number << 40) for number in range(200)]
    with redis_server.client() as client, closing(open_store(own_url)) as store:
        store.begin("run")
        for page in pages:
            store.check_and_add(page, 0)
        key = f"{tmp_path}:scope:{{example.com}}"
        assert client.exists(key)
        for page in pages:
            store.forget(page)
        assert not client.exists(key)


def test_a_scope_expires_with_its_window(redis_server, own_url, tmp_path, make_record):
    key = f"{tmp_path}:scope:{{example.com}}"
    with redis_server.client() as client, closing(open_store(own_url)) as store:
        store.begin("run")
        store.check_and_add(make_record(BASE), 3, window=Window(seconds=600))
        assert 600 < client.ttl(key) <= 600 + 3600
        store.check_and_add(make_record(~BASE % 2**64), 3)
        assert client.ttl(key) == -1


def test_pages_of_another_pipeline_version_are_passed_over(own_url, make_record):
    with closing(open_store(own_url)) as store:
        store.begin("old")
        old = make_record(BASE, run="old")
        store.check_and_add(old, 3)
        store.end("old")
        store.begin("run")
        new = make_record(BASE, pipeline="v2", request=old.request)
        assert store.check_and_add(new, 3, near=8) == (True, None)
        again = make_record(BASE, pipeline="v1")
        assert store.check_and_add(again, 3).match.record.identity == old.identity


def test_scripts_that_the_server_has_lost_are_sent_again(redis_server, own_url, make_record):
    with redis_server.client() as client, closing(open_store(own_url)) as store:
        store.begin("run")
        client.script_flush()
        assert store.check_and_add(make_record(BASE), 3).added


@pytest.mark.parametrize("crowded", [0, 0xFFFF])
def test_a_crowd_of_fingerprints_is_searched_to_the_last(own_url, make_record, crowded):
    """All share the lowest block, so that one bucket holds them all however often it splits."""
    pages = [make_record(number * 0x9E3779B97F5 % 2**48 << 16 | crowded) for number in range(3_000)]
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


def test_a_socket_file_will_do(tmp_path, make_record):
    # A path may have 107 bytes, and that of a test has about as many.
    with tempfile.TemporaryDirectory() as folder:
        server = RedisServer(tmp_path / "redis", unixsocket=f"{folder}/redis.sock")
        try:
            with closing(open_store(f"unix://{folder}/redis.sock?db=2&prefix=p:")) as store:
                store.begin("run")
                assert store.check_and_add(make_record(BASE), 3).added
            with server.client(db=2) as client:
                assert {key.split(b":")[0] for key in client.scan_iter()} == {b"p"}
        finally:
            server.kill()


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("redis://localhost?prefix=a{b}", "braces"),
        ("redis://localhost?lease=never", "lease"),
        ("redis://localhost?timeout=0", "timeout"),
        ("redis://localhost?colour=blue", "colour"),
        ("redis://localhost:port", "port is no number"),
        ("redis+sentinel://localhost", "name of the service"),
        ("redis+sentinel://localhost/main/db", "db"),
    ],
)
def test_a_url_that_cannot_be_used_is_named_and_told_why(url, why):
    with pytest.raises(StoreError, match=re.escape(url) + ".*" + why) as caught:
        open_store(url)
    assert not isinstance(caught.value, StoreUnavailable)

"""The keys of a Redis store: whose they are, and which pages count when crawlers die."""

from __future__ import annotations

import random
import time
from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace
from urllib.parse import quote

import pytest

from simhash_gate.stores import PageHistory, StoreError, StoreUnavailable, Window, open_store
from simhash_gate.stores.redis.codec import run_digest
from simhash_gate.stores.urls import LEASE

BASE = 0x9E3779B97F4A7C15


@pytest.fixture
def own_url(redis_server, tmp_path):
    return f"{redis_server.url}?prefix={tmp_path}:"


@pytest.fixture
def leases(tmp_path):
    """The key of the leases: of each run, by its digest, the end in ms of the server's clock."""
    return f"{tmp_path}:{{runs}}:leases"


@pytest.fixture
def expire(redis_server, leases):
    """Let the lease of a run have run out."""

    def expire(run):
        with redis_server.client() as client:
            assert client.zadd(leases, {run_digest(run): 0}, xx=True, ch=True) == 1

    return expire


@pytest.mark.parametrize(
    "take", ["set {key} x", "rpush {key} x", "hset {key} field x", "hset {key} scope x"]
)
@pytest.mark.parametrize("which", ["scope:{{example.com}}", "{{runs}}:leases", "{{runs}}:ended"])
def test_keys_of_another_application_are_named_and_left_alone(own_redis, make_record, take, which):
    key = f"simhash_gate:{which.format()}"
    with own_redis.client() as client, closing(open_store(own_redis.url)) as store:
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


def test_keys_of_others_beside_its_own_do_no_harm(own_redis, make_record):
    with own_redis.client() as client, closing(open_store(own_redis.url)) as store:
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


def test_a_run_dies_when_its_lease_runs_out_unless_it_is_renewed(own_url, expire, make_record):
    page = make_record(BASE, run="other")
    mine = replace(page, run="run")
    with closing(open_store(own_url)) as store, closing(open_store(own_url)) as other:
        store.begin("run")
        other.begin("other")
        other.check_and_add(page, 3)
        expire("other")
        other.renew("other")
        assert store.check_and_add(mine, 3).match.record == page
        expire("other")
        assert store.current(page) is None
        assert store.check_and_add(mine, 3, near=8) == (True, None)
        assert [*store.records()] == [mine]


def test_a_lease_is_as_long_as_the_url_says(redis_server, own_url, leases):
    with redis_server.client() as client, closing(open_store(f"{own_url}&lease=300")) as store:
        store.begin("run")
        seconds, _ = client.time()
        assert 250 < client.zscore(leases, run_digest("run")) / 1000 - seconds <= 301


def test_a_run_that_was_late_lives_again(own_url, expire, monkeypatch, make_record):
    page = make_record(BASE, run="late")
    with closing(open_store(own_url)) as late, closing(open_store(own_url)) as store:
        late.begin("late")
        store.begin("run")
        expire("late")
        later = SimpleNamespace(monotonic=lambda: time.monotonic() + LEASE)
        monkeypatch.setattr("simhash_gate.stores.redis.runs.time", later)
        assert late.check_and_add(page, 3).added
        assert store.check_and_add(replace(page, run="run"), 3).match.record == page
        late.end("late")
        assert [*store.records()] == [replace(page, settled=True)]


def test_a_run_that_was_taken_for_dead_is_no_ended_one(own_url, expire, make_record):
    durable, later = make_record(BASE, run="late"), make_record(~BASE % 2**64, run="late")
    with closing(open_store(own_url)) as store:
        with closing(open_store(own_url)) as late:
            late.begin("late")
            late.check_and_add(durable, 3)
            late.settle([durable], durable=True)
            expire("late")
            store.begin("run")
            late.renew("late")
            late.check_and_add(later, 3)
            assert not store.check_and_add(replace(later, run="run"), 3).added
        assert [*store.records()] == [replace(durable, settled=True)]


def test_a_killed_crawler_leaves_nothing_that_counts(own_url, expire, crawler, make_record):
    process = crawler("crawl", own_url, "killed", 5)
    for _ in range(300):
        assert process.stdout.readline()
    process.kill()
    process.wait()
    with closing(open_store(own_url)) as store:
        store.begin("early")
        assert len([*store.records()]) >= 298
        expire("killed")
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


def test_histories_notes_and_texts_stay_until_they_are_removed(redis_server, own_url, tmp_path):
    pages = [PageHistory("example.com", f"{n:040x}", "u", "run", 1.0, b"x") for n in range(300)]
    with redis_server.client() as client, closing(open_store(own_url)) as store:
        store.begin("run")
        for page in pages:
            store.keep_history(page)
        store.keep_site_notes("example.com", b"{}")
        store.keep_text("example.com", 7, b"text", 1.0, 100)
        store.end("run")
        store.sweep()
        keys = client.keys(f"{tmp_path}:*")
        assert len(keys) == 2 + 1 + 3 + 2  # the last two are of the runs
        assert {client.ttl(key) for key in keys} == {-1}
        for page in pages:
            store.forget_history(page.scope, page.request)
        store.keep_site_notes("example.com", b"")
        store.forget_text("example.com", 7)
        store.sweep()
        assert client.keys(f"{tmp_path}:*") == []


def test_the_histories_of_many_pages_go_with_a_dead_run_and_others_stay(
    redis_server, own_url, tmp_path
):
    def visit(run, number):
        return PageHistory(f"{number % 3}", f"{number:040x}", "u", run, float(number), b"said")

    with closing(open_store(own_url)) as store:
        store.begin("old")
        for number in range(0, 900, 2):
            store.keep_history(visit("old", number))
        store.end("old")
        with closing(open_store(own_url)) as dead:
            dead.begin("dead")
            for number in range(900):
                dead.keep_history(visit("dead", number))
        store.begin("run")
        with redis_server.client() as client:
            sizes = [
                client.hlen(f"{tmp_path}:{kind}:{{{scope}}}")
                if kind == "visits"
                else client.zcard(f"{tmp_path}:{kind}:{{{scope}}}")
                for kind in ("visits", "visited")
                for scope in "012"
            ]
        assert sizes == [150] * 6
        found = sorted(store.histories(), key=lambda history: history.seen)
        assert found == [visit("old", number) for number in range(0, 900, 2)]


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


def test_scripts_that_the_server_has_lost_are_sent_again(redis_server, own_url, make_record):
    with redis_server.client() as client, closing(open_store(own_url)) as store:
        store.begin("run")
        client.script_flush()
        assert store.check_and_add(make_record(BASE), 3).added


def test_a_sweep_leaves_no_key_of_what_is_gone(redis_server, own_url, tmp_path, make_record):
    with redis_server.client() as client, closing(open_store(own_url)) as store:
        for run in ("first", "second"):
            store.begin(run)
            page = make_record(BASE, scope=run, run=run)
            store.check_and_add(page, 3)
            store.keep_site_memory(run, b"a")
            store.end(run)
        store.forget(page)
        store.sweep()
        keys = [f"{tmp_path}:scope:{{first}}", f"{tmp_path}:site:{{first}}"]
        runs = [f"{tmp_path}:{{runs}}:ended", f"{tmp_path}:{{runs}}:names"]
        assert sorted(map(bytes.decode, client.keys(f"{tmp_path}:*"))) == sorted(keys + runs)
        assert client.smembers(runs[0]) == {run_digest("first")}
        assert client.hkeys(runs[1]) == [run_digest("first")]
        assert [record.run for record in store.records()] == ["first"]
        store.forget(next(store.records()))
        store.sweep()
        assert client.keys(f"{tmp_path}:*") == []

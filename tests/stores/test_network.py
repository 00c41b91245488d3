"""A server that was killed, and what is between it and a store: slow, hanging, cut, not there."""

from contextlib import closing, suppress
from dataclasses import replace
from urllib.parse import urlsplit

import pytest

from benchmarks.proxy import Proxy
from simhash_gate.stores import Answer, StoreError, StoreUnavailable, open_store
from tests.stores.ports import free_port
from tests.stores.postgres_server import running
from tests.stores.store_urls import STORES, url_maker

BASE = 0x9E3779B97F4A7C15


@pytest.fixture(params=STORES[2:])
def direct_url(request, tmp_path):
    return url_maker(request, request.param)(tmp_path)


@pytest.fixture
def proxy(direct_url):
    between = Proxy(urlsplit(direct_url).port)
    yield between
    between.close()


@pytest.fixture
def url(direct_url, proxy):
    """Of a store behind the proxy; made without it, which may take longer than its time-out."""
    open_store(direct_url).close()
    return direct_url.replace(f":{proxy.target}/", f":{proxy.port}/") + "&timeout=0.5"


@pytest.fixture(params=["redis", "postgresql"])
def own_server(request):
    """A server that the test may kill."""
    if request.param == "redis":
        yield request.getfixturevalue("own_redis")
    else:
        with running() as server:
            yield server


@pytest.mark.parametrize(
    "form", ["redis://:{}@127.0.0.1:{}/0", "postgresql://me:{}@127.0.0.1:{}/x"]
)
def test_a_server_that_is_down_at_the_start_is_named_without_the_password(form):
    port = free_port()
    with pytest.raises(StoreUnavailable, match=f"127.0.0.1:{port}.*refused") as caught:
        open_store(form.format("secret", port))
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_late_answers_are_waited_for_and_a_connection_that_was_cut_is_made_again(
    store, proxy, make_record
):
    proxy.delay = 0.1
    page = make_record(BASE)
    assert store.check_and_add(page, 3).added
    proxy.delay = 0.0
    proxy.cut()
    try:
        answer = store.check_and_add(make_record(BASE), 3)
    except StoreUnavailable:  # it had not heard yet that the connection was cut
        answer = store.check_and_add(make_record(BASE), 3)
    assert answer.match.record.identity == page.identity


def test_an_answer_that_never_comes_is_given_up(store, proxy, make_record):
    proxy.swallow = True
    with pytest.raises(StoreUnavailable, match=r"wait timeout expired|Timeout"):
        store.check_and_add(make_record(BASE), 3)
    proxy.swallow = False
    assert store.check_and_add(make_record(~BASE % 2**64), 3).added


@pytest.mark.parametrize("heard", [0, 1, 3])
def test_a_page_whose_answer_was_cut_is_asked_for_once(store, proxy, make_record, heard):
    first, page = make_record(~BASE % 2**64), make_record(BASE)
    store.check_and_add(first, 3)
    proxy.cut_after = heard
    with pytest.raises(StoreUnavailable):
        store.check_and_add(page, 3)
    # It was added, and was not taken for its own copy by a second attempt behind the scenes.
    assert [*store.records()] == [first, page]
    assert store.check_and_add(make_record(BASE), 3).match.record.identity == page.identity


def test_a_begin_and_an_end_whose_replies_were_cut_can_be_said_again(url, proxy):
    with closing(open_store(url)) as store:
        for call in (lambda: store.begin("run"), lambda: store.end("run")):
            proxy.cut_after = 0
            with pytest.raises(StoreUnavailable):
                call()
            call()
        with pytest.raises(StoreError, match="new name"):
            store.begin("run")


def test_a_server_killed_and_started_again_with_its_data_or_without_is_told_of_the_run_and_used(
    own_server, make_record
):
    kept, page = make_record(BASE, run="first"), make_record(~BASE % 2**64)
    again = [replace(kept, run="run"), replace(kept, run="run", pipeline="v2")]
    with closing(open_store(own_server.url)) as store, closing(open_store(own_server.url)) as other:
        store.begin("first")
        assert store.check_and_add(kept, 3).added
        store.end("first")  # is on disk from here on
        store.begin("run")
        other.begin("other")
        own_server.kill()
        for use in (
            lambda: store.check_and_add(page, 3),
            lambda: store.current(page),
            lambda: store.begin("run"),
            lambda: next(other.records()),
        ):
            with pytest.raises(StoreUnavailable, match=f":{own_server.port}"):
                use()
        own_server.start()
        assert store.check_and_add(again[0], 3).match.record.identity == kept.identity
        assert store.check_and_add(page, 3).added
        assert store.check_and_add(again[1], 3).added
        store.begin("run")
        own_server.lose_all()
        own_server.kill()
        with pytest.raises(StoreUnavailable):
            store.check_and_add(page, 3)
        own_server.start()
        # A new database numbers the versions in another order.
        for record in reversed(again):
            assert store.check_and_add(record, 3) == Answer(True, None)
        with suppress(StoreUnavailable):  # it has not heard yet
            other.begin("other")
        assert not other.check_and_add(replace(kept, run="other", key="x"), 3).added
        store.end("run")
        assert [*other.records()] == [replace(r, settled=True) for r in reversed(again)]
        with pytest.raises(StoreError, match="new name"):
            other.begin("run")

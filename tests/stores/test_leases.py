"""Runs on a server, which live as long as their lease: what is left when it runs out."""

from contextlib import closing
from dataclasses import replace

import pytest

from simhash_gate.stores import Answer, open_store
from simhash_gate.stores.base import ENDED, LIVE, RUN
from tests.crawls.harness import until
from tests.stores.kept import PageHistory, by_scope, histories, keep_history
from tests.stores.store_urls import STORES, url_maker

BASE = 0x9E3779B97F4A7C15


@pytest.fixture(params=STORES[2:])
def leased_url(request, tmp_path):
    return url_maker(request, request.param)(tmp_path)


def visit(run, number):
    return PageHistory(f"{number % 2}", f"{number:040x}", "u", run, float(number), b"said")


@pytest.mark.parametrize("ends", [True, False])
def test_a_run_that_slept_past_its_lease_was_dead_and_goes_on(leased_url, make_record, ends):
    """When it has come back, its end counts, and without one it is dead as any other run."""
    first, durable, second = (
        make_record(bits, run="late") for bits in (BASE, ~BASE % 2**64, BASE ^ 0xFFFF)
    )
    with closing(open_store(leased_url)) as store:
        store.begin("run")
        with closing(open_store(f"{leased_url}&lease=0.2")) as late:
            late.begin("late")
            for page in (first, durable):
                assert late.check_and_add(page, 3).added
            keep_history(late, visit("late", 1))
            late.update([durable], durable=True)
            until(lambda: not store.is_live("late"))
            assert store.current(first) is None
            again = replace(first, run="run")
            assert store.check_and_add(again, 3, near=8) == Answer(True, None)
            store.begin("other")  # removes what is left of the dead
            for what in ("page", "visit") if ends else ("visit", "page"):
                if what == "page":
                    assert late.check_and_add(second, 3).added
                else:
                    keep_history(late, visit("late", 2))
            assert "late" in late.lost
            # Not settled: it lives, for as long as it is renewed.
            until(lambda: [late.begin("late")] and store.current(second) == second)
            until(lambda: [late.begin("late")] and store.is_live("late"))
            if ends:
                late.end("late")
        late_pages = [durable, second] if ends else [durable]
        settled = [replace(page, settled=True) for page in late_pages]
        assert [page for page in store.records() if page.run == "late"] == settled
        # What it had visited before is so, whoever took it for dead meanwhile.
        visited = sorted(histories(store), key=lambda history: history.seen)
        assert visited == ([visit("late", 1), visit("late", 2)] if ends else [])
        assert store.current(again) == again


def test_what_many_scopes_have_of_a_dead_run_goes_and_the_rest_stays(leased_url, make_record):
    """More than is removed at once."""
    pages = [
        make_record(number << 40, scope=f"{number % 2}", run=("run", "dead")[number // 2 % 2])
        for number in range(900)
    ]
    with closing(open_store(leased_url)) as store:
        store.begin("run")
        with closing(open_store(leased_url)) as dead:
            dead.begin("dead")
            for number, page in enumerate(pages):
                owner = store if page.run == "run" else dead
                owner.check_and_add(page, None)
                keep_history(owner, visit(page.run, number))
        with closing(open_store(leased_url)) as other:
            for run in ("other", "dead"):  # its name is free, and nothing is back
                other.begin(run)
                assert by_scope(store.records()) == by_scope(p for p in pages if p.run == "run")
        store.end("run")
        found = sorted(histories(store), key=lambda history: history.seen)
        assert found == [visit("run", number) for number in range(900) if not number // 2 % 2]


def test_pages_of_a_run_that_has_ended_stay_though_its_lease_was_left(leased_url, make_record):
    """A crawl can be killed between the two."""
    page = make_record(BASE)
    with closing(open_store(leased_url)) as store:
        store.begin("run")
        assert store.check_and_add(page, 3).added
        (lease,) = store.driver.blobs(RUN, LIVE, data=True)
        store.end("run")
        assert store.driver.swap(replace(lease, data=b"7 1.0"), None) is None
        store.begin("other")
        assert [*store.records()] == [replace(page, settled=True)]
        assert lease.key not in {blob.key for blob in store.driver.blobs(RUN, LIVE, data=True)}


def test_an_end_that_was_not_heard_of_can_be_said_again(leased_url, make_record):
    page = make_record(BASE)
    with closing(open_store(leased_url)) as store, closing(open_store(leased_url)) as other:
        store.begin("run")
        assert store.check_and_add(page, 3).added
        (lease,) = store.driver.blobs(RUN, LIVE, data=True)
        store.driver.swap(replace(lease, scope=ENDED, data=b"1"), None)
        store.driver.swap(replace(lease, data=b""), None)
        store.begin("run")
        assert [*other.records()] == [replace(page, settled=True)]
        store.end("run")
        assert store.lost == set()
        assert [*other.records()] == [replace(page, settled=True)]

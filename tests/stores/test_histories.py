"""Histories of pages in every store: what counts for which run, what a death leaves, and bounds."""

from contextlib import closing

import pytest

from simhash_gate.stores import StoreError, open_store
from simhash_gate.stores.base import SITE_NOTES
from tests.stores.kept import (
    PageHistory,
    forget_history,
    histories,
    history_of,
    keep_history,
    keep_text,
    text,
    texts,
)
from tests.stores.kept import keep as keep_blob

BASE = 0x9E3779B97F4A7C15


def visit(run, seen, *, key="ab" * 20, scope="example.com"):
    said = f"{run} at {seen}".encode()
    return PageHistory(scope, key, "https://example.com/a", run, float(seen), said)


@pytest.fixture
def keep(store):
    """Keep a history in one store, whose run is begun if it has to be."""

    def keep(run, seen, **named):
        if not store.is_live(run):
            store.begin(run)
        kept = visit(run, seen, **named)
        keep_history(store, kept)
        return kept

    return keep


@pytest.fixture
def said(store):
    """Return what counts for a run."""
    return lambda run: history_of(store, "example.com", "ab" * 20, run)


def test_what_a_run_keeps_counts_for_others_once_it_has_ended_or_is_durable(
    store, keep, said, make_record
):
    keep("run", 1)
    first = keep("run", 2)
    assert (said("run"), said("second")) == (first.history, b"")
    assert [*histories(store)] == []
    store.end("run")
    keep("second", 2)
    forget_history(store, "example.com", "ab" * 20, "second")
    assert said("second") == first.history
    second = keep("second", 3)
    page = make_record(BASE, run="second", key="ab" * 20)
    store.update([page], settled=True)
    assert (said("second"), said("third")) == (second.history, first.history)
    assert [*histories(store)] == [first]
    store.update([page], settled=True, durable=True)
    later = keep("second", 4)
    assert (said("second"), said("third")) == (later.history, second.history)
    assert [*histories(store)] == [second]
    store.end("second")
    assert [*histories(store)] == [later]
    forget_history(store, "example.com", "ab" * 20)
    assert said("second") == said("third") == b""


def test_what_was_kept_last_counts_whatever_the_clocks_of_the_crawlers_say(
    store, keep, said, make_record
):
    """A run that ends later, or gets durable, had no later visit by that."""
    keep("ahead", 3_600)
    store.end("ahead")
    second = keep("second", 2)
    store.end("second")
    assert said("fifth") == second.history
    keep("third", 5)
    fourth = keep("fourth", 1)
    store.end("fourth")
    page = make_record(BASE, run="third", key="ab" * 20)
    store.update([page], settled=True, durable=True)
    assert said("third") == said("fifth") == fourth.history
    keep("fifth", 0)
    store.end("third")
    assert [*histories(store)] == [fourth]
    store.end("fifth")
    assert [history.run for history in histories(store)] == ["fifth"]


def test_only_a_live_run_that_was_begun_here_can_keep_a_history(store, keep):
    store.end("run")
    for run in ("run", "unknown"):
        with pytest.raises(StoreError, match="not live here"):
            keep_history(store, visit(run, 1))


def test_histories_outlive_their_records_and_the_store(lasting_url, make_record):
    page = make_record(BASE, key="ab" * 20)
    kept = [visit("run", at, scope=scope) for at, scope in enumerate(["example.com", "bad\ud800"])]
    with closing(open_store(lasting_url)) as store:
        store.begin("run")
        store.check_and_add(page, 3)
        for history in kept:
            keep_history(store, history)
        store.end("run")
        store.forget(page)
        store.begin("second")
    with closing(open_store(lasting_url)) as store:
        assert history_of(store, "example.com", "ab" * 20, "new") == kept[0].history
        assert sorted(histories(store), key=lambda history: history.seen) == kept
        with pytest.raises(StoreError, match="new name"):
            store.begin("run")
        for history in kept:
            forget_history(store, history.scope, history.key)
        assert [*histories(store)] == []


def test_many_histories_are_told_once_each(store, keep):
    kept = [keep("run", n, key=f"{n % 1_050:040x}", scope=f"{n % 2}") for n in range(1_250)]
    store.end("run")
    assert sorted(histories(store), key=lambda history: history.seen) == kept[200:]
    ones = [history for history in kept[200:] if history.scope == "1"]
    assert sorted(histories(store, "1"), key=lambda history: history.seen) == ones
    assert [*histories(store, "2")] == []


def test_any_text_is_part_of_a_history_as_it_is(url):
    with closing(open_store(url)) as store:
        for text in ("", "\0", "\ud800\0", "\udfff'; --", "é" * 10**5):
            store.begin(text)
            assert history_of(store, text, text, text) == b""
            history = PageHistory(text, text, text, text, 1.25, b"\0\xff" * 40_000)
            keep_history(store, history)
            assert history_of(store, text, text, text) == history.history
            store.end(text)
            assert [*histories(store)] == [*histories(store, text)] == [history]
            forget_history(store, text, text, text)
            assert [*histories(store)] == []


def test_no_url_of_a_history_has_a_password(store):
    keep_history(store, PageHistory("a", "b", "https://me:secret@example.com/", "run", 1.0, b"x"))
    store.end("run")
    assert [history.url for history in histories(store)] == ["https://example.com/"]


def test_of_too_many_pages_those_go_that_were_visited_longest_ago(store, keep, monkeypatch):
    monkeypatch.setattr("simhash_gate.stores.store.MOST_HISTORIES", 20)
    monkeypatch.setattr("simhash_gate.stores.store._SELDOM", 5)
    keep("run", 0.5, scope="other.example")
    for number in range(40):  # the older the later
        keep("run", 40 - number, key=f"{number:040x}")
    for number in range(10):  # pages that are there already
        keep("run", 100 + number, key=f"{number:040x}")
    store.end("run")
    seen = {history.seen for history in histories(store, "example.com")}
    assert len(seen) <= 25
    assert seen >= {*range(22, 31), *range(100, 110)}
    assert len([*histories(store, "other.example")]) == 1


def test_histories_of_a_batch_see_each_other_and_last(store, keep, said, make_record):
    with store.batch():
        page = make_record(BASE, key="ab" * 20)
        store.check_and_add(page, 3)
        keep("run", 1)
        assert said("run") == b"run at 1"
        store.update([page], settled=True, durable=True)
        keep("run", 2)
        store.update([page], seen=7.0)
        forget_history(store, "example.com", "cd" * 20)
        assert [history.seen for history in histories(store)] == [1.0]
        keep_blob(store, SITE_NOTES, "example.com", b"{}")
        keep_text(store, "example.com", 7, b"text", 1.0, 100)
        assert texts(store) == [("example.com", 7, 1.0, 4)]
    assert (said("run"), said("other")) == (b"run at 2", b"run at 1")
    assert store.get(SITE_NOTES, "example.com") == b"{}"
    assert text(store, "example.com", 7) == b"text"
    assert store.current(page).last_seen == 7.0

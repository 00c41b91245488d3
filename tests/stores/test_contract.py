"""What every store finds, keeps and lets go, beyond what test_model.py compares with a list.

The table in store_urls.py names the stores.
"""

import random
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext
from dataclasses import replace
from threading import Barrier

import pytest

from simhash_gate.stores import Answer, Blob, Match, StoreError, open_store
from simhash_gate.stores.base import HISTORY, SITE_MEMORY, SITE_NOTES
from tests.stores.kept import by_scope, keep, kept

URL_RULES = "rules"  # a kind of blobs that another package keeps

BASE = 0x9E3779B97F4A7C15


def flipped(count, seed=0):
    bits = random.Random(seed).sample(range(64), count)
    return BASE ^ sum(1 << bit for bit in bits)


def test_every_radius_is_exact(store, make_record):
    radii = [*range(13), 20, 32, 63, 64]
    for radius, distance in ((r, d) for r in radii for d in {0, r, r + 1} - {65}):
        scope = f"{radius}-{distance}.example"
        kept = make_record(BASE, scope=scope)
        store.check_and_add(kept, 0)
        for seed in range(20 if radius <= 20 else 0):
            far = make_record(~flipped(20, seed) % 2**64, scope=scope)
            assert store.check_and_add(far, 0).added
        for seed in range(3):
            page = make_record(flipped(distance, seed), scope=scope)
            answer = store.check_and_add(page, radius)
            assert answer.added == (distance > radius)
            if distance > radius:
                store.forget(page)
            else:
                assert answer.match.record.identity == kept.identity
                assert answer.match.distance == distance


def test_of_matches_those_go_first_whose_sketch_begins_with_the_same_key(store, make_record):
    same_key = make_record(BASE ^ 0b111, sketch=b"nameoffer and more")
    same_name = make_record(BASE ^ 0b11, sketch=b"nameother and more")
    nearest = make_record(BASE, sketch=b"another one")
    for record in (same_key, same_name, nearest):
        assert store.check_and_add(record, None).added
    page = make_record(BASE, sketch=b"nameoffer")
    refused = []
    for expected in (same_key, same_name, nearest):
        refused.append(store.check_and_add(page, 3, refused).match.record)
        assert refused[-1].identity == expected.identity
    beyond = make_record(BASE ^ 0b11111, sketch=b"nameoffer")
    assert store.check_and_add(beyond, 0, near=8).match.distance == 2


@pytest.mark.parametrize(
    ("kind", "other"), [(URL_RULES, SITE_NOTES), (SITE_NOTES, URL_RULES), (SITE_MEMORY, HISTORY)]
)
def test_what_is_known_of_a_site_is_kept_without_pages_until_it_is_taken_out(store, kind, other):
    store.put(Blob(other, "example.com", "", b"other", run="run"))
    assert store.get(kind, "example.com") == b""
    for said in (b"a", b"\0\xff" * 40_000):
        keep(store, kind, "example.com", said)
        assert store.get(kind, "example.com") == said
    keep(store, kind, "bad\ud800.example", b"b")
    assert kept(store, kind) == {"bad\ud800.example": b"b", "example.com": b"\0\xff" * 40_000}
    assert kept(store, kind, "bad\ud800.example") == {"bad\ud800.example": b"b"}
    for scope in ("bad\ud800.example", "example.com", "unknown"):
        keep(store, kind, scope, b"")
        assert store.get(kind, scope) == b""
    assert kept(store, kind) == {}
    assert store.get(other, "example.com", run="run") == b"other"


def test_beyond_the_radius_the_nearest_within_near_is_told_and_the_page_added(store, make_record):
    near, nearer = make_record(BASE ^ 0b11111), make_record(BASE ^ 0b1111)
    store.check_and_add(near, 0)
    store.check_and_add(nearer, 0)
    page = make_record(BASE)
    answer = store.check_and_add(page, 3, near=8)
    assert answer == Answer(True, Match(nearer, 4))
    assert [*store.records()] == [near, nearer, page]
    assert store.check_and_add(make_record(BASE ^ 1, scope="b"), 3, near=8) == Answer(True, None)


def test_a_radius_of_none_still_sees_what_is_near(store, make_record):
    kept = make_record(BASE)
    store.check_and_add(kept, 0)
    assert store.check_and_add(make_record(BASE ^ (1 << 5)), 0, near=8).match == Match(kept, 1)
    assert store.check_and_add(make_record(BASE ^ (1 << 60)), 0, near=0).match is None


def test_forgetting_removes_the_page_once(store, make_record):
    kept = make_record(BASE)
    assert not store.forget(kept)
    store.check_and_add(kept, 3)
    for other in ({"key": "x"}, {"scope": "x"}, {"run": "x"}, {"fingerprint": 1}):
        assert not store.forget(make_record(**{"fingerprint": BASE, "key": kept.key} | other))
    store.check_and_add(make_record(BASE, last_seen=99.0), 3)
    assert store.forget(kept)  # whenever it was seen last
    assert not store.forget(kept)
    assert store.check_and_add(make_record(BASE), 3).added


def test_records_come_oldest_first_and_may_go_while_they_are_read(store, make_record):
    """More of them than are read at once, also of one scope."""
    pages = [make_record(n << 30, scope="ab"[n % 20 == 0] + ".example") for n in range(1_100)]
    for page in pages:
        store.check_and_add(page, 0)
    assert by_scope(store.records()) == by_scope(pages)
    assert [*store.records("a.example")] == [page for page in pages if page.scope == "a.example"]
    assert [*store.records("no.example")] == []
    read = []
    for page in store.records():
        read.append(page)
        store.forget(page)
    assert by_scope(read) == by_scope(pages)
    assert [*store.records()] == []


def test_any_text_is_remembered_as_it_is(url, make_record):
    texts = ["", "\0", "a\0b", "\ud800", "x\udfff\0y", "'; DROP TABLE record; --", "\U0001f600"]
    with closing(open_store(url)) as store:
        for text in [*texts, "é" * 10**5]:
            store.begin(text)
            page = make_record(
                BASE, run=text, scope=text, url=text, key=text, title=text, pipeline=text
            )
            assert store.check_and_add(page, 3).added
            assert [*store.records(text)] == [*store.records()] == [page]
            assert store.check_and_add(page, 3).match.record == page
            store.update([page], settled=True)
            assert store.current(page) == replace(page, settled=True)
            store.end(text)
            assert store.forget(page)


def test_what_a_page_gave_is_kept_until_another_number_replaces_it(store, make_record):
    """Up to the largest number: those of a script in Redis have 53 bits."""
    page, other = make_record(BASE, gave=2**63 - 1), make_record(~BASE % 2**64)
    for record in (page, other):
        store.check_and_add(record, 3)
    assert [*store.records()] == [page, other]
    for gave in (2**62 + 1, 0, 1, 2**63 - 2):
        store.update([page], gave=gave)
        assert store.current(page) == replace(page, gave=gave)
        assert store.check_and_add(page, 3).match.record.gave == gave
    store.update([page], settled=True, seen=page.last_seen + 1)  # that leaves what it gave
    seen = replace(page, gave=gave, settled=True, last_seen=page.last_seen + 1)
    assert [*store.records()] == [seen, other]


def test_a_closed_store_says_so(store, make_record):
    page = make_record(BASE)
    store.close()
    store.close()
    for use in (
        lambda: store.begin("x"),
        lambda: store.end("run"),
        lambda: store.check_and_add(page, 3),
        lambda: store.forget(page),
        lambda: store.update([page], settled=True),
        lambda: store.current(page),
        lambda: next(store.records()),
        lambda: store.get(URL_RULES, "example.com"),
        lambda: keep(store, URL_RULES, "example.com", b"x"),
        lambda: keep(store, HISTORY, "example.com", b""),
        lambda: next(store.blobs(URL_RULES)),
        lambda: next(store.blobs(HISTORY)),
        lambda: store.is_live("run"),
        lambda: store.batch().__enter__(),
    ):
        with pytest.raises(StoreError, match="it is closed"):
            use()


@pytest.mark.parametrize(("fingerprint", "radius"), [(2**64, 3), (-1, 3), (0, -1), (0, 65)])
def test_what_is_out_of_range_is_refused(store, make_record, fingerprint, radius):
    with pytest.raises(ValueError, match="64"):
        store.check_and_add(make_record(fingerprint), radius)
    assert store.check_and_add(make_record(0), 3).added


@pytest.mark.parametrize("size", [1, 8])
def test_of_near_copies_by_16_threads_at_once_one_is_kept_in_batches_too(store, make_record, size):
    groups = [random.Random(number).getrandbits(64) for number in range(40)]
    barrier = Barrier(16)
    kept = []

    def crawl(thread):
        pages = [make_record(group ^ (1 << thread)) for group in groups]
        random.Random(thread).shuffle(pages)
        barrier.wait()
        for start in range(0, len(pages), size):
            with store.batch() if size > 1 else nullcontext():
                some = pages[start : start + size]
                kept.extend(page for page in some if store.check_and_add(page, 3).added)

    with ThreadPoolExecutor(16) as threads:
        assert [*threads.map(crawl, range(16))] == [None] * 16
    assert len(kept) == len(groups)
    assert {page.identity for page in store.records()} == {page.identity for page in kept}


def test_an_exact_lookup_compares_records_with_the_same_digest_only(store, make_record):
    first, other, copy = (make_record(7, digest=digest) for digest in (1, 2, 1))
    assert store.check_and_add(first, 0, exact=True).added
    assert store.check_and_add(other, 0, exact=True).added
    assert store.check_and_add(copy, 0, exact=True).match.record.key == first.key


def test_nothing_is_looked_at_without_a_radius(store, make_record):
    for _ in range(2):
        assert store.check_and_add(make_record(7), None, near=64) == Answer(True, None)


def test_calls_of_a_batch_see_each_other_and_last(store, make_record):
    pages = [make_record(number << 30) for number in range(4)]
    with store.batch():
        for page in pages:
            assert store.check_and_add(page, 0).added
        assert not store.check_and_add(pages[0], 0).added
        assert store.forget(pages[1])
        store.update([pages[2]], settled=True)
        assert [*store.records()] == [pages[0], replace(pages[2], settled=True), pages[3]]
    assert [*store.records()] == [pages[0], replace(pages[2], settled=True), pages[3]]
    assert not store.check_and_add(pages[3], 0).added


@pytest.mark.parametrize("emptied", [True, False])
def test_whatever_others_kept_since_the_last_look_is_unseen(lasting_url, make_record, emptied):
    """Though the scope, or its last page, went meanwhile, and numbers might come again."""
    with closing(open_store(lasting_url)) as store, closing(open_store(lasting_url)) as other:
        store.begin("run")
        other.begin("other")
        seen = [make_record(BASE ^ 0xFFFF << shift) for shift in (0, 16, 32)]
        for page in seen:
            assert store.check_and_add(page, 3).added
        page = make_record(BASE, key="f" * 40)
        for gone in seen if emptied else seen[-1:]:
            assert other.forget(gone)
        copy = make_record(BASE, run="other", key="e" * 40)
        assert other.check_and_add(copy, 3).added
        assert store.check_and_add(page, 3, unseen=True) == Answer(False, Match(copy, 0))
        assert store.check_and_add(page, 3, unseen=True).added

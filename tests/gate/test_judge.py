"""The judge: one rule of the house a test, over a real store."""

import time
from contextlib import closing, nullcontext, suppress
from dataclasses import replace

import pytest

from simhash_gate.compare.sketch import Sketch, WordSet, hash_of
from simhash_gate.fingerprints.lines import Kind
from simhash_gate.gate.judge import FEW_WORDS, MOST_CONTRADICTIONS, MOST_LOOKS, Gate
from simhash_gate.gate.policy import Policy
from simhash_gate.gate.verdict import Verdict, line_of
from simhash_gate.gate.visit import Visit
from simhash_gate.history.versions import History
from simhash_gate.identity.keys import key_of
from simhash_gate.page import Page
from simhash_gate.pipeline import read_page
from simhash_gate.report.explanation import Explanation, Side
from simhash_gate.report.judged import LoggedVerdict
from simhash_gate.stores import open_store
from simhash_gate.stores.sqlite import MemoryDriver
from simhash_gate.stores.store import Store
from tests.crawls.harness import text
from tests.fingerprints.made_lines import SAID, lines_of
from tests.stores.kept import histories

SITE = "https://example.com"
DEFAULT = Policy()
BITS = 0x0123_4567_89AB_CDEF


@pytest.fixture
def gate():
    store = open_store("memory:")
    store.begin("now")
    yield Gate(store, run="now", pipeline="v1")
    store.close()


def a_page(flipped: int = 0, **values) -> Page:
    """Return a page whose fingerprint is that many bits away from BITS."""
    given = {
        "title": "Title",
        "words": 300,
        "fingerprint": BITS ^ ((1 << flipped) - 1),
        "digest": 100 + flipped,
        "listing": False,
        "reason": None,
        **values,
    }
    return Page(**given)


def visit(path: str, **values) -> Visit:
    return Visit(**{"url": f"{SITE}{path}", "scope": "example.com", "key": path, **values})


def judge(
    gate: Gate, page: Page, path: str, policy: Policy = DEFAULT, dismissed=(), **values
) -> Verdict:
    return gate.judge(page, policy, visit(path, **values), dismissed=dismissed)


def test_the_three_bands(gate) -> None:
    assert judge(gate, a_page(), "/a").outcome == "new"
    duplicate = judge(gate, a_page(3), "/b")
    assert duplicate.outcome == "duplicate"
    assert duplicate.rejected
    assert duplicate.match.distance == 3
    assert duplicate.match.record.url == "https://example.com/a"
    assert duplicate.reason == "distance 3, threshold 3"
    near = judge(gate, a_page(4), "/c")
    assert near.outcome == "near"
    assert not near.rejected
    assert near.match.distance == 4
    assert judge(gate, a_page(30), "/d").outcome == "new"


def test_beyond_the_threshold_a_closer_look_decides_and_the_reason_says_so(gate) -> None:
    page = read_page(f"<p>{text(1)}</p>".encode())
    judge(gate, page, "/a")
    assert page.fingerprint is not None
    far = replace(page, fingerprint=page.fingerprint ^ 0xFF)
    verdict = judge(gate, far, "/b")
    assert verdict.outcome == "duplicate"
    assert verdict.reason == "distance 8, near 8; the same text at a closer look"
    line = line_of(verdict, url="https://example.com/b", dropped=True, size=0)
    side = Side.read("https://example.com/b", far)
    named = [way.setting for way in Explanation(LoggedVerdict.of(line), side, None, DEFAULT).ways]
    assert named[0] == 'SIMHASH_GATE_DOMAINS = {"example.com": {"near": 7}}'
    assert judge(gate, far, "/c", replace(DEFAULT, near=7)).outcome == "new"


def test_a_page_of_an_archive_is_judged_at_the_time_of_its_capture(gate) -> None:
    week = Policy(ttl=7 * 86_400)
    kept = judge(gate, a_page(), "/a", week, at=1.2e9).record
    assert (kept.first_seen, kept.last_seen) == (1.2e9, 1.2e9)
    seen = judge(gate, a_page(), "/b", week, at=1.2e9 + 86_400)
    assert seen.outcome == "duplicate"
    assert seen.match.record.last_seen == 1.2e9  # a copy is no visit
    assert judge(gate, a_page(), "/c", week, at=1.2e9 + 8 * 86_400).outcome == "new"
    before = time.time()
    now = judge(gate, a_page(), "/d", week)
    assert now.outcome == "new"
    assert before <= now.record.first_seen <= time.time()


def test_only_kept_pages_are_compared_so_chains_end(gate) -> None:
    judge(gate, a_page(), "/a")
    assert judge(gate, a_page(3), "/b").outcome == "duplicate"
    assert judge(gate, a_page(6), "/c").outcome != "duplicate"


def test_a_page_without_text_is_skipped_and_matches_nothing(gate) -> None:
    empty = a_page(fingerprint=None, words=0, reason="no text")
    for path in ("/a", "/b"):
        verdict = judge(gate, empty, path)
        assert (verdict.outcome, verdict.reason) == ("skipped", "no text")
    assert list(gate.store.records()) == []


@pytest.mark.parametrize(
    ("now", "outcome"),
    [({"fingerprint": None, "words": 0, "reason": "no text"}, "skipped"), ({"words": 2}, "new")],
)
def test_a_page_that_says_nothing_any_more_is_told_with_what_it_was(gate, now, outcome) -> None:
    judge(gate, a_page(structure=7), "/a", at=1e9)
    later = the_next_run(gate)
    verdict = judge(later, a_page(**now), "/a")
    assert (verdict.outcome, verdict.record) == (outcome, None)
    assert (verdict.previous.words, verdict.previous.structure) == (300, 7)
    assert judge(later, a_page(structure=7), "/a").outcome == "unchanged"


def test_a_short_page_is_a_duplicate_of_the_very_same_text_only(gate) -> None:
    judge(gate, a_page(words=19, digest=1), "/a")
    assert judge(gate, a_page(words=19, digest=2), "/b").outcome != "duplicate"
    assert judge(gate, a_page(words=19, digest=1), "/c").outcome == "duplicate"
    assert judge(gate, a_page(words=20, digest=3), "/d").outcome != "duplicate"


def test_a_page_of_a_word_or_two_is_compared_with_nothing(gate) -> None:
    for path in ("/a", "/b"):
        assert judge(gate, a_page(words=FEW_WORDS - 1), path).outcome == "new"


def test_a_listing_is_a_duplicate_of_the_very_same_entries_only(gate) -> None:
    judge(gate, a_page(listing=True, digest=1), "/a")
    assert judge(gate, a_page(1, listing=True, digest=2), "/b").outcome != "duplicate"
    verdict = judge(gate, a_page(listing=True, digest=1), "/c")
    assert verdict.outcome == "duplicate"
    assert verdict.reason == "distance 0, threshold 3; the same entries, in any order"


def the_next_run(gate: Gate, run: str = "later") -> Gate:
    """End the gate's run, and return the gate of another."""
    gate.store.end(gate.run)
    gate.store.begin(run)
    return Gate(gate.store, run=run, pipeline="v1")


def sketch_of(headline: str, *offered: tuple[str, str]) -> bytes:
    return Sketch(headline, (headline,), offered).encode()


def test_a_page_that_fell_out_of_the_window_is_kept_again_when_it_is_visited(gate) -> None:
    short = Policy(window=1)
    judge(gate, a_page(), "/a", short)
    judge(gate, a_page(30), "/b", short)
    later = the_next_run(gate)
    assert judge(later, a_page(), "/a", short).outcome == "unchanged"
    assert judge(later, a_page(1), "/copy", short).outcome == "duplicate"


def test_a_revisit_in_a_later_run_is_unchanged_and_its_items_are_held_back(gate) -> None:
    judge(gate, a_page(), "/a", at=1e9)
    later = the_next_run(gate)
    verdict = judge(later, a_page(), "/a", at=1e9 + 2 * 86_400)
    assert verdict.outcome == "unchanged"
    assert (verdict.rejected, verdict.action) == (True, "links")
    assert verdict.reason == "the same text, last seen 2 days ago"
    assert verdict.match.record.url == "https://example.com/a"
    assert (verdict.previous.title, verdict.previous.last_seen) == ("Title", 1e9)
    assert verdict.previous.fingerprint == BITS
    assert not judge(later, a_page(), "/a", Policy(revisit="pass")).rejected
    dropped = judge(later, a_page(), "/a", Policy(revisit="drop"))
    assert (dropped.rejected, dropped.action) == (True, "drop")
    assert judge(later, a_page(), "/a", Policy(action="tag")).action == "tag"
    assert judge(later, a_page(), "/b").outcome == "duplicate"


@pytest.mark.parametrize(("flipped", "outcome"), [(1, "updated"), (8, "updated"), (9, "rewritten")])
def test_a_page_that_says_other_things_is_an_update_however_near(gate, flipped, outcome) -> None:
    judge(gate, a_page(), "/a", at=1e9)
    later = the_next_run(gate)
    verdict = judge(later, a_page(flipped, words=301), "/a", at=1e9 + 3_600)
    assert verdict.outcome == outcome
    assert not verdict.rejected
    assert verdict.match.distance == flipped
    assert verdict.reason == f"300 words, now 301; distance {flipped}; last seen 1 hour ago"
    assert verdict.previous.words == 300
    assert [kept.digest for kept in gate.store.records()] == [100 + flipped]  # one record a page


def test_what_a_page_is_called_and_offers_is_part_of_what_it_says(gate) -> None:
    judge(gate, a_page(sketch=sketch_of("Red shoe", ("price", "19.90"))), "/a")
    later = the_next_run(gate)
    cheaper = a_page(sketch=sketch_of("Red shoe", ("price", "17.90")))
    verdict = judge(later, cheaper, "/a")
    assert verdict.outcome == "updated"
    assert verdict.reason.startswith("price '19.90', now '17.90'; last seen")
    latest = the_next_run(later, "latest")
    with_currency = a_page(sketch=sketch_of("RED shoe", ("price", "17.90 EUR")))
    assert judge(latest, with_currency, "/a").outcome == "unchanged"
    renamed = a_page(sketch=sketch_of("Blue shoe", ("price", "17.90")))
    verdict = judge(the_next_run(latest, "last"), renamed, "/a")
    assert verdict.reason.startswith("headline 'RED shoe', now 'Blue shoe'; last seen")


def test_a_page_that_says_again_what_it_said_long_ago_is_an_update(gate) -> None:
    judge(gate, a_page(), "/a")
    second = the_next_run(gate, "second")
    assert judge(second, a_page(2), "/a").outcome == "updated"
    third = the_next_run(second, "third")
    assert judge(third, a_page(), "/a").outcome == "updated"
    fourth = the_next_run(third, "fourth")
    assert judge(fourth, a_page(), "/a").outcome == "unchanged"


@pytest.mark.parametrize("wrong", range(4))
@pytest.mark.parametrize("ahead", [3_600, -3_600, 1e8, -1e8])
@pytest.mark.parametrize(
    "policy", [DEFAULT, Policy(ttl=30 * 86_400), Policy(revisit_after=60), Policy(history=0)]
)
def test_what_a_page_said_last_is_told_by_the_order_of_runs_not_by_their_clocks(
    gate, wrong, ahead, policy
) -> None:
    """The clock of one run is wrong, by an hour or by years."""
    rejected = []
    for number, flipped in enumerate((0, 2, 0, 2, 0, 0)):
        gate = the_next_run(gate, f"run{number}")
        at = 1.7e9 + 1_200 * number + ahead * (number == wrong)
        verdict = judge(gate, a_page(flipped), "/a", policy, at=at)
        rejected.append(verdict.rejected)
    assert rejected == [False] * 5 + [True]
    assert verdict.outcome == "unchanged"


def test_of_two_keys_a_page_goes_on_from_the_one_that_it_had_last_whatever_the_clocks(gate) -> None:
    url = f"{SITE}/print/a"
    judge(gate, a_page(), key_of(url), url=url, at=1.7e9 + 3_600)
    for flipped in (2, 0):
        gate = the_next_run(gate, f"with {flipped}")
        assert judge(gate, a_page(flipped), "/a", url=url, at=1.7e9).outcome == "updated"
    gate = the_next_run(gate, "last")
    assert judge(gate, a_page(), "/a", url=url, at=1.7e9).outcome == "unchanged"


def test_a_revisit_is_dropped_with_its_links_only_if_these_are_the_same(gate) -> None:
    drop = Policy(revisit="drop")
    judge(gate, a_page(targets="1"), "/a", drop, at=1e9)
    later = the_next_run(gate)
    verdict = judge(later, a_page(targets="2"), "/a", drop, at=1e9 + 60)
    assert (verdict.outcome, verdict.action) == ("unchanged", "links")
    assert verdict.reason == "the same text, last seen 1 minute ago; other links"
    again = the_next_run(later, "again")
    assert judge(again, a_page(targets="2"), "/a", drop).action == "drop"
    unknown = a_page(targets="")  # where its links lead
    assert judge(again, unknown, "/a", drop).action == "drop"
    tagged = Policy(revisit="drop", action="tag")
    assert judge(again, a_page(targets="3"), "/a", tagged).action == "tag"


def test_without_histories_the_record_tells_what_a_page_was(gate) -> None:
    forgetful = Policy(history=0)
    judge(gate, a_page(sketch=sketch_of("Red shoe", ("price", "19.90"))), "/a", forgetful)
    later = the_next_run(gate)
    verdict = judge(later, a_page(sketch=sketch_of("Red shoe", ("price", "2.00"))), "/a", forgetful)
    assert verdict.outcome == "updated"
    assert verdict.reason.startswith("price '19.90', now '2.00'")
    assert len(list(gate.store.records())) == 1
    last = the_next_run(later, "last")
    same = a_page(sketch=sketch_of("Red shoe", ("price", "2.00")))
    assert judge(last, same, "/a", forgetful).outcome == "unchanged"


def test_a_crawl_that_never_ends_has_revisits_too(gate) -> None:
    hourly = Policy(revisit_after=3_600)
    judge(gate, a_page(), "/a", hourly, at=1e9)
    assert judge(gate, a_page(), "/a", hourly, at=1e9 + 3_599).outcome == "duplicate"
    assert judge(gate, a_page(), "/a", hourly, at=1e9 + 3_600).outcome == "unchanged"
    updated = judge(gate, a_page(digest=5), "/a", hourly, at=1e9 + 8_000)
    assert updated.outcome == "updated"
    assert [kept.digest for kept in gate.store.records()] == [5]
    assert judge(gate, a_page(digest=5), "/b", hourly, at=1e9 + 8_000).outcome == "duplicate"


def test_what_is_older_than_the_age_limit_is_no_version_to_compare_with(gate) -> None:
    week = Policy(ttl=7 * 86_400)
    judge(gate, a_page(), "/a", week, at=1e9)
    later = the_next_run(gate)
    assert judge(later, a_page(), "/a", week, at=1e9 + 8 * 86_400).outcome == "new"


def test_what_a_clock_that_was_ahead_saw_is_not_older_than_the_age_limit(gate) -> None:
    week = Policy(ttl=7 * 86_400)
    judge(gate, a_page(), "/a", week, at=1e9 + 365 * 86_400)
    later = the_next_run(gate)
    assert judge(later, a_page(), "/a", week, at=1e9).outcome == "unchanged"
    assert judge(the_next_run(later, "last"), a_page(1), "/a", week, at=1e9).outcome == "updated"


def test_a_selector_that_was_not_named_then_or_is_not_now_tells_nothing(gate) -> None:
    def with_fields(**fields: str) -> Page:
        return a_page(sketch=Sketch("Red shoe", compared=tuple(fields.items())).encode())

    for run, fields, outcome in (
        ("0", {}, "new"),
        ("1", {".img": "a.jpg", ".none": ""}, "unchanged"),
        ("2", {".img": "b.jpg", ".none": ""}, "updated"),
        ("3", {}, "unchanged"),
        ("4", {"file": "a.pdf"}, "updated"),  # a page of few words shows it
    ):
        gate = the_next_run(gate, run)
        assert judge(gate, with_fields(**fields), "/a").outcome == outcome


def test_an_earlier_version_that_this_crawl_has_seen_elsewhere_was_seen_there(gate) -> None:
    judge(gate, a_page(), "/a", at=1e9)
    later = the_next_run(gate)
    elsewhere = judge(later, a_page(), "/a?ref=best", key="/a", at=1e9 + 86_400)
    assert elsewhere.reason == "the same text, last seen 1 day ago"
    verdict = judge(later, a_page(5), "/a", at=1e9 + 86_410)
    assert verdict.outcome == "updated", verdict
    seen = "last seen at https://example.com/a?ref=best in this crawl"
    assert verdict.reason == f"300 words, now 300; distance 5; {seen}"


def test_when_a_page_is_gone_its_copy_is_new(gate) -> None:
    judge(gate, a_page(), "/a", at=1e9)
    later = the_next_run(gate)
    assert not later.found_gone(visit("/b", at=1e9 + 10))
    assert later.found_gone(visit("/a", at=1e9 + 10))
    assert not later.found_gone(visit("/a", at=1e9 + 20))
    assert judge(later, a_page(), "/b").outcome == "new"
    last = the_next_run(later, "last")
    assert judge(last, a_page(), "/a").outcome == "duplicate"


def test_a_page_that_stays_gone_was_looked_for_when_it_was_found_so_last(gate) -> None:
    judge(gate, a_page(), "/a", at=1e9)
    later = the_next_run(gate)
    for at in (1e9 + 10, 1e9 + 20):
        later.found_gone(visit("/a", at=at))
    later.store.end(later.run)
    (kept,) = histories(later.store)
    assert (kept.seen, History.decode(kept.history).gone) == (1e9 + 20, 1e9 + 20)


def test_a_page_that_moved_for_good_takes_its_past_along(gate) -> None:
    judge(gate, a_page(), "/old")
    judge(gate, a_page(30), "/home")
    later = the_next_run(gate)
    moved = {"moved_from": "/old"}
    verdict = judge(later, a_page(2), "/new", **moved)
    assert verdict.outcome == "updated"
    assert {kept.key for kept in gate.store.records()} == {"/home", "/new"}
    assert judge(later, a_page(30), "/home", **moved).outcome == "unchanged"
    last = the_next_run(later, "last")
    assert judge(last, a_page(2), "/new", **moved).outcome == "unchanged"


def test_a_page_that_moved_and_was_rewritten_may_say_again_what_it_said(gate) -> None:
    old, new = (key_of(f"https://example.com/{name}") for name in ("old", "new"))
    judge(gate, a_page(), "/old", key=old)
    gate = the_next_run(gate)
    moved = judge(gate, a_page(), "/new", key=new, moved_from=old)
    assert moved.outcome == "unchanged"
    for number, flipped in enumerate((40, 0, 40)):
        gate = the_next_run(gate, f"run{number}")
        assert judge(gate, a_page(flipped), "/new", key=new).outcome == "rewritten"


def test_a_page_that_moved_comes_again_when_the_address_that_delivered_it_is_gone(gate) -> None:
    judge(gate, a_page(), "/old")
    for run in ("second", "third"):
        gate = the_next_run(gate, run)
        verdict = judge(gate, a_page(), "/new", moved_from="/old")
        assert verdict.outcome == "unchanged"
        assert verdict.match.record.url == "https://example.com/old"
    gate = the_next_run(gate, "fourth")
    assert gate.found_gone(visit("/old", at=time.time()))
    assert judge(gate, a_page(), "/new").outcome == "new"


def test_a_page_is_not_gone_with_another_address_of_its_key(gate) -> None:
    judge(gate, a_page(), "/a", key="/*")
    gate = the_next_run(gate)
    assert not gate.found_gone(visit("/b", key="/*"))
    assert judge(gate, a_page(), "/a", key="/*").outcome == "unchanged"


def test_what_a_page_said_before_it_became_a_copy_is_new_when_it_comes_back(gate) -> None:
    judge(gate, a_page(), "/a")
    gate = the_next_run(gate, "second")
    assert judge(gate, a_page(30), "/b").outcome == "new"
    assert judge(gate, a_page(30), "/a").outcome == "duplicate"
    gate = the_next_run(gate, "third")
    assert judge(gate, a_page(), "/a").outcome == "new"


ONE, OTHER = a_page(), a_page(5)


def by_key(gate: Gate, page: Page, query: str, key: str) -> str:
    """Return the outcome for a page of a list that comes under a key."""
    url = f"https://example.com/list?{query}"
    return gate.judge(page, visit=Visit(url, "example.com", key)).outcome


@pytest.mark.parametrize("key", ["https://example.com/list?sort=a", "https://example.com/list"])
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_pages_that_one_key_takes_for_one_are_known_by_their_addresses(gate, key, order) -> None:
    pages = [(ONE, "sort=a"), (OTHER, "sort=b")]
    for page, query in pages:
        assert by_key(gate, page, query, f"https://example.com/list?{query}") in ("new", "near")
    for run in ("second", "third"):
        gate = the_next_run(gate, run)
        for place in order:
            page, query = pages[place]
            assert by_key(gate, page, query, key) == "unchanged"
    gate = the_next_run(gate, "fourth")
    for page, query in pages:
        assert by_key(gate, page, query, f"https://example.com/list?{query}") == "unchanged"


def test_a_page_that_was_moved_to_another_key_stays_known_if_the_crawl_dies(tmp_path) -> None:
    def crawl(run: str, key: str, *, dies: bool = False) -> str:
        with closing(open_store(f"sqlite:///{tmp_path}/pages.sqlite")) as store:
            store.begin(run)
            outcome = by_key(Gate(store, run=run, pipeline="v1"), ONE, "sort=a", key)
            if not dies:
                store.end(run)
        return outcome

    assert crawl("first", "https://example.com/list?sort=a") == "new"
    assert crawl("second", "https://example.com/list", dies=True) == "unchanged"
    assert crawl("third", "https://example.com/list?sort=a") == "unchanged"
    assert crawl("fourth", "https://example.com/list", dies=True) == "unchanged"
    assert crawl("fifth", "https://example.com/list") == "unchanged"


def test_what_comes_under_the_key_of_a_page_does_not_make_it_new(gate) -> None:
    by_key(gate, ONE, "sort=a", "https://example.com/list")
    gate = the_next_run(gate, "second")
    assert by_key(gate, OTHER, "sort=b", "https://example.com/list") == "updated"
    assert by_key(gate, ONE, "sort=a", "https://example.com/list") == "unchanged"


def test_a_page_whose_digest_alone_changes_stays_unchanged(gate) -> None:
    """As one whose sidebar happens to repeat a line of it."""
    page, key = read_page(f"<h1>Storm expected</h1><p>{text(1)}</p>".encode()), key_of(f"{SITE}/1")
    visits = [("/1", "new"), ("/1", "unchanged"), ("/1?utm_source=a", "duplicate")]
    for digest, (path, outcome) in enumerate([*visits, ("/1", "unchanged")]):
        if outcome != "duplicate":  # it is seen by the same crawl
            gate = the_next_run(gate, f"run{digest}")
        assert judge(gate, replace(page, digest=digest), path, key=key).outcome == outcome


VERSIONS = [
    "<h1>Storm expected</h1>" + f"<p>{text(1, 180)}</p><p>{text(n, 14)}</p>" for n in (2, 3, 4)
]


@pytest.mark.parametrize("change", ["none", "name", "offer", "text"])
def test_a_changed_page_is_its_canonical_one_if_its_name_and_offers_say_so(gate, change) -> None:
    """Else it may be another page with a wrong link, as sizes of one product have it."""
    old, new = VERSIONS[0], VERSIONS[1]
    if change == "name":
        new = new.replace("Storm expected", "Calm seas")
    elif change == "offer":
        offer = '{"@type": "Offer", "price": %d, "priceCurrency": "EUR"}'
        product = f'{{"@type": "Product", "name": "Storm expected", "offers": {offer}}}'
        script = f"<script type=application/ld+json>{product}</script>%s"
        old, new = script % (10, old), script % (11, new)
    elif change == "text":
        new = f"<h1>Storm expected</h1><p>{text(9, 200)}</p>"
    key = key_of(f"{SITE}/1")
    assert judge(gate, read_page(old.encode()), "/1", key=key).outcome == "new"
    gate = the_next_run(gate)
    verdict = judge(gate, read_page(new.encode()), "/1?ref=a", key=key, rendition=True)
    assert (verdict.outcome in ("updated", "rewritten")) == (change == "none")
    assert not verdict.rejected
    # What the page says itself is known, whatever came under its key.
    assert judge(gate, read_page(old.encode()), "/1", key=key).outcome == "unchanged"


def test_an_old_version_that_another_address_shows_passes_once_the_page_has_changed(gate) -> None:
    key = "https://example.com/1"

    def visit(page: Page, path: str, *, rendition: bool = False) -> Verdict:
        return judge(gate, page, path, key=key, rendition=rendition)

    assert visit(ONE, "/1").outcome == "new"
    gate = the_next_run(gate, "second")
    assert visit(ONE, "/1").outcome == "unchanged"
    assert visit(ONE, "/print/1", rendition=True).outcome == "duplicate"
    gate = the_next_run(gate, "third")
    assert visit(OTHER, "/1").outcome == "updated"
    assert visit(ONE, "/print/1", rendition=True).outcome == "near"
    gate = the_next_run(gate, "fourth")
    assert visit(OTHER, "/1").outcome == "unchanged"
    assert visit(ONE, "/print/1", rendition=True).outcome == "unchanged"


@pytest.mark.parametrize("endless", [False, True])
def test_a_page_in_two_languages_is_compared_with_what_it_said_in_each(gate, endless) -> None:
    policy = Policy(revisit_after=60) if endless else DEFAULT
    for at, page in enumerate((a_page(), a_page(30))):
        assert judge(gate, page, "/a", policy, at=1e9 + at).outcome == "new"
    gate = gate if endless else the_next_run(gate)
    found = (a_page(2), "updated"), (a_page(30), "unchanged"), (a_page(2), "unchanged")
    for at, (page, outcome) in enumerate(found):
        gate = gate if endless else the_next_run(gate, f"run{at}")
        assert judge(gate, page, "/a", policy, at=1e9 + 100 * (at + 1)).outcome == outcome
    gate.store.end(gate.run)
    (kept,) = histories(gate.store)
    assert [version.digest for version in History.decode(kept.history).versions] == [100, 130, 102]


def test_what_one_address_says_to_several_requests_is_met_once_for_each(gate) -> None:
    """As prices in one currency after the other, which nothing but a session tells apart."""
    visits = [
        (a_page(30 * n), {"asker": "parse", "carries": f"cb_kwargs['left'] {n}"}) for n in range(2)
    ]
    for page, asked in visits:
        assert judge(gate, page, "/a", **asked).record
    gate = the_next_run(gate)
    for page, asked in visits * 2:
        assert judge(gate, page, "/a", **asked).outcome == "unchanged"
    page, asked = visits[-1]
    other = judge(gate, page, "/a", url="https://example.com/a?sid=1", **asked)
    assert other.outcome == "duplicate"


def test_a_page_whose_callback_failed_is_what_it_was_before(gate) -> None:
    judge(gate, a_page(), "/a")
    later = the_next_run(gate)
    updated = judge(later, a_page(digest=7), "/a")
    later.take_back(updated.record)
    assert judge(the_next_run(later, "last"), a_page(digest=7), "/a").outcome == "updated"


def test_another_address_whose_callback_failed_takes_nothing_from_a_page(gate) -> None:
    first, other = (a_page(sketch=sketch_of(name, ("price", "1"))) for name in ("Red", "Blue"))
    key = {"key": key_of("https://example.com/a")}
    judge(gate, first, "/a", **key)
    verdict = judge(gate, other, "/a?fbclid=x", **key)
    assert verdict.outcome == "near"
    gate.take_back(verdict.record)
    assert judge(gate, first, "/c").outcome == "duplicate"
    assert judge(gate, other, "/b").outcome == "near"
    assert judge(the_next_run(gate), first, "/a", **key).outcome == "unchanged"


def test_an_update_that_says_what_another_page_says_is_a_duplicate(gate) -> None:
    judge(gate, a_page(), "/a")
    judge(gate, a_page(30), "/b")
    later = the_next_run(gate)
    at = time.time() + 60
    verdict = judge(later, a_page(30), "/a", at=at)
    assert verdict.outcome == "duplicate"
    assert verdict.match.record.key == "/b"
    assert verdict.previous.digest == 100
    assert judge(later, a_page(), "/c").outcome == "new"  # nobody has it any more
    later.store.end(later.run)
    assert {kept.key: kept.seen for kept in histories(later.store)}["/a"] == at


def test_what_a_live_run_has_delivered_is_not_delivered_again_while_it_runs(gate) -> None:
    """Its pages count at once, as those of DURABLE = "page": also where unchanged ones pass."""
    again = Policy(revisit="pass")
    gate.store.begin("other")
    kept = judge(gate, a_page(), "/a", again).record
    gate.store.update([kept], settled=True, durable=True)
    other = Gate(gate.store, run="other", pipeline="v1")
    verdict = judge(other, a_page(), "/a", again)
    assert (verdict.outcome, verdict.rejected) == ("duplicate", True)
    assert verdict.reason.endswith("by a crawl that runs and has delivered it")
    assert judge(other, a_page(), "/a").outcome == "unchanged"
    gate.store.end("now")
    verdict = judge(other, a_page(), "/a", again)
    assert (verdict.outcome, verdict.rejected) == ("unchanged", False)


def test_what_a_run_that_is_still_live_kept_for_the_same_request_is_a_duplicate(gate) -> None:
    judge(gate, a_page(), "/a")
    gate.store.begin("beside")
    beside = Gate(gate.store, run="beside", pipeline="v1")
    for retry in (False, True):
        assert judge(beside, a_page(), "/a", retry=retry).outcome == "duplicate"
    gate.store.end("now")
    assert judge(beside, a_page(), "/a").outcome == "unchanged"


def test_the_same_request_again_is_a_duplicate_unless_it_is_a_retry(gate) -> None:
    kept = judge(gate, a_page(), "/a")
    assert judge(gate, a_page(), "/a").outcome == "duplicate"
    retried = judge(gate, a_page(), "/a", retry=True)
    assert retried.outcome == "unchanged"
    assert retried.record.identity == kept.record.identity


def test_what_is_of_another_scope_or_pipeline_dismissed_or_forgotten_is_not_compared(gate) -> None:
    kept = judge(gate, a_page(), "/a").record
    assert judge(gate, a_page(), "/b", scope="example.org").outcome == "new"
    other = Gate(gate.store, run="now", pipeline="v2")
    assert judge(other, a_page(), "/b").outcome == "new"
    gate.store.forget(kept)
    kept = judge(gate, a_page(), "/b").record
    assert kept is not None
    assert judge(gate, a_page(), "/c", dismissed=[kept]).outcome == "new"


def test_an_exact_copy_is_found_among_any_number_of_short_pages_that_look_alike(gate) -> None:
    for number in range(3 * MOST_LOOKS):
        assert judge(gate, a_page(words=19, digest=number), f"/{number}").outcome == "new"
    assert judge(gate, a_page(words=19, digest=0), "/copy").match.record.key == "/0"


def says(*lines: str, beside: str = "", dated: str = "", image: str = "", **values) -> Page:
    """Return a page with the words of some lines, and others beside its article."""
    name, offered = values.pop("name", ""), values.pop("offered", ())
    kept = lines_of(*lines).beside(lines_of(dated, kind=SAID | Kind.ABOUT))
    kept = kept.beside(lines_of(*beside.split("\n"), kind=Kind.LINK))
    kept = kept.beside(lines_of(image, kind=Kind.CONTENT | Kind.MARK))
    words = WordSet.of(" ".join(lines).split(), beside.split())
    sketch = Sketch(name, (name,) if name else (), offered, words=words, lines=kept).encode()
    shown = "\n".join([*lines, *filter(None, [dated]), "", *filter(None, [beside, image])])
    return a_page(**{"digest": hash_of(lines), **values}, sketch=sketch, lines=shown.encode())


DRILL = "the drill costs 19.99 euros and weighs more than the old one"
GRIP = "carpenters liked the grip of the drill"


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (
            (DRILL.replace("19.99", "24.99"), GRIP),
            "new: 'the drill costs 24.99 euros and weighs more than…'; gone",
        ),
        ((DRILL, f"{GRIP} and its case"), "new: '…grip of the drill and its case'"),
        ((DRILL,), "gone: 7 words"),
        (
            (DRILL.replace("more than the old one", "the old more than one"), GRIP),
            "new: 'the drill costs 19.99 euros and…'; gone: 12 words",
        ),
        ((DRILL, GRIP, "the old one weighs more than the drill"), "new: 'the old one weighs"),
    ],
)
def test_another_word_order_or_line_makes_another_page_however_near(gate, lines, reason) -> None:
    judge(gate, says(DRILL, GRIP), "/a")
    verdict = judge(gate, says(*lines), "/b")
    assert (verdict.outcome, verdict.match.distance, verdict.differs) == ("near", 0, "texts")
    assert reason in verdict.reason


def test_what_the_other_page_says_elsewhere_or_in_other_places_is_no_difference(gate) -> None:
    judge(gate, says(DRILL, GRIP), "/a")
    for path, copy in (
        ("/boxed", says(DRILL, beside=GRIP)),
        ("/moved", says(GRIP, DRILL)),
        ("/split", says("the drill costs", DRILL.removeprefix("the drill costs "), GRIP)),
    ):
        assert judge(gate, replace(copy, digest=len(path)), path).outcome == "duplicate", path


def test_lines_that_stand_in_one_elsewhere_are_no_line_more(gate) -> None:
    """A list in cells has headline and teaser in one line; who changed a line has one for one."""
    parts = [GRIP, DRILL, f"{GRIP} costs", f"{DRILL} liked", f"{GRIP} and weighs", f"the {DRILL}"]
    joined = [f"{one} {other}" for one, other in zip(parts[::2], parts[1::2], strict=True)]
    judge(gate, says(*parts), "/list")
    assert judge(gate, replace(says(*joined), digest=2), "/table").outcome == "duplicate"
    judge(gate, says(DRILL, GRIP), "https://other.example/a")
    changed = judge(gate, says(DRILL, f"{GRIP} drill"), "https://other.example/b")
    assert "new: '…the grip of the drill drill'" in changed.reason


def test_copies_are_found_as_far_as_near(gate) -> None:
    judge(gate, says(DRILL), "/a")
    assert judge(gate, replace(says(GRIP), **vars(says(DRILL, flipped=8))), "/b").rejected
    assert judge(gate, says(DRILL, flipped=9), "/c").outcome == "new"


def test_dates_and_images_tell_pages_apart_that_both_have_some(gate) -> None:
    judge(gate, says("open daily", dated="may 3", image="bees.jpg", words=6, digest=1), "/a")
    for path, shown, reason in (
        ("/b", {"dated": "may 4", "image": "bees.jpg"}, "new: 'may 4'; gone: 2 words"),
        ("/c", {"dated": "may 3", "image": "wasps.jpg"}, "new: 'wasps.jpg'; gone: 1 word"),
    ):
        verdict = judge(gate, says("open daily", words=6, digest=2, **shown), path)
        assert verdict.reason.endswith(reason)
        gate.store.forget(verdict.record)
    copy = judge(gate, says("open daily", words=6, digest=2), "/print")
    assert copy.outcome == "duplicate", "a print view has none"


def test_a_listing_says_the_same_in_any_order_and_nothing_else(gate) -> None:
    judge(gate, says(DRILL, GRIP, listing=True, digest=1), "/a")
    assert judge(gate, says(GRIP, DRILL, listing=True, digest=1, flipped=3), "/b").rejected
    assert judge(gate, says(GRIP, DRILL, listing=True, digest=2), "/c").outcome == "new"


def named(name: str, **values) -> Page:
    """Return a page with a name."""
    return says(DRILL, name=name, digest=len(name), **values)


def test_pages_whose_names_contradict_each_other_are_no_duplicates_however_near(gate) -> None:
    judge(gate, named("A red drill"), "/red")
    verdict = judge(gate, named("A blue drill"), "/blue")
    assert (verdict.outcome, verdict.differs, verdict.match.distance) == ("near", "names", 0)
    assert verdict.reason == "distance 0: another name: 'A red drill' → 'A blue drill'"
    assert judge(gate, named("Print: A red drill"), "/print").match.record.key == "/red"


def test_the_distance_alone_decides_where_that_is_asked_for(gate) -> None:
    policy = Policy(verify=False)
    judge(gate, named("A red drill"), "/red", policy)
    assert judge(gate, named("A blue drill"), "/blue", policy).outcome == "duplicate"
    assert [record.sketch for record in gate.store.records()] == [b""]


def test_a_copy_is_found_at_once_among_any_number_of_pages_with_other_names(gate) -> None:
    asked = []
    check_and_add = gate.store.check_and_add

    def count(*given, **named):
        asked.append(given)
        return check_and_add(*given, **named)

    gate.store.check_and_add = count
    for number in range(100):
        verdict = judge(gate, named(f"Drill {number} of many"), f"/{number}")
        assert (verdict.outcome, verdict.not_compared) == ("near" if number else "new", "")
    assert len(asked) <= 100 * (MOST_CONTRADICTIONS + 1)
    asked.clear()
    assert judge(gate, named("Drill 7 of many"), "/copy").match.record.key == "/7"
    assert len(asked) == 1


def test_a_copy_is_found_at_once_among_any_number_of_offers_under_one_name(gate) -> None:
    for number in range(50):
        page = named("A drill", offered=(("price", f"{number}.00 EUR"),))
        verdict = judge(gate, page, f"/{number}")
        assert verdict.differs == ("offers" if number else "")
    copy = judge(gate, named("A drill", offered=(("price", "7.00 EUR"),)), "/copy")
    assert copy.match.record.key == "/7"


@pytest.mark.parametrize("kept_sketch", [b"", b"of another version"])
def test_of_a_page_kept_without_a_sketch_only_the_very_text_is_a_copy(gate, kept_sketch) -> None:
    kept = judge(gate, says(DRILL), "/a").record
    gate.store.forget(kept)
    gate.store.check_and_add(replace(kept, sketch=kept_sketch), None)
    assert judge(gate, says(GRIP), "/b").outcome == "near"
    assert judge(gate, says(DRILL), "/c").match.record.key == "/a"


def test_a_page_unlike_many_that_look_like_it_is_kept_without_looking_at_all(gate) -> None:
    for number in range(MOST_LOOKS + 5):
        verdict = judge(gate, says(f"the drill costs {number}"), f"/{number}")
        assert verdict.record is not None
        assert verdict.not_compared == ("many_alike" if number >= MOST_LOOKS else "")


@pytest.mark.parametrize("at", range(1, MOST_LOOKS + 2))
@pytest.mark.parametrize("alike", ["names", "words"])
def test_a_page_two_crawls_judge_at_once_is_kept_once(tmp_path, monkeypatch, alike, at) -> None:
    """The other crawl keeps it just before the store is asked for the `at`-th time."""

    def page(number: int) -> Page:
        return says(f"it costs {number}") if alike == "words" else named(f"Drill {number} of many")

    url = f"sqlite:///{tmp_path}/pages.sqlite"
    with closing(open_store(url)) as store, closing(open_store(url)) as others:
        store.begin("now")
        others.begin("then")
        gate = Gate(store, run="now", pipeline="v1")
        other = Gate(others, run="then", pipeline="v1")
        for number in range(MOST_LOOKS + 5):
            assert judge(gate, page(number), f"/{number}").record is not None
        check_and_add, asked = store.check_and_add, []

        def ask(*given, **named):
            asked.append(given)
            if len(asked) == at:
                assert judge(other, page(99), "/new").record is not None
            return check_and_add(*given, **named)

        monkeypatch.setattr(store, "check_and_add", ask)
        verdict = judge(gate, page(99), "/new")
        if len(asked) >= at:
            assert (verdict.outcome, verdict.match.record.run) == ("duplicate", "then")
        else:
            assert alike == "names"
            assert at > MOST_CONTRADICTIONS + 1


def test_the_window_belongs_to_the_policy(gate) -> None:
    judge(gate, a_page(), "/a")
    judge(gate, a_page(40), "/b")
    assert judge(gate, a_page(), "/c", Policy(window=1)).outcome == "new"


NOTES = [f"note {number} of the site on delivery and returns" for number in range(9)]


def noted(name: str, flipped: int, *own: str, **values) -> Page:
    """Return a page that says what its site says, and lines of its own."""
    return says(*NOTES, *own, name=name, flipped=flipped, **values)


def test_agreement_in_what_the_site_repeats_is_no_reason_to_drop(gate) -> None:
    for number, name in enumerate(("Login", "Basket", "Orders", "Returns")):
        judge(gate, noted(name, 8 * number + 8, f"what {number} says"), f"/{number}")
    judge(gate, noted("Shoes", 0), "/shoes")
    verdict = judge(gate, noted("Shoes | page two", 1), "/shoes?page=2")
    assert (verdict.outcome, verdict.differs) == ("near", "repeats")
    assert verdict.reason == "distance 1: pages of other names say the same"
    assert judge(gate, noted("Shoes", 1), "/copy").outcome == "duplicate"
    text = [f"sentence {n} of a story about a drill and those who made it" for n in range(9)]
    judge(gate, noted("A story", 60, *text), "/story")
    assert judge(gate, noted("Print: A story", 60, *text), "/print").outcome == "duplicate"


def test_what_one_crawl_has_learned_of_a_site_the_next_one_knows(gate) -> None:
    for number in range(4):
        judge(gate, noted(f"Page {number} of many", 8 * number + 8), f"/{number}")
    gate.keep_memories()
    gate.store.begin("later")
    later = Gate(gate.store, run="later", pipeline="v1")
    judge(later, noted("Shoes", 0), "/shoes")
    assert judge(later, noted("Shoes | page two", 1), "/shoes?page=2").differs == "repeats"


def test_what_the_site_repeats_may_come_or_not(gate) -> None:
    line = "brought to you by the friends of the drill"
    for number in range(3):
        judge(gate, says(line, name=f"Page {number}", flipped=12 * number + 12), f"/{number}")
    judge(gate, says(DRILL, name="A drill"), "/drill")
    assert judge(gate, says(DRILL, line, name="A drill"), "/print").outcome == "duplicate"
    assert judge(gate, says(DRILL, "sold out", name="A drill"), "/sold").outcome == "near"


@pytest.mark.parametrize("line", ["ships in 9 weeks", "sold out", "sku a 2", "with 6 handles"])
def test_one_product_at_one_price_may_say_nothing_else(gate, line) -> None:
    offered = (("shown price", "12.90 EUR"), ("sku", "A-1"))

    def sold(path: str, *lines: str) -> Verdict:
        lines = ("it is made of oak", DRILL, GRIP, *lines)
        page = says(*lines, name="A drill", offered=offered)
        return judge(gate, replace(page, digest=len(path)), path)

    assert sold("/drill", "ships in 2 weeks").outcome == "new"
    assert sold("/print", "ships in 2 weeks").outcome == "duplicate"
    assert sold("/another", line).outcome == "near"


def test_labels_of_what_two_pages_offer_may_differ_beside_what_the_site_repeats(gate) -> None:
    taxes = "taxes included shipping calculated at checkout"

    def sold(path: str, sku: str, *lines: str, name: str = "A drill") -> Verdict:
        values = {"offered": (("shown price", "12.90 EUR"), ("sku", sku)), "name": name}
        page = says(DRILL, GRIP, f"it is made for {name}", *lines, **values)
        return judge(gate, replace(page, digest=hash_of([path])), path)

    for number in range(4):
        sold(f"/{number}", f"b{number}", taxes, name=f"Lathe{number}")
    assert sold("/drill", "a1", taxes).outcome != "duplicate"
    assert sold("/print", "a1", "item no a1").outcome == "duplicate"
    assert sold("/new", "a1", "item no a1", "sold out").outcome == "near"


@pytest.mark.parametrize("number", [2, 40])
def test_what_is_said_of_one_thing_and_was_said_of_another_makes_another_page(gate, number) -> None:
    def results(path: str, form: str, odd: int) -> Verdict:
        pairs = [(n, n + 99) if n % 2 == odd else (n + 99, n) for n in range(number)]
        lines = [form.format(*pair) for pair in pairs]
        return judge(gate, says(DRILL, *lines, name=path[:-1]), path)

    for path, form in (("/match", "{} beat {}"), ("/vote", "for {} and against {} they were")):
        results(f"{path}1", form, 0)
        verdict = results(f"{path}2", form, 1)
        assert (verdict.outcome, "; gone: " in verdict.reason) == ("near", True)
    lines = [[f"of pupil {n} it has {form}" for n in range(number)] for form in ("gone", "come")]
    one, other = ([lines[(n + odd) % 2][n] for n in range(number)] for odd in (0, 1))
    judge(gate, says(DRILL, *one, name="Results"), "/one")
    verdict = judge(gate, says(DRILL, *other, name="Results"), "/other")
    assert (verdict.outcome, "; gone: " in verdict.reason) == ("near", True)


def test_another_address_that_shows_a_known_page_otherwise_is_no_update_of_it(gate) -> None:
    """Its digest is another one, though a closer look finds the same, as it does in one crawl."""
    page = says(DRILL, GRIP, name="A drill")
    shown_otherwise = replace(page, digest=7)
    beta = {"url": "https://example.com/beta/a"}
    judge(gate, page, "/a")
    for run in ("second", "third"):
        gate = the_next_run(gate, run)
        assert judge(gate, shown_otherwise, "/a", **beta).outcome == "unchanged"
        assert judge(gate, page, "/a").outcome == "duplicate"
    assert [kept.url for kept in gate.store.records()] == ["https://example.com/a"]
    gate = the_next_run(gate, "last")
    changed = says(DRILL, GRIP, "it is sold out", name="A drill")
    assert judge(gate, changed, "/a", **beta).outcome == "updated"


class Interrupted(MemoryDriver):
    """A store in memory that fails after it has carried out so many writes."""

    left = -1

    def _fails(self) -> None:
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt

    def transaction(self, *, write=True):
        return nullcontext()  # like servers: what was carried out stays

    def append(self, *args):
        news = super().append(*args)
        self._fails()
        return news

    def change(self, *args, **values):
        super().change(*args, **values)
        self._fails()

    def remove(self, *args):
        state = super().remove(*args)
        self._fails()
        return state

    def swap(self, *args):
        current = super().swap(*args)
        self._fails()
        return current


@pytest.mark.parametrize("flipped", [0, 1, 30])
@pytest.mark.parametrize("moved", [{}, {"moved_from": "/", "key": "/moved"}])
@pytest.mark.parametrize("path", ["/", "/new"])
def test_a_page_whose_judging_failed_is_judged_again_as_if_it_had_not_been(
    path, moved, flipped
) -> None:
    found = []
    for writes in range(12):  # the first time, none fails
        with closing(Store(driver := Interrupted())) as store:
            store.begin("before")
            judge(Gate(store, run="before", pipeline="v1"), a_page(), "/")
            store.end("before")
            store.begin("now")
            gate = Gate(store, run="now", pipeline="v1")
            driver.left = writes
            for _ in range(2):
                with suppress(KeyboardInterrupt):
                    policy = Policy(revisit="pass")
                    found.append(judge(gate, a_page(flipped), path, policy, **moved).outcome)
                    break
    # What a page was that has moved may be forgotten, which delivers it.
    assert set(found) <= ({found[0], "new"} if moved else {found[0]})


def test_a_visit_that_failed_takes_nothing_from_the_one_before(gate) -> None:
    judge(gate, a_page(), "/a", at=1_000.0)
    gate.doubt(visit("/a", at=2_000.0).record(a_page(), "now", "v1"))
    assert judge(gate, a_page(), "/a", at=3_000.0).outcome == "duplicate"


def test_what_items_said_is_known_for_each_pipeline_and_asker() -> None:
    """Though a canary crawls between two crawls of the others."""
    said = {("v1", "parse"): "AAA=", ("v2", "parse"): "BBB=", ("v1", "other"): "CCC="}
    with closing(open_store("memory:")) as store:
        for round_ in range(2):
            for (pipeline, asker), items in said.items():
                run = f"{pipeline} {asker} {round_}"
                store.begin(run)
                gate = Gate(store, run=run, pipeline=pipeline)
                verdict = judge(gate, a_page(), "/a", asker=asker, at=round_ * 1e6)
                assert (verdict.outcome == "unchanged") == bool(round_)
                if round_:
                    assert verdict.previous.items == items
                else:
                    gate.note_items(verdict.record, items)
                store.end(run)

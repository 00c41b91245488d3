"""What a crawl knows of scopes takes no more memory with more of them, and is not forgotten."""

from functools import partial

import pytest

from simhash_gate.history.notes import with_note
from simhash_gate.history.validators import Trust
from simhash_gate.plugin import store_thread
from simhash_gate.plugin.features import revalidation
from simhash_gate.plugin.features.revalidation import SignalSource, Trusts
from simhash_gate.plugin.store_thread import StoreThread
from simhash_gate.stores.base import SITE_NOTES, Blob

NOTE = "seen"

SCOPES = [f"site{number}.example" for number in range(12)]
MOST = 5
SAME = Trust.of_visit("/page", 1_000.0, same=True, changed=False)


@pytest.fixture
def thread(monkeypatch):
    monkeypatch.setattr(store_thread, "MOST_SCOPES", MOST)
    monkeypatch.setattr(revalidation, "MOST_SITES", MOST)
    thread = StoreThread("v1")
    thread.open("memory:", at_once=True)
    yield thread
    thread.close(ended=False)


def keep_lines(gate, *, scope: str) -> None:
    gate.store.put(Blob(SITE_NOTES, scope, "", with_note(b"", NOTE, {scope: 1})))


def test_what_is_known_of_many_scopes_is_recalled_and_few_are_known_to_be_asked(thread) -> None:
    for scope in SCOPES:
        thread.submit(partial(keep_lines, scope=scope)).result()
    taken: dict[str, dict[str, int]] = {}
    known = store_thread.LearnedNotes(thread, NOTE, taken.__setitem__)
    for scope in [*SCOPES, *SCOPES]:
        assert known.has(scope)
    assert len(known._asked) == MOST
    assert taken == {scope: {scope: 1} for scope in SCOPES}


def meet(trusts: Trusts, site: SignalSource) -> Trust:
    """Ask for a site as a crawl does before each of its requests."""
    trusts.learned.has(site.scope)
    return trusts.of(site)


def test_wrong_validators_are_still_wrong_after_many_other_scopes(thread) -> None:
    trusts = Trusts(thread)
    wrong, *others = [SignalSource(scope, scope) for scope in SCOPES]
    meet(trusts, wrong)
    for page in ("/a", "/b"):
        trusts.learn(wrong, Trust.of_visit(page, 1_000.0, same=True, changed=True))
    for site in others:
        meet(trusts, site)
        trusts.learn(site, SAME)
    assert len(trusts._trusts) == MOST
    assert meet(trusts, wrong) == Trust(0, 0, "/b", 1_000.0, wrong=True)
    assert meet(trusts, others[0]) == SAME


def test_what_is_seen_before_the_store_has_answered_counts(thread) -> None:
    site = SignalSource("site.example", "site.example")
    earlier = Trusts(thread)
    for _ in range(60):
        earlier.learn(site, SAME)
    earlier.keep()
    trusts = Trusts(thread)
    trusts.learn(site, SAME)
    assert meet(trusts, site) == Trust(61)
    trusts = Trusts(thread)
    lie = Trust.of_visit("/a", 2_000.0, same=True, changed=True)
    trusts.learn(site, lie)
    assert meet(trusts, site) == meet(Trusts(thread), site) == lie


def test_domains_of_one_scope_are_bounded_too(thread) -> None:
    trusts = Trusts(thread)
    for number in range(3 * MOST):
        meet(trusts, SignalSource("all", f"site{number}.example"))
    assert len(trusts._trusts) == MOST

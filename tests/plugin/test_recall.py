"""What a crawl knows of scopes takes no more memory with more of them, and is not forgotten."""

from __future__ import annotations

from functools import partial

import pytest

from simhash_gate.history.validators import Seen, Trust
from simhash_gate.plugin import recall, validator_trust
from simhash_gate.plugin.learned_rules import LearnedRules
from simhash_gate.plugin.store_thread import StoreThread
from simhash_gate.plugin.validator_trust import Site, Trusts
from simhash_gate.stores.base import URL_RULES, Blob
from simhash_gate.urls.learner import Learner
from simhash_gate.urls.saved import merged

SCOPES = [f"site{number}.example" for number in range(12)]
MOST = 5


@pytest.fixture
def thread(monkeypatch):
    monkeypatch.setattr(recall, "MOST_SCOPES", MOST)
    monkeypatch.setattr(validator_trust, "MOST_SITES", MOST)
    thread = StoreThread("v1")
    thread.open("memory:", at_once=True)
    return thread


def keep_rule(gate, *, scope: str) -> None:
    rule = {"scope": scope, "shape": f"{scope}/*", "kind": "parameter", "name": "ref"}
    gate.store.put(Blob(URL_RULES, scope, "", merged(b"", [rule], "a test")))


def test_rules_of_many_scopes_are_recalled_and_few_scopes_are_known_to_be_asked(thread) -> None:
    for scope in SCOPES:
        thread.submit(partial(keep_rule, scope=scope)).result()
    learner = Learner(0.9)
    rules = LearnedRules(learner, thread)
    for scope in [*SCOPES, *SCOPES]:
        rules.recall(scope)
    assert len(rules._recall._asked) == MOST
    assert [len(list(learner.evidence(scope))) for scope in SCOPES] == [1] * len(SCOPES)


def meet(trusts: Trusts, site: Site) -> Trust:
    """Ask for a site as a crawl does before each of its requests."""
    trusts.recall.has(site.scope)
    return trusts.of(site, 1_000.0)


def test_wrong_validators_are_still_wrong_after_many_other_scopes(thread) -> None:
    trusts = Trusts(thread)
    wrong, *others = [Site(scope, scope, "http") for scope in SCOPES]
    meet(trusts, wrong)
    for number in range(20):
        trusts.learn(wrong, Seen(f"http://x.example/{number}", 1_000.0, same=True, changed=True))
    for site in others:
        meet(trusts, site)
        trusts.spared(site, 1_000.0)
    assert len(trusts._known) == MOST
    assert meet(trusts, wrong).state == "wrong"
    assert meet(trusts, others[0]).spared == 1


def test_domains_of_one_scope_are_bounded_too(thread) -> None:
    trusts = Trusts(thread)
    for number in range(3 * MOST):
        meet(trusts, Site("all", f"site{number}.example", "http"))
    assert len(trusts._known) == MOST

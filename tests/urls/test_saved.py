"""Rules as JSON: read again as they were written, named where they are wrong, on probation."""

from __future__ import annotations

import json

import pytest

from simhash_gate.urls.active_rules import EVERY
from simhash_gate.urls.evidence import ENOUGH_CONTENTS, POOLED
from simhash_gate.urls.learner import Learner
from simhash_gate.urls.saved import RulesError, entries_of, from_json, load, merged, to_json
from tests.urls.teaching import ENOUGH, HOME, SHAPE, SITE, X, cut, pairs_by, teach

RULE = {"scope": SITE, "shape": SHAPE, "kind": "parameter", "name": "x", "value": "*"}


def taught() -> Learner:
    learner = Learner()
    teach(learner, pairs_by("/a/{n}?x={m}", "/a/{n}", count=ENOUGH))
    teach(learner, pairs_by("/a/{n}/", "/a/{n}", 100, 2 * ENOUGH))
    teach(learner, pairs_by("/b/{n}?y=1", "/b/{n}", count=9))
    teach(learner, [("/b/77?y=1", "/b/77")], same=False)
    teach(learner, [("/c/1?seldom=1", "/c/1")])
    return learner


def again(learner: Learner, *, trusted: bool = False, edit: dict | None = None) -> Learner:
    """Return a learner that goes on from what another one knows."""
    found = [entry for rules in entries_of(learner).values() for entry in rules]
    entries = from_json(to_json([entry | (edit or {}) for entry in found]), "rules.json")
    other = Learner()
    load(other, entries, trusted=trusted)
    return other


def test_where_a_rule_fails_is_known_in_the_next_crawl() -> None:
    """For newer pages, and beside a parameter."""
    learner, _ = cut()
    other = again(learner, trusted=True)
    assert other.canonical(SITE, f"{HOME}/a/120?x=5") == f"{HOME}/a/120"
    assert other.canonical(SITE, f"{HOME}/a/800?x=5") == f"{HOME}/a/800?x=5"
    learner = taught()
    teach(learner, [("/a/800?x=1&y=5", "/a/800?y=5")], same=False)
    other = again(learner, trusted=True)
    assert other.canonical(SITE, f"{HOME}/a/120?x=5") == f"{HOME}/a/120"
    assert other.canonical(SITE, f"{HOME}/a/120?x=5&y=6") == f"{HOME}/a/120?x=5&y=6"
    broken = {**RULE, "shape": f"{SHAPE} after 9{'9' * 5000}-x"}
    load(Learner(), from_json(to_json([broken]), "rules.json"))


def test_what_was_learned_is_one_rule_a_line_in_order() -> None:
    (rules,) = entries_of(taught()).values()
    text = to_json(rules)
    lines = text.splitlines()
    assert (lines[0], lines[-1], len(lines)) == ("[", "]", len(rules) + 2)
    assert from_json(text, "rules.json") == rules == json.loads(text)
    assert [rule["kind"] for rule in rules] == ["parameter", "slash", "parameter", "parameter"]
    assert rules[0] == {
        **RULE,
        **{"state": "active", "support": 34.4, "against": 0.0, "contradictions": 0},
        **{"contents": ENOUGH_CONTENTS, "values": 3},
        "examples": [[f"{HOME}/a/{n}?x={n + 7}", f"{HOME}/a/{n}"] for n in (0, 1)],
    }


def test_a_rule_of_an_earlier_crawl_acts_when_it_is_confirmed() -> None:
    learner = again(taught())
    assert not learner.acts_on(SITE)
    assert teach(learner, pairs_by("/a/{n}?x={m}", "/a/{n}", 500, POOLED - 1)) == []
    (change,) = teach(learner, pairs_by("/a/{n}?x={m}", "/a/{n}", 600, 1))
    assert (change.rule, change.state) == (X, "active")
    assert learner.canonical(SITE, f"{HOME}/a/9?x=1") == f"{HOME}/a/9"
    learner = again(taught())
    teach(learner, pairs_by("/a/{n}?x={m}", "/a/{n}", 500, 1), same=False)
    teach(learner, pairs_by("/a/{n}?x={m}", "/a/{n}", 500, 2 * POOLED))
    assert not learner.acts_on(SITE)


def test_rules_that_are_trusted_act_at_once_if_they_did() -> None:
    """Those too that acted by evidence of other shapes."""
    learner = taught()
    teach(learner, pairs_by("/d/{n}?x={m}", "/d/{n}", 200, ENOUGH_CONTENTS))
    urls = [HOME + path for path in ("/a/1?x=1", "/a/1/", "/b/1?y=1", "/d/1?x=1", "/d/1/")]
    expected = [learner.canonical(SITE, url) for url in urls]
    assert expected == [HOME + path for path in ("/a/1", "/a/1", "/b/1?y=1", "/d/1", "/d/1/")]
    loaded = again(learner, trusted=True)
    assert [loaded.canonical(SITE, url) for url in urls] == expected
    assert not again(learner, trusted=True, edit={"word": "forbidden"}).acts_on(SITE)


def test_the_rules_with_the_most_evidence_are_kept(monkeypatch) -> None:
    monkeypatch.setattr("simhash_gate.urls.saved.MOST_KEPT", 3)
    learner = taught()
    for number in range(2):
        teach(learner, pairs_by(f"/p{number}/{{n}}?z=1", f"/p{number}/{{n}}", count=5 + number))
    load(learner, [{**RULE, "shape": EVERY, "name": "never", "word": "forbidden"}])
    found = [(rule["kind"], rule.get("name")) for rule in entries_of(learner)[SITE]]
    assert found == [("parameter", "never"), ("parameter", "x"), ("slash", None)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON: "),
        ("[" * 100_000, "not JSON: "),
        ("{}", "expected a list of rules"),
        ("[5]", "rule 1: expected an object"),
        ('[{"scope": "s", "shape": "*"}]', "rule 1: 'kind' is None"),
    ],
)
def test_a_wrong_file_is_named(text, message: str) -> None:
    with pytest.raises(RulesError, match=f"^rules.json: {message}"):
        from_json(text, "rules.json")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"shape": 5}, "'shape' is 5: expected a text"),
        ({"kind": "colour"}, "'kind' is 'colour': expected one of scheme, host"),
        ({"word": "never"}, "'word' is 'never': expected one of pinned, forbidden"),
        ({"value": None}, "'value' is None: expected a text"),
        ({"support": float("nan")}, "'support' is nan: expected a number"),
        ({"against": 10**400}, "'against' is 1000"),
        ({"name": ""}, "'name' is missing: a rule of kind 'parameter' needs it"),
        ({"kind": "host", "value": ""}, "'value' is missing: a rule of kind 'host'"),
        ({"kind": "place", "name": "-1"}, "'name' is '-1': expected a place in the path"),
        ({"kind": "segment", "value": "9" * 9}, "expected a place in the path"),
        ({"kind": "path", "value": "/a?b=*"}, "expected a path such as"),
        ({"kind": "value", "value": "5"}, "'value' is '5': expected one of {number}, {code}"),
    ],
)
def test_a_wrong_rule_is_named_with_its_place(change: dict, message: str) -> None:
    with pytest.raises(RulesError) as caught:
        from_json(json.dumps([RULE, RULE | change]), "rules.json")
    assert str(caught.value).startswith("rules.json: rule 2: ")
    assert message in str(caught.value)


def test_what_a_person_said_of_a_rule_outlives_what_crawls_learn() -> None:
    rule = {"scope": "a.example", "shape": "a.example/*", "kind": "parameter", "name": "ref"}
    known = merged(b"", [{**rule, "value": "*", "word": "forbidden"}], "store")
    learned = [
        {**rule, "value": "*", "support": 50.0, "state": "learning"},
        {**rule, "value": "x", "support": 9.0},
    ]
    found = from_json(merged(known, learned, "store"), "store")
    assert [(each["value"], each["support"], each.get("word")) for each in found] == [
        ("*", 50.0, "forbidden"),
        ("x", 9.0, None),
    ]
    last = from_json(merged(known, [{**learned[0], "word": "pinned"}], "store"), "store")
    assert last[0]["word"] == "pinned"
    with pytest.raises(RulesError, match="store"):
        merged(b"[1]", learned, "store")

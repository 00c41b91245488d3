"""Whatever a learner is told: which rules never act, and how much it keeps."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from simhash_gate.urls import first_values, parts, pools, siblings
from simhash_gate.urls.active_rules import EVERY
from simhash_gate.urls.evidence import Evidence
from simhash_gate.urls.learner import Learner
from simhash_gate.urls.parts import parts_of
from simhash_gate.urls.rules import Rule
from tests.urls.teaching import HOME, PRINT, SITE, X, pairs_by, teach


def test_no_more_than_so_much_evidence_is_kept_but_of_rules_that_act(monkeypatch) -> None:
    monkeypatch.setattr(pools, "MOST_RULES", 50)
    learner = Learner()
    teach(learner, pairs_by("/a/{n}?x={m}", "/a/{n}"))
    for number in range(100):
        other = f"/s{number % 40}/1"
        teach(learner, [(f"/a/1?p{number}=1", "/a/1"), (f"{other}?y=1", other)])
        assert len(list(learner.evidence())) <= 50
    assert learner.canonical(SITE, f"{HOME}/a/9?x=5") == f"{HOME}/a/9"
    for number in range(60):
        learner.put(SITE, EVERY, Rule("parameter", f"p{number}", "*"), Evidence(word="pinned"))
    teach(learner, pairs_by("/b/{n}?x={m}", "/b/{n}"))
    assert learner.active >= 60


PATHS = ["a", "b", "1", "2", "print", "index.html", "A", "x;s=1", "x;s=2"]
URLS = st.builds(
    lambda scheme, host, path, slash, query: (
        f"{scheme}://{host}{SITE}/{'/'.join(path)}{'/' if slash and path else ''}"
        f"{'?' if query else ''}{'&'.join('='.join(pair) for pair in query)}"
    ),
    st.sampled_from(["https", "http"]),
    st.sampled_from(["", "m.", "www."]),
    st.lists(st.sampled_from(PATHS), max_size=3),
    st.booleans(),
    st.lists(st.tuples(st.sampled_from(["x", "y", "sid"]), st.sampled_from("12")), max_size=2),
)
SEEN = st.tuples(URLS, URLS, st.sampled_from([True, True, True, False, None]))
RULES = st.sampled_from(
    [
        *(X, Rule("parameter", "x", "1"), Rule("parameter", "sid", "*"), Rule("order")),
        *(Rule("value", "x", "{number}"), Rule("value", "sid", "{number}")),
        *(Rule("path", "x", "/a/*"), Rule("path", "sid", "/*"), Rule("path", "sid", "/b/*.html")),
        *(Rule("path", "x", "./*_*"), Rule("path", "sid", "./*")),
        *(PRINT, Rule("segment", "print", "0"), Rule("place", "0"), Rule("place", "1")),
        *(Rule("host", "m.example.com", SITE), Rule("host", SITE, "m.example.com")),
        *(Rule("slash"), Rule("index"), Rule("case"), Rule("scheme"), Rule("path parameter", "s")),
    ]
)
WORDS = st.tuples(RULES, st.sampled_from(["pinned", "forbidden", "guess"]))


def test_no_more_than_so_many_pages_places_and_values_are_remembered(monkeypatch) -> None:
    for module, name in (
        (siblings, "MOST_SEEN"),
        (first_values, "MOST_PAGES"),
        (parts, "MOST_PLACES"),
    ):
        monkeypatch.setattr(module, name, 20)
    learner, values = Learner(), first_values.FirstValues()
    urls = [f"https://{number}.{SITE}/a?x=1&y={number}" for number in range(60)]
    for url in urls:
        learner.observe(SITE, url)
        values.later(SITE, parts_of(url), parts_of(url))
    groups = learner._siblings._groups.values()
    assert {page.url for group in groups for page in group} == {*urls[-20:]}
    assert 0 < len(learner.shapes._places) <= 20
    assert 0 < len({**values._old, **values._new}) <= 22
    split = [learner.shapes.split("a.example/a", f"p{number}") for number in range(20)]
    assert split.count(True) == parts.MOST_NAMES < 20


def watched(steps: list) -> Learner:
    """Let a learner take steps; whatever they are, see that no rule acts that must not."""
    learner = Learner(0.3)
    for step in steps:
        if len(step) == 2:
            learner.put(SITE, EVERY, step[0], Evidence(word=step[1]))
            continue
        url, kept, same = step
        told = (None, None) if same is None else (kept, same)
        learner.observe(SITE, url, *told, fingerprint=hash(url) % 2**64)
        for where, shape, rule, found in learner.evidence():
            if found.rests or found.is_dropped:
                assert found.state != "active"
                assert rule not in learner._rules.get((where, shape), ())
            assert (found.state == "active") == (rule in learner._rules.get((where, shape), ()))
        if same is False and parts_of(url) != parts_of(kept):
            assert learner.canonical(SITE, url) != learner.canonical(SITE, kept)
    return learner


STEPS = st.lists(SEEN | WORDS | SEEN.map(lambda seen: (*seen[:2], True)), max_size=40)


@given(STEPS, st.lists(URLS, min_size=1, max_size=8))
@settings(max_examples=60)
def test_no_rule_acts_that_must_not_and_a_canonical_url_is_its_own(
    steps: list, urls: list[str]
) -> None:
    learner = watched(steps)
    for url in urls:
        canonical = learner.canonical(SITE, url)
        assert learner.canonical(SITE, canonical) == canonical
        assert learner.place(SITE, url)[1] == canonical
        acting = learner.acting_on(SITE, url)
        assert bool(acting) == (parts_of(canonical) != parts_of(url))

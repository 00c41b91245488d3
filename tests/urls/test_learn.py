"""What a verdict tells of two URLs, and what is learned from a line of a verdict log."""

from __future__ import annotations

import pytest

from simhash_gate.urls.learn import FEWEST_WORDS, Told, learn_line, told_by
from simhash_gate.urls.learner import Learner
from tests.urls.teaching import HOME, SITE, X, evidence


@pytest.mark.parametrize(
    ("outcome", "differs", "expected"),
    [
        ("duplicate", "", Told("kept", True)),
        ("unchanged", "", Told("kept", True)),
        ("near", "names", Told("kept", False)),
        ("near", "repeats", Told("kept", None)),
        ("near", "", Told("kept", None)),
        ("new", "", Told(None, None)),
        ("skipped", "", None),
    ],
)
def test_only_a_closer_look_tells_that_pages_are_two(outcome, differs, expected) -> None:
    assert told_by(outcome, "kept", differs, 500) == expected
    short = told_by(outcome, "kept", differs, FEWEST_WORDS - 1)
    assert short == (expected if outcome in ("duplicate", "unchanged") else None)


def line(number: int, **named) -> dict:
    url = f"{HOME}/a/{number}"
    told = {"outcome": "duplicate", "matched_url": url, "words": 300, "fingerprint": "0" * 16}
    return {"url": f"{url}?x={number}", **told, **named}


@pytest.mark.parametrize(
    "broken",
    [
        {"url": 5},
        {"matched_url": 5},
        {"words": "many", "outcome": "near"},
        {"fingerprint": "no number"},
        {"url": None, "not_sent": "rule"},
    ],
)
def test_a_broken_line_tells_nothing(broken: dict) -> None:
    learner = Learner()
    assert learn_line(learner, SITE, line(1, **broken)) == []
    assert [*learner.evidence()] == []
    learn_line(learner, SITE, line(1))
    assert evidence(learner, X).seen == 1

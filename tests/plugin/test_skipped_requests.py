"""Requests that were skipped: sent when no rule is left that says so."""

from __future__ import annotations

from scrapy import Request

from simhash_gate.plugin.skipped_requests import Skipped, SkippedRequests
from simhash_gate.urls.rules import Rule

SITE, SHAPE = "example.com", "example.com/a"
ONE, TWO = ((SHAPE, Rule("parameter", name, "*")) for name in "xy")


def test_what_is_left_by_another_rule_goes_when_that_fails_too() -> None:
    waiting = SkippedRequests()
    for number in (1, 2):
        request = Request(f"http://{SITE}/a?x={number}")
        waiting.add(Skipped(request, SITE, number, f"http://{SITE}/a", (ONE,)))

    def sent(rule, reasons) -> list[int]:
        found, let_go = waiting.pop_by_rule(SITE, *rule, shape_of=str, reasons=reasons)
        assert let_go == 0
        return [skipped.visit for skipped in found]

    assert sent(TWO, lambda _: ()) == []
    assert sent(ONE, lambda skipped: (TWO,) if skipped.visit == 2 else ()) == [1]
    assert sent(ONE, lambda _: ()) == []
    assert sent(TWO, lambda _: ()) == [2]
    assert [*waiting] == []

"""Requests that were skipped: sent when no rule is left that says so."""

from __future__ import annotations

from scrapy import Request
from scrapy.utils.test import get_crawler

from simhash_gate.plugin.parked import ParkedRequests
from simhash_gate.plugin.skipped_requests import Skipped, stands, take_by_rule
from simhash_gate.urls.rules import Rule

SITE, SHAPE = "example.com", "example.com/a"
ONE, TWO = ((SHAPE, Rule("parameter", name, "*")) for name in "xy")


def test_what_is_left_by_another_rule_goes_when_that_fails_too() -> None:
    waiting = ParkedRequests(get_crawler())
    for number in (1, 2):
        request, stand_in = Request(f"http://{SITE}/a?x={number}"), f"http://{SITE}/a"
        waiting.add(Skipped(stands(number), request, SITE, number, stand_in, (ONE,)))

    def sent(rule, reasons) -> list[int]:
        found = take_by_rule(waiting, SITE, *rule, "", shape_of=str, reasons=reasons)
        return [skipped.visit for skipped in found]

    assert sent(TWO, lambda _: ()) == []
    assert sent(ONE, lambda skipped: (TWO,) if skipped.visit == 2 else ()) == [1]
    assert sent(ONE, lambda _: ()) == []
    assert sent(TWO, lambda _: ()) == [2]
    assert waiting.of_kind("rule") == waiting.beliefs() == []

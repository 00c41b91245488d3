"""When a spider is told that it asks for one address again and again in vain."""

from types import SimpleNamespace

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse
from scrapy.signalmanager import SignalManager

from simhash_gate.gate.verdict import Verdict
from simhash_gate.plugin.features import held_items
from simhash_gate.plugin.features.held_items import MANY, PollWatch
from simhash_gate.plugin.listeners import Judged
from simhash_gate.plugin.signals import item_held

URL = "https://user:secret@example.com/random"


class Polls:
    """A crawl whose answers have held items."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self._signals = SignalManager()
        crawl = SimpleNamespace(
            crawler=SimpleNamespace(signals=self._signals, stats=None),
            settings=SimpleNamespace(policies=None),
            parked=None,
            note=lambda message, advice, wrong: self.told.append(f"{message} {advice}"),
        )
        self._watch = PollWatch(crawl)

    def answers(self, number: int, outcome: str = "unchanged", url: str = URL, items=2) -> None:
        for _ in range(number):
            response = HtmlResponse(url)
            verdict = Verdict(outcome, "")
            self._watch.judged(Judged(Request(url), response, verdict, "", verdict.action), None)
            for _ in range(items):
                self._signals.send_catch_log(item_held, response=response)


@pytest.fixture
def polls() -> Polls:
    return Polls()


def test_many_answers_of_one_address_with_held_items_only_are_told_once(polls) -> None:
    polls.answers(MANY - 1)
    assert polls.told == []
    polls.answers(3 * MANY)
    [told] = polls.told
    assert told.startswith("https://example.com/random was answered 200 times, and all items were")
    assert "meta={'simhash_gate': False}, or set SIMHASH_GATE_REVISIT = 'pass'" in told


def test_an_answer_whose_items_come_out_or_that_has_none_is_no_vain_one(polls) -> None:
    for _ in range(3):
        polls.answers(MANY - 1)
        polls.answers(1, "updated", items=0)
    polls.answers(2 * MANY, items=0)
    for number in range(2 * MANY):
        polls.answers(1, url=f"https://example.com/{number}")
    assert polls.told == []


def test_only_the_last_addresses_are_remembered(monkeypatch) -> None:
    monkeypatch.setattr(held_items, "_MOST_ADDRESSES", 10)
    polls = Polls()
    for number in range(30):
        polls.answers(1, url=f"https://example.com/{number}")
        polls.answers(10)
    assert len(polls._watch._answers) == 10
    assert len(polls.told) == 1

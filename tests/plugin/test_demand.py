"""Markdown is made while callbacks read it."""

from __future__ import annotations

import pickle

from simhash_gate.pipeline import Options, Page, read_page
from simhash_gate.plugin.demand import PATIENCE, MarkdownDemand
from simhash_gate.workers.pool import Anew

BODY = b"<article><h1>Title</h1><p>Some words of a page.</p></article>"


def page(demand: MarkdownDemand) -> Page:
    """What the gate hands over: Markdown is there if it was wanted when the page was read."""
    options = Options(markdown=demand.wanted)
    read = read_page(BODY, options=options)
    return demand.watch(read if demand.wanted else read.drafted(Anew(BODY, "", None, options)))


def test_markdown_is_wanted_as_long_as_it_is_read_now_and_then() -> None:
    demand = MarkdownDemand()
    for _ in range(5):
        handed = [page(demand) for _ in range(PATIENCE - 1)]
        assert demand.wanted
        assert handed[3].markdown == "# Title\n\nSome words of a page."
    for _ in range(PATIENCE):
        assert demand.wanted
        page(demand)
    assert not demand.wanted


def test_who_asks_late_gets_it_and_it_is_made_from_then_on() -> None:
    demand = MarkdownDemand()
    for _ in range(PATIENCE):
        page(demand)
    late = page(demand)
    assert not demand.wanted
    assert late.markdown == "# Title\n\nSome words of a page."
    for _ in range(10 * PATIENCE):
        page(demand)
    assert demand.wanted


def test_a_watched_page_is_a_page_like_any_other() -> None:
    demand = MarkdownDemand()
    watched = page(demand)
    assert pickle.loads(pickle.dumps(watched)) == watched == read_page(BODY)

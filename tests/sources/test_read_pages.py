"""How far ahead pages are read: enough to keep processes busy, and never too much at once."""

from __future__ import annotations

import pytest

from simhash_gate.settings import read_settings
from simhash_gate.sources import Entry
from simhash_gate.sources.read_pages import AHEAD, AHEAD_BYTES, read_pages


@pytest.mark.parametrize("size", [100, AHEAD_BYTES // 8])
def test_pages_come_in_order_and_few_are_in_memory(size: int) -> None:
    taken = 0

    def entries():
        nonlocal taken
        for number in range(3 * AHEAD):
            taken += 1
            body = b"<p>a page about %d" % number
            yield Entry(str(number), body + b" " * (size - len(body)))

    settings = read_settings({"SIMHASH_GATE_WORKERS": 1, "SIMHASH_GATE_MAX_BYTES": AHEAD_BYTES})
    most = min(AHEAD, AHEAD_BYTES // size) + 1
    found = 0
    for entry, page in read_pages(entries(), settings):
        assert entry.place == str(found)
        assert page.words == 4
        assert taken - found <= most
        found += 1
    assert found == 3 * AHEAD

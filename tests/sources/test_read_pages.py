"""How far ahead pages are read: enough to keep processes busy, and never too much at once."""

import pytest

from simhash_gate.settings import read_settings
from simhash_gate.sources import Entry
from simhash_gate.sources.read_pages import AHEAD, AHEAD_BYTES, read_pages


@pytest.mark.parametrize("size", [100, AHEAD_BYTES // 8])
def test_pages_come_in_order_and_few_are_in_memory(size: int) -> None:
    most = min(AHEAD, AHEAD_BYTES // size) + 1
    taken = found = 0

    def entries():
        nonlocal taken
        for taken in range(1, 2 * most + 1):
            body = b"<p>a page about %d" % taken
            yield Entry(str(taken), body + b" " * (size - len(body)))

    settings = read_settings({"SIMHASH_GATE_WORKERS": 1, "SIMHASH_GATE_MAX_BYTES": AHEAD_BYTES})
    for found, (entry, page) in enumerate(read_pages(entries(), settings), 1):
        assert entry.place == str(found)
        assert page.words == 4
        assert taken - found < most
    assert found == 2 * most

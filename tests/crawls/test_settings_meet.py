"""Crawls in which each two values of settings meet: nothing is lost, whatever is on beside it.

Each feature has tests of its own. Pages were lost where two of them met.
"""

from itertools import combinations, product
from random import Random

import pytest

from tests.crawls.harness import demonstration, told_by

SETTINGS = {
    "SIMHASH_GATE_STORE": ("sqlite:///{folder}/store.sqlite", "{redis}?prefix={number}:"),
    "SIMHASH_GATE_SCOPE": ("domain", "host", "crawl"),
    "SIMHASH_GATE_REVALIDATE": ("False", "True"),
    "SIMHASH_GATE_REVISIT": ("links", "pass"),
    "SIMHASH_GATE_DURABLE": ("run", "page"),
    "SIMHASH_GATE_KEEP_MARKDOWN": ("0", "10000000"),
    "SIMHASH_GATE_WORKERS": ("0", "1"),
    "SIMHASH_GATE_JOURNAL": ("", "{folder}/journal"),
    "SIMHASH_GATE_REPORT": ("", "{folder}/report.html"),
    "CONCURRENT_REQUESTS": ("16", "1", "64"),
}


def choices() -> list[tuple[str, ...]]:
    """Return values of all settings, so few times that each two of them meet at least once.

    Of some random choices, the one is taken in which most pairs meet that have not met before.
    """
    dice = Random(3)
    places = list(combinations(range(len(SETTINGS)), 2))
    values = list(SETTINGS.values())
    left = {
        (one, a, other, b) for one, other in places for a, b in product(values[one], values[other])
    }
    found = []
    while left:
        meeting = {}
        for _ in range(200):
            choice = tuple(map(dice.choice, values))
            meeting[choice] = left & {(i, choice[i], j, choice[j]) for i, j in places}
        best = max(meeting, key=lambda choice: len(meeting[choice]))
        found.append(best)
        left -= meeting[best]
    return found


@pytest.mark.parametrize("number", range(len(choices())))
def test_no_page_and_no_update_is_lost_whatever_settings_meet(number, redis_server, tmp_path):
    known = {"folder": tmp_path, "redis": redis_server.url, "number": number}
    chosen = [value.format(**known) for value in choices()[number]]
    settings = [
        part
        for name, value in zip(SETTINGS, chosen, strict=True)
        for part in ("-s", f"{name}={value}")
    ]
    year = ("-a", "days=4", "-a", "articles=20", "-a", f"seed={number + 1}")
    figures, _, log = told_by(demonstration("demo-year", *year, *settings))
    assert figures["articles"] >= 15, "some may come later in the year"
    assert (figures["lost"], figures["updates_missed"]) == (0, 0), settings
    assert "ERROR" not in log, settings

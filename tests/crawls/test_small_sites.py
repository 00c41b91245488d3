"""What is delivered of small sites with the gate is what is delivered without it, minus copies."""

import json
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.crawls.harness import ROOT
from tests.crawls.small_sites import UNJUDGED

CALLBACKS = "takes_page takes_print takes_all only_follows hands_on fails_first".split()
VIEWS = ("page", "print", "mobile")
MOST_ARTICLES, MOST_ADDRESSES = 4, 3
MENDED = {"": [], "selector": ["print"], "method": ["page", "print", "all"]}
"""What is mended after the first crawl, and whose items may come again for that."""


@pytest.fixture(scope="module")
def crawls():
    """Ask a process that crawls."""
    command = [sys.executable, "-m", "tests.crawls.small_sites"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=ROOT, text=True, **pipes) as process:

        def ask(site: dict) -> dict:
            process.stdin.write(json.dumps(site) + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        yield ask
        process.stdin.close()


@st.composite
def sites(draw) -> dict:
    views = st.lists(st.sampled_from(VIEWS), min_size=2, max_size=MOST_ADDRESSES)
    articles = draw(st.lists(views, min_size=1, max_size=MOST_ARTICLES))
    places = [(a, b) for a, each in enumerate(articles) for b in range(len(each))]
    first, *others = draw(st.lists(st.sampled_from(CALLBACKS), min_size=1, max_size=3))
    data = st.sampled_from([[kind, n, "takes_data"] for kind in UNJUDGED for n in range(3)])
    pages = st.sampled_from([[*place, to] for place in places for to in (first, first, *others)])
    link = st.one_of(pages, pages, pages, pages, data)
    links = st.lists(link, max_size=3)
    start = draw(st.lists(link, max_size=5))
    start += [[*place, first] for place in places if draw(st.sampled_from([True, True, False]))]
    return {
        "articles": [
            {
                "addresses": [[view, common + draw(links)] for view in each],
                "changes": draw(st.booleans()),
                "late": draw(st.sampled_from(["", "", "items", "code"])),
            }
            for each in articles
            for common in [draw(links)]
        ],
        "start": draw(st.permutations(start)),
        "coded": draw(st.lists(st.sampled_from(VIEWS), unique=True)),
        "order": draw(st.integers(0, 3)),
        "mended": draw(st.sampled_from(["", *MENDED])),
        "settings": {
            "SIMHASH_GATE_ACTION": draw(st.sampled_from(["drop", "drop", "links"])),
            "SIMHASH_GATE_REVISIT": draw(st.sampled_from(["links", "links", "pass"])),
            "CONCURRENT_REQUESTS": draw(st.sampled_from([1, 16])),
            "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
            "DEPTH_LIMIT": draw(st.sampled_from([0, 0, 1, 2])),
            "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues."
            + draw(st.sampled_from(["LifoMemoryQueue", "FifoMemoryQueue"])),
        },
    }


def contents(items: list[dict], *, once: bool = False) -> dict[tuple, bool]:
    """Return what was delivered, by article, callback and text, and whether one item is fuller.

    With `once`, each item brings a content, or fills a field that the earlier ones left empty.
    """
    found: dict[tuple, bool] = {}
    for item in items:
        path = item["path"] if item["how"] == "data" else item["path"].partition("/")[0]
        content, fuller = (path, item["how"], item["text"]), bool(item.get("code"))
        assert not once or fuller > found.get(content, -1), item
        found[content] = fuller or found.get(content, False)
    return found


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(site=sites())
def test_with_the_gate_comes_what_comes_without_minus_copies(crawls, site) -> None:
    told = crawls(site)
    # Pages that all say the same now, and said something else before, look like a wall.
    assume(not any(blocked for *_, blocked in told.values()))
    for edition in "12":
        items, fetched, _ = told[f"plain {edition}"]
        assert {*fetched} <= {*told[f"gate {edition}"][1]}
        assert {path for path in fetched if "json" in path} <= {f"/{it['path']}" for it in items}
    came = {crawl: contents(items, once="gate" in crawl) for crawl, (items, *_) in told.items()}
    assert came["gate 1"] == came["plain 1"]
    if site["settings"]["SIMHASH_GATE_REVISIT"] == "pass":
        assert came["gate 2"] == came["plain 2"]
        return
    for content, fuller in came["plain 2"].items() - came["plain 1"].items():
        if content not in came["plain 1"] or content[1] in ("all", *MENDED[site["mended"]]):
            assert came["gate 2"].get(content) == fuller
    for content, fuller in came["gate 2"].items():
        again = content[1] in ("data", *MENDED[site["mended"]])
        assert again or fuller > came["gate 1"].get(content, -1)

"""What callbacks get of small sites with the gate is what they get without it."""

import json
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.crawls.harness import ROOT

CALLBACKS = (
    *("takes_page", "takes_print", "takes_all", "only_follows", "hands_on", "fails_first"),
)
MOST_ARTICLES, MOST_ADDRESSES = 4, 3


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
    templates = st.lists(
        st.sampled_from(["page", "print", "mobile"]), min_size=1, max_size=MOST_ADDRESSES
    )
    addresses = draw(st.lists(templates, min_size=1, max_size=MOST_ARTICLES))
    all_of = [(a, b) for a, each in enumerate(addresses) for b in range(len(each))]
    link = st.tuples(st.sampled_from(all_of), st.sampled_from(CALLBACKS))
    links = st.lists(link.map(lambda it: [*it[0], it[1]]), max_size=4)
    changes = st.booleans()
    articles = [
        {"addresses": each, "links": draw(links), "changes": draw(changes)} for each in addresses
    ]
    limits = st.sampled_from([{}, {}, {"DEPTH_LIMIT": 1}, {"DEPTH_LIMIT": 2}, {"DEPTH_LIMIT": 3}])
    start = draw(st.lists(link.map(lambda it: [*it[0], it[1]]), min_size=1, max_size=8))
    return {"articles": articles, "start": start, "settings": draw(limits)}


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(site=sites())
def test_each_callback_takes_with_the_gate_what_it_takes_without(crawls, site) -> None:
    told = crawls(site)
    took = {crawl: {tuple(each) for each in taken} for crawl, taken in told.items()}
    pairs = {crawl: {each[:2] for each in taken} for crawl, taken in took.items()}
    assert pairs["gate 1"] == pairs["plain 1"]
    assert {each[:2] for each in took["plain 2"] - took["plain 1"]} <= pairs["gate 2"]

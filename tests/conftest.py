"""What the tests of every room use: the stores with their servers, and a browser."""

from __future__ import annotations

import signal

import pytest

from benchmarks.speed.chromium import find_chromium
from benchmarks.speed.measure import MissingError
from tests.crawls.harness import do_without, end_crawls

pytest_plugins = ["tests.stores.store_urls"]

# A shell lets what it starts in the background ignore Ctrl-C, and all that this starts in turn.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _no_crawl_outlives_its_test():
    yield
    end_crawls()


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a browser: without one the test is skipped, and where CI is "true" it fails."""
    try:
        return find_chromium()
    except MissingError as error:
        do_without(str(error))

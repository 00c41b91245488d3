"""What the tests of every room use: the stores with their servers, and a browser."""

from __future__ import annotations

import os

import pytest

from benchmarks.speed.chromium import find_chromium
from benchmarks.speed.measure import MissingError

pytest_plugins = ["store_urls"]


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a browser: without one the test is skipped, and where CI is "true" it fails."""
    try:
        return find_chromium()
    except MissingError as error:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(str(error))

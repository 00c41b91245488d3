"""An installed Chromium, driven by Playwright."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser

NAMES = ("chromium", "chromium-browser", "google-chrome")
# As root there is no sandbox; and the browser has nothing to fetch on its own account.
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")


class MissingError(Exception):
    """What drives a browser is not there; the message says how to get it."""


def find_chromium() -> str:
    """Return the path that CHROMIUM names, or the first on PATH. Raises `MissingError`."""
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        raise MissingError(f"no Chromium: CHROMIUM is not set, nor is {', '.join(NAMES)} on PATH")
    return path


@contextmanager
def running_chromium() -> Iterator[Browser]:
    """Run the Chromium that is installed. Raises `MissingError`."""
    path = find_chromium()
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        raise MissingError("no Playwright: pip install playwright") from error

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        try:
            yield browser
        finally:
            browser.close()

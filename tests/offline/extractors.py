"""Extractors that go wrong, for SIMHASH_GATE_EXTRACTOR."""

import os
import time
from pathlib import Path

from simhash_gate.page import SteadyExtractor


class Broken(SteadyExtractor):
    """Fails on pages that are called "broken"."""

    def __call__(self, page):
        if page.titles.title == "broken":
            raise RuntimeError("no")
        return super().__call__(page)


class Hostile(Broken):
    """Also hangs on pages that are called "endless", and ends the process on "deadly" ones."""

    def __call__(self, page):
        if page.titles.title == "endless":
            time.sleep(600)
        if page.titles.title == "deadly":
            os._exit(3)
        return super().__call__(page)


class Counting(SteadyExtractor):
    """Counts pages in a file; beside a file `hold`, the one after the 20th is never read."""

    def __call__(self, page):
        counted = Path(os.environ["PAGES_READ"])
        with counted.open("a") as log:
            log.write("read\n")
            number = log.tell() // len("read\n")
        while number > 20 and counted.with_name("hold").exists():
            time.sleep(0.01)
        return super().__call__(page)

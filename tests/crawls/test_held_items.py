"""Warnings about items that are held back as known, though the spider may need them."""

import re
from contextlib import closing

import pytest

from simhash_gate.stores import read_store
from simhash_gate.stores.base import SITE_NOTES
from tests.crawls.harness import Site, crawl, page

SPIDER = """
class Spider(Base):
    name = "test"
    counter = 0
    def __init__(self, part="prices", **kwargs):
        super().__init__(**kwargs)
        self.part = part
    def parse(self, response):
        self.counter += 1
        yield {"part": self.part}
"""
TOLD = r"WARNING: (\d items?) of unchanged pages were held back\. .* other arguments \((.*)\); with"


@pytest.fixture
def told_in(tmp_path):
    """Return what crawls with arguments and settings, and returns what a warning names."""
    with Site({f"/{number}": page(number) for number in range(3)}).running() as site:

        def told(given: str = "", **settings: str) -> list[tuple[str, str]]:
            chosen = {"SIMHASH_GATE_STORE": "sqlite:///store.sqlite", **settings}
            result = crawl(tmp_path, site, spider=SPIDER, settings=chosen, given=given)
            assert result.status == 0
            return re.findall(TOLD, result.log)

        yield told


def test_items_that_are_held_from_a_crawl_with_other_arguments_are_told(told_in, tmp_path) -> None:
    assert told_in("part=prices") == []
    assert told_in() == []  # the default is the same
    assert told_in("part=reviews kind=secret _job=7") == [("3 items", "kind, part")]
    assert told_in("part=reviews kind=secret") == [("3 items", "kind, part")]  # it is still so
    assert told_in("part=reviews kind=secret", SIMHASH_GATE_REVISIT="pass") == []
    assert told_in("part=reviews kind=secret _job=8") == []
    with closing(read_store(f"sqlite:///{tmp_path}/store.sqlite")) as store:
        notes = store.get(SITE_NOTES, "(spiders)")
    assert re.fullmatch(
        rb'{"arguments":{"test":{"kind":"[0-9a-f]{16}","part":"[0-9a-f]{16}"}}}', notes
    )


def test_arguments_that_make_no_difference_can_be_named(told_in) -> None:
    told_in("date=1 part=prices")
    assert told_in("date=2", SIMHASH_GATE_IGNORE="Date") == []
    assert told_in("date=3") == [("3 items", "date")]
    assert told_in() == [("3 items", "date")]

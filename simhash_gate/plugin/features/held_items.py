"""Warnings about items that are held back as known, though the spider may need them."""

from __future__ import annotations

import inspect
import re
import sys
from hashlib import blake2b
from typing import Any
from weakref import WeakSet

from scrapy import Spider
from scrapy.http import Response

from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import how_many
from simhash_gate.gate.verdict import Verdict
from simhash_gate.plugin.followed import FollowedPage
from simhash_gate.plugin.listeners import Crawl, Judged, Listener
from simhash_gate.plugin.reading import Bounded
from simhash_gate.plugin.signals import item_held
from simhash_gate.plugin.store_thread import LearnedNotes
from simhash_gate.values import PREFIX

NOTE, SCOPE = "arguments", "(spiders)"
"""The key of the notes: digests of arguments by name, for each spider. No site has this scope."""


class ArgumentWatch(Listener):
    """Warns if pages are held back that another crawl has kept with other arguments (`-a`).

    After a warning, the store remembers the earlier arguments: the items are still those.
    """

    def __init__(self, crawl: Crawl) -> None:
        super().__init__(crawl)
        self._held = 0
        self._notes: dict[str, Any] = {}
        self._learned = LearnedNotes(crawl.store, NOTE, lambda _, notes: self._notes.update(notes))
        crawl.crawler.signals.connect(self._item_held, item_held)

    def opened(self, spider: Spider) -> None:
        """Note the arguments before the crawl changes them."""
        self._spider, self._now = spider.name, digests_of(spider)
        self._learned.has(SCOPE)

    async def closed(self) -> None:
        if not self._learned.has(SCOPE):
            return
        ignored = {name.lower() for name in self._settings.ignore}
        now, last = self._now, self._notes.get(self._spider) or {}
        differing = [name for name in sorted({**now, **last}) if now.get(name) != last.get(name)]
        names = [name for name in differing if name.lower() not in ignored]
        if self._held and names:
            self._crawl.note(
                f"{how_many(self._held, 'item')} of unchanged pages were held back. The last crawl "
                f"had other arguments ({', '.join(names)}); with those of this crawl, they may be "
                "other items.",
                f"{PREFIX}REVISIT = 'pass' delivers all. {PREFIX}IGNORE names arguments that make "
                "no difference.",
                wrong=True,
            )
        elif differing:
            self._learned.merge(SCOPE, self._note)

    def _item_held(self, verdict: Verdict) -> None:
        self._held += verdict.outcome == "unchanged"

    def _note(self, notes: dict[str, Any]) -> None:
        notes.pop(self._spider, None)  # the oldest notes go first
        if self._now:
            notes[self._spider] = self._now


MANY = 200
"""A warning comes after so many answers of one address whose items were held back."""
_MOST_ADDRESSES = 10_000


class PollWatch(Listener):
    """Warns once if a spider asks for one address again and again, and all items are held back.

    It may ask until its pipeline has enough items, but held items reach no pipeline.
    """

    def __init__(self, crawl: Crawl) -> None:
        super().__init__(crawl)
        self._answers: Bounded[str, int] = Bounded(_MOST_ADDRESSES)  # those with held items
        self._counted = WeakSet[Response]()
        crawl.crawler.signals.connect(self._item_held, item_held)

    def judged(self, judged: Judged, page: FollowedPage | None) -> None:
        """Count anew after an answer whose items reach the pipeline."""
        if not judged.held and self._answers.get(judged.response.url):
            self._answers.put(judged.response.url, 0, 1)

    def _item_held(self, response: Response) -> None:
        if response in self._counted:
            return
        self._counted.add(response)
        number = (self._answers.get(response.url) or 0) + 1
        self._answers.put(response.url, number, 1)
        if number == MANY and self._once("polls"):
            self._crawl.note(
                f"{without_credentials(response.url)} was answered {MANY} times, and all items were"
                " held back. A spider that asks until its pipeline has enough items does not end.",
                f"Send these requests with meta={{'simhash_gate': False}}, or set {PREFIX}REVISIT "
                "= 'pass'.",
                wrong=True,
            )


def digests_of(spider: Spider) -> dict[str, str]:
    """Return the digest of each argument of a spider that has a simple value, by name.

    Arguments are the parameters of `__init__`, and what the command line names. Names with `_`,
    such as the `_job` of Scrapyd, are none.
    """
    begins = [vars(kind)["__init__"] for kind in type(spider).__mro__ if "__init__" in vars(kind)]
    names = {name for begin in begins for name in inspect.signature(begin).parameters}
    names.update(re.findall("\0-a\0?([^\0=]+)=", "\0".join(sys.argv)))
    return {
        name: blake2b(repr((spider.name, value)).encode(), digest_size=8).hexdigest()
        for name, value in vars(spider).items()
        if name in names and name[0] != "_" and isinstance(value, str | int | float)
    }

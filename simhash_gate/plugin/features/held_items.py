"""What is learned and warned of when items are held back as known, though they may be needed."""

from __future__ import annotations

from collections import Counter
from weakref import WeakSet

from scrapy import Spider
from scrapy.http import Response

from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import how_many
from simhash_gate.plugin.features.announcements import drops
from simhash_gate.plugin.followed import FollowedPage
from simhash_gate.plugin.listeners import Crawl, Judged, Listener
from simhash_gate.plugin.reading import Bounded
from simhash_gate.plugin.signals import item_held
from simhash_gate.plugin.store_thread import LearnedNotes
from simhash_gate.values import PREFIX

SCOPE = "(spiders)"
"""The notes on fields are of spiders, and of no site."""


class FieldMemory(Listener):
    """Lets the store remember which fields of items are steady, for the crawls after this one.

    Tells whose items came for what they say there, and warns if items are held back, though they
    differ in fields of which it is not known.
    """

    def __init__(self, crawl: Crawl) -> None:
        super().__init__(crawl)
        self._fields = crawl.yields.steady
        self._came = Counter[str]()
        self._pages = 0
        known = self._fields.known
        self._learned = LearnedNotes(crawl.store, "fields", lambda _, notes: known.update(notes))

    def opened(self, spider: Spider) -> None:
        self._learned.has(SCOPE)

    def judged(self, judged: Judged, page: FollowedPage | None) -> None:
        self._learned.has(SCOPE)

    def moved(self, page: FollowedPage) -> None:
        """Tell of a page whose items were delivered for what they say."""
        if page.news:
            self._pages += 1
            self._came.update(page.differs)
            drops.info("Delivered the items of %s: %s", page.url, page.news)

    async def closed(self) -> None:
        if self._pages:
            self._crawl.note(
                f"Items of {how_many(self._pages, 'unchanged page')} came, because they say "
                f"something else than at the last visit: {_listed(self._came)}.",
                "",
            )
        if found := self._fields.learned():
            self._learned.merge(SCOPE, lambda notes: notes.update(found))
        if self._fields.unsure:
            self._crawl.note(
                "Items of unchanged pages were held back, though they say something else than at "
                f"the last visit: {_listed(self._fields.unsure)}.",
                "That is right for the time of a crawl. If a field stays the same on other pages, "
                f"the next crawl delivers these items. {PREFIX}REVISIT = 'pass' delivers all now.",
                wrong=True,
            )


def _listed(pages: Counter[str]) -> str:
    """Return the names of the fields that differ on the most pages, with their numbers."""
    return ", ".join(f"{name} ({number})" for name, number in pages.most_common(5))


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

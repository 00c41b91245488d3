"""The pages of a crawl that its report may show with their texts: bounded, the last ones used."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from simhash_gate.common.urls import without_credentials
from simhash_gate.page import Page

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from simhash_gate.plugin.listeners import Judged

MOST_BYTES = 32 << 20


class ReportTexts:
    """Keeps the articles of kept pages, and of duplicates that differ from them, by URL.

    Those that were used last stay. Called with names of pages, it returns the Markdown of those
    that it has.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._articles: OrderedDict[str, Page] = OrderedDict()
        self._most = most_bytes
        self._bytes = 0

    def judged(self, judged: Judged) -> None:
        """Take in a page that was judged."""
        verdict = judged.verdict
        page, match = verdict.page, verdict.match
        if page is None or not page.article:
            return
        if verdict.record is not None:
            self._keep(verdict.record.url, page)
        elif verdict.rejected and match is not None:
            kept = match.record
            if kept.url in self._articles:
                self._articles.move_to_end(kept.url)
            if match.distance or (page.title, page.words) != (kept.title, kept.words):
                self._keep(without_credentials(judged.response.url), page)

    def __call__(self, names: Collection[str]) -> Mapping[str, str]:
        """Return the Markdown of the pages of these names that are there."""
        return {name: self._articles[name].markdown for name in names if name in self._articles}

    def _keep(self, name: str, page: Page) -> None:
        if name in self._articles:  # the first page of a name is what was seen first
            return
        # Of the page, only what its Markdown is made from: it may have more than that by now.
        self._articles[name] = Page("", 0, None, 0, False, None, url=page.url, article=page.article)
        self._bytes += len(page.article)
        while self._bytes > self._most:
            _, oldest = self._articles.popitem(last=False)
            self._bytes -= len(oldest.article)

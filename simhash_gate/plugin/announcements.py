"""Announce every drop, in the log and by a signal."""

from __future__ import annotations

import logging
from typing import Any

from scrapy import Request

from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import how_many
from simhash_gate.plugin.listeners import FollowedPage, Judged, Listener
from simhash_gate.plugin.requests import NotSent
from simhash_gate.plugin.signals import near_duplicate_dropped, request_not_sent

drops = logging.getLogger("simhash_gate.drops")
_DONE = {"drop": "Dropped", "tag": "Tagged", "links": "Held back the items of"}


class Announcements(Listener):
    """Announces every drop by a line of the logger `simhash_gate.drops` and by a signal."""

    def not_sent(self, request: Request, why: NotSent) -> None:
        """Announce that a request was not sent."""
        drops.info("Not fetched %s: %s", why.url, why.reason)
        self._send(request_not_sent, request=request, why=why)

    def judged(self, judged: Judged, page: FollowedPage | None) -> None:
        """Announce a page whose verdict drops it, tags it or holds its items back."""
        if judged.verdict.rejected:
            self._log(judged)
        if judged.dropped:
            about = {"request": judged.request, "response": judged.response}
            self._send(near_duplicate_dropped, **about, verdict=judged.verdict)

    def _send(self, signal: object, **about: Any) -> None:
        crawler = self._crawl.crawler
        crawler.signals.send_catch_log(signal, spider=crawler.spider, **about)

    def _log(self, judged: Judged) -> None:
        verdict = judged.verdict
        if verdict.match is None:
            url = without_credentials(judged.response.url)
            drops.info("%s %s: %s (%s)", _DONE[judged.action], url, verdict.outcome, verdict.reason)
            return
        assert verdict.page is not None
        record = verdict.match.record
        is_copy = verdict.outcome == "duplicate"
        drops.info(
            "%s %s: %s of %s (%s; %d and %s)%s",
            _DONE[judged.action],
            without_credentials(judged.response.url),
            "near-duplicate" if is_copy else "unchanged since an earlier crawl",
            record.url,
            verdict.reason,
            verdict.page.words,
            how_many(record.words, "word"),
            "; audited" if verdict.audited else "",
        )

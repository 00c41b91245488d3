"""Announce every drop, in the log and by a signal."""

from __future__ import annotations

import logging

from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import how_many
from simhash_gate.plugin.followed import FollowedPage
from simhash_gate.plugin.listeners import Judged, Listener
from simhash_gate.plugin.signals import near_duplicate_dropped

drops = logging.getLogger("simhash_gate.drops")
_DONE = {"drop": "Dropped", "tag": "Tagged", "links": "Held back the items of"}


class Announcements(Listener):
    """Announces every drop by a line of the logger `simhash_gate.drops` and by a signal."""

    def judged(self, judged: Judged, page: FollowedPage | None) -> None:
        """Announce a page whose verdict drops it, tags it or holds its items back."""
        if judged.verdict.rejected:
            self._log(judged)
        if judged.dropped:
            crawler = self._crawl.crawler
            about = {"request": judged.request, "response": judged.response}
            crawler.signals.send_catch_log(
                near_duplicate_dropped, **about, verdict=judged.verdict, spider=crawler.spider
            )

    def _log(self, judged: Judged) -> None:
        verdict = judged.verdict
        if verdict.match is None:
            url = without_credentials(judged.response.url)
            drops.info("%s %s: %s (%s)", _DONE[judged.action], url, verdict.outcome, verdict.reason)
            return
        assert verdict.page is not None
        record, url = verdict.match.record, without_credentials(judged.response.url)
        is_copy = verdict.outcome == "duplicate"
        drops.info(
            "%s %s: %s%s (%s; %d and %s)",
            _DONE[judged.action],
            url,
            "near-duplicate" if is_copy else "unchanged since an earlier crawl",
            f" of {record.url}" * (record.url != url),
            verdict.reason,
            verdict.page.words,
            how_many(record.words, "word"),
        )

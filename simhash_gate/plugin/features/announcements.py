"""Announce every drop and every changed page in the log, and drops by a signal."""

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
    """Announces drops and changes by the logger `simhash_gate.drops`, and drops by a signal."""

    def judged(self, judged: Judged, page: FollowedPage | None) -> None:
        verdict = judged.verdict
        url, why = without_credentials(judged.response.url), verdict.reason
        if verdict.means.changed:
            drops.info("%s %s: %s", verdict.outcome.capitalize(), url, why)
        if not verdict.rejected:
            return
        what: str = verdict.outcome
        if verdict.match is not None:
            assert verdict.page is not None
            record, is_copy = verdict.match.record, verdict.outcome == "duplicate"
            what = "near-duplicate" if is_copy else "unchanged since an earlier crawl"
            what += f" of {record.url}" * (record.url != url)
            why += f"; {verdict.page.words} and {how_many(record.words, 'word')}"
        drops.info("%s %s: %s (%s)", _DONE[judged.action], url, what, why)
        if judged.dropped:
            crawler = self._crawl.crawler
            about = {"request": judged.request, "response": judged.response}
            crawler.signals.send_catch_log(
                near_duplicate_dropped, **about, verdict=verdict, spider=crawler.spider
            )

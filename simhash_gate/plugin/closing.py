"""The item pipeline that sees a crawl close while Scrapy still takes requests."""

from __future__ import annotations

from scrapy.utils.job import job_dir

from simhash_gate.plugin.follower import GateFollower


class ClosingWitness(GateFollower):
    """Hands over what is still to be fetched again, for a crawl that is paused goes on with it.

    No signal is sent between the last item and the moment when the queue of a JOBDIR is written.
    """

    def close_spider(self) -> None:
        """Take note that no page and no item is on its way any more."""
        if self.gate and job_dir(self._crawler.settings):
            self.gate.recovery.hand_over()

"""Monitors for Spidermon: one fails if somebody should look at what the gate did in a crawl.

They read stats. Each limit is an attribute of its monitor, which a subclass can change.
"""

from __future__ import annotations

from typing import ClassVar

from simhash_gate.common.wording import how_many

try:
    from spidermon import monitors
    from spidermon.contrib.scrapy.monitors import SpiderCloseMonitorSuite
    from spidermon.contrib.scrapy.monitors.base import BaseScrapyMonitor
except ImportError as error:
    raise ImportError(
        f"Spidermon is not installed ({error}): pip install 'simhash-gate[spidermon]'"
    ) from error


class GateMonitor(BaseScrapyMonitor):  # type: ignore[misc]
    """The base of the monitors, with the gate's stats."""

    def number(self, name: str) -> int:
        """Return a stat of the gate, 0 if it was never counted."""
        return int(self.stats.get(f"simhash_gate/{name}", 0))

    def check(self, name: str, least: float, most: float, what: str) -> None:
        """Fail if the share of judged pages that the stat `name` counts is out of bounds."""
        checked, number = self.number("checked"), self.number(name)
        if not checked:
            self.skipTest("no page was judged")
        if not least <= number / checked <= most:
            pages = how_many(checked, "judged page")
            allowed = f"at most {most:g}" if number / checked > most else f"at least {least:g}"
            self.fail(f"{number} of {pages}, {number / checked:.1%}, {what} ({allowed})")


@monitors.name("Dropped pages")
class DroppedMonitor(GateMonitor):
    """Check the share of judged pages that were dropped: from `least` to `most`."""

    least, most = 0.0, 0.9

    @monitors.name("not too many pages were dropped, and not too few")  # type: ignore[untyped-decorator]
    def test_share(self) -> None:
        """Fail if the share is out of bounds."""
        self.check("dropped", self.least, self.most, "were dropped")


@monitors.name("Unjudged pages")
class UnjudgedMonitor(GateMonitor):
    """Check the share of pages that passed unjudged: the store or the reading of pages failed."""

    most = 0.01

    @monitors.name("not too many pages passed unjudged")  # type: ignore[untyped-decorator]
    def test_not_too_many(self) -> None:
        """Fail if the share is above `most`."""
        failed = how_many(self.number("store_failed"), "time")
        self.check("error", 0, self.most, f"passed unjudged; the store failed {failed}")


@monitors.name("Pages that read alike")
class CollapsesMonitor(GateMonitor):
    """Check the number of warnings that many pages of a domain read alike."""

    most = 0

    @monitors.name("few domains have pages that read alike")  # type: ignore[untyped-decorator]
    def test_not_too_many(self) -> None:
        """Fail if there are more than `most`."""
        number = self.number("collapses")
        if number > self.most:
            warnings = how_many(number, "warning")
            self.fail(f"{warnings} that many pages of a domain read alike (at most {self.most})")


class GateMonitorSuite(SpiderCloseMonitorSuite):  # type: ignore[misc]
    """All monitors, for Spidermon's settings: `simhash_gate.plugin.spidermon.GateMonitorSuite`.

    `SPIDERMON_MONITOR_SKIPPING_RULES` work as in Spidermon's own suite.
    """

    monitors: ClassVar[list[type]] = [DroppedMonitor, UnjudgedMonitor, CollapsesMonitor]

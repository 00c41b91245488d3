"""Monitors for Spidermon: they fail where a crawl needs a look at what the gate did.

They read what is counted as the crawl goes. So they work at the end of a crawl, when the spider
closes, and in between.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from simhash_gate.common.proportion import wilson
from simhash_gate.common.wording import how_many
from simhash_gate.plugin.spider_middleware import settings_of
from simhash_gate.values import PREFIX

try:
    from spidermon import monitors
    from spidermon.contrib.scrapy.monitors import SpiderCloseMonitorSuite
    from spidermon.contrib.scrapy.monitors.base import BaseScrapyMonitor
except ImportError as error:
    raise ImportError(
        f"simhash_gate.spidermon needs Spidermon ({error}): pip install 'simhash-gate[spidermon]'"
    ) from error

if TYPE_CHECKING:
    from simhash_gate.settings import Settings


class GateMonitor(BaseScrapyMonitor):  # type: ignore[misc]
    """What the monitors have: the gate's stats and settings. Skipped where there is nothing."""

    @property
    def gate(self) -> Settings:
        """The gate's settings."""
        return settings_of(self.crawler)

    def number(self, name: str) -> int:
        """Return what the gate counted; 0 for what never happened."""
        number: int = self.stats.get(f"simhash_gate/{name}", 0)
        return number

    def share(self, name: str) -> tuple[float, str]:
        """Return the share of the judged pages that are counted as this, also in words."""
        checked, number = self.number("checked"), self.number(name)
        if not checked:
            self.skipTest("no page was judged")
        share = number / checked
        return share, f"{number} of {how_many(checked, 'judged page')}, {share:.1%}"


@monitors.name("Dropped pages")
class DroppedMonitor(GateMonitor):
    """Check the share of judged pages that were dropped."""

    @monitors.name("not too many pages were dropped")  # type: ignore[untyped-decorator]
    def test_not_too_many(self) -> None:
        """SIMHASH_GATE_MONITOR_MAX_DROPPED."""
        share, said = self.share("dropped")
        most = self.gate.monitor_max_dropped
        if share > most:
            self.fail(f"{said}, were dropped ({PREFIX}MONITOR_MAX_DROPPED = {most:g})")

    @monitors.name("not too few pages were dropped")  # type: ignore[untyped-decorator]
    def test_not_too_few(self) -> None:
        """SIMHASH_GATE_MONITOR_MIN_DROPPED."""
        share, said = self.share("dropped")
        least = self.gate.monitor_min_dropped
        if share < least:
            self.fail(f"{said}, were dropped ({PREFIX}MONITOR_MIN_DROPPED = {least:g})")


@monitors.name("Unjudged pages")
class UnjudgedMonitor(GateMonitor):
    """Check the share of pages that passed unjudged: the store or the reading of pages failed."""

    @monitors.name("not too many pages passed unjudged")  # type: ignore[untyped-decorator]
    def test_not_too_many(self) -> None:
        """SIMHASH_GATE_MONITOR_MAX_UNJUDGED."""
        share, said = self.share("error")
        most = self.gate.monitor_max_unjudged
        if share > most:
            failed = how_many(self.number("store_failed"), "time")
            self.fail(
                f"{said}, passed unjudged; the store failed {failed} "
                f"({PREFIX}MONITOR_MAX_UNJUDGED = {most:g})"
            )


@monitors.name("Wrong drops")
class WrongDropsMonitor(GateMonitor):
    """Check the share of wrong drops that the audit found."""

    @monitors.name("not too many drops were wrong")  # type: ignore[untyped-decorator]
    def test_not_too_many(self) -> None:
        """SIMHASH_GATE_MONITOR_MAX_WRONG, at 95 % confidence."""
        compared, wrong = self.number("audit/compared"), self.number("audit/wrong")
        if not compared:
            self.skipTest(f"no dropped page was compared ({PREFIX}AUDIT)")
        low, high = wilson(wrong, compared)
        most = self.gate.monitor_max_wrong
        if low > most:
            self.fail(
                f"{wrong} of {how_many(compared, 'compared drop')} were wrong, {low:.1%} to "
                f"{high:.1%} of all drops ({PREFIX}MONITOR_MAX_WRONG = {most:g})"
            )


@monitors.name("Pages that read alike")
class CollapsesMonitor(GateMonitor):
    """Check the number of warnings that many pages of a domain read alike."""

    @monitors.name("few domains have pages that read alike")  # type: ignore[untyped-decorator]
    def test_not_too_many(self) -> None:
        """SIMHASH_GATE_MONITOR_MAX_COLLAPSES."""
        number = self.number("collapses")
        most = self.gate.monitor_max_collapses
        if number > most:
            self.fail(
                f"{how_many(number, 'warning')} that many pages of a domain read alike "
                f"({PREFIX}MONITOR_MAX_COLLAPSES = {most})"
            )


class GateMonitorSuite(SpiderCloseMonitorSuite):  # type: ignore[misc]
    """All of them: `SPIDERMON_SPIDER_CLOSE_MONITORS = ["simhash_gate.spidermon.GateMonitorSuite"]`.

    `SPIDERMON_MONITOR_SKIPPING_RULES` work as in Spidermon's own suite.
    """

    monitors: ClassVar[list[type]] = [
        DroppedMonitor,
        UnjudgedMonitor,
        WrongDropsMonitor,
        CollapsesMonitor,
    ]

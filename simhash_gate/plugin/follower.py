"""What follows a page after its verdict, and the parts of the gate that are told about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self

    from simhash_gate.gate.policy import Action
    from simhash_gate.gate.verdict import Verdict
    from simhash_gate.plugin.audit import Audit
    from simhash_gate.plugin.reading import PageReader
    from simhash_gate.plugin.recovery import Recovery
    from simhash_gate.plugin.stats import GateStats
    from simhash_gate.settings import Settings


class CrawlGate:
    """The gate of one crawl, for those that follow its pages."""

    settings: Settings
    reader: PageReader
    recovery: Recovery
    stats: GateStats
    audit: Audit | None

    def action(self, verdict: Verdict) -> Action:
        """Return what happens to a page that was seen."""
        if verdict.audited and self.settings.audit_items == "pass":
            return "tag"
        return verdict.policy.action


class GateFollower:
    """Finds the gate of its crawl; does nothing where there is none."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._found: CrawlGate | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware for this crawl."""
        if not crawler.settings.getbool("SIMHASH_GATE_ENABLED", True):
            raise NotConfigured("SIMHASH_GATE_ENABLED is False")
        return cls(crawler)

    @property
    def gate(self) -> CrawlGate | None:
        """The downloader middleware that judges this crawl's pages."""
        if self._found is None:
            self._found = self._crawler.get_downloader_middleware(CrawlGate)
        return self._found

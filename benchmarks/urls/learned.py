"""Page keys: what a host's own pages have shown, and what a crawl skips by it."""

from __future__ import annotations

from collections import defaultdict

from benchmarks.urls.method import Method
from simhash_gate.identity.host import Host


class Learned(Method):
    """Does with URLs what a crawl with `SIMHASH_GATE_URLS = "skip"` does."""

    title = "**simhash_gate**"
    origin = ""

    def __init__(self) -> None:
        self._hosts: defaultdict[str, Host] = defaultdict(Host)
        self._back: list[str] = []

    def skips(self, scope: str, url: str) -> bool:
        """Tell if a fetched URL has the same key, and need not be fetched as a test."""
        host = self._hosts[scope]
        stand_in = host.stand_in(url)
        return stand_in is not None and not host.skips.ask(url, stand_in).test

    def learn(self, scope: str, url: str, kept: str, same: bool | None) -> None:
        """Learn from a page."""
        host = self._hosts[scope]
        host.saw(url, kept, same)
        self._back += host.back
        host.back = []

    def taken_back(self) -> list[str]:
        """Return what was skipped by what proved wrong."""
        back, self._back = self._back, []
        return back

    @property
    def rules(self) -> int:
        return sum(acts for host in self._hosts.values() for *_, acts in host.atoms())

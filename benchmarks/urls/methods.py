"""What a method is: before a fetch it may say that it knows the page; after it, it learns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Protocol

from w3lib.url import canonicalize_url

from simhash_gate.identity.learning import Host

SUPPORT = 5
"""Contents that a rule that is learned in batches must bring together."""
WRONG = 0.05
"""Of the URLs that such a rule makes one, the share that may be of another content."""
MOST_OF_CLUSTER = 10
"""URLs of one content that are compared with each other."""


class Method(ABC):
    """Decides before each fetch, and is told what the page turned out to be."""

    title: ClassVar[str]

    @abstractmethod
    def skips(self, scope: str, url: str) -> bool:
        """Tell if the content of a URL was fetched before, as far as the method knows."""

    @abstractmethod
    def learn(self, scope: str, url: str, kept: str, same: bool | None) -> None:
        """Take notice of a page that was fetched.

        If it is the `same`, `kept` is the URL by which its content was fetched first; if not, a URL
        whose page looks alike and is another, "" for none. None: nobody knows.
        """

    def taken_back(self) -> Sequence[str]:
        """Return URLs that were skipped, and are to be fetched after all."""
        return ()


class Learned(Method):
    """Does with URLs what a crawl with `SIMHASH_GATE_URLS = "skip"` does."""

    title = "**simhash_gate**"

    def __init__(self) -> None:
        self._hosts: defaultdict[str, Host] = defaultdict(Host)
        self._back: list[str] = []

    def skips(self, scope: str, url: str) -> bool:
        host = self._hosts[scope]
        stand_in = host.stand_in(url)
        return stand_in is not None and not host.skips.ask(url, stand_in).test

    def learn(self, scope: str, url: str, kept: str, same: bool | None) -> None:
        host = self._hosts[scope]
        host.saw(url, kept, same)
        self._back += host.back
        host.back = []

    def taken_back(self) -> list[str]:
        back, self._back = self._back, []
        return back


class Discarder(Method):
    """The package duplicate-url-discarder: the rules that it ships, then the URL of Scrapy."""

    title = "static lists (duplicate-url-discarder)"

    def __init__(self) -> None:
        import tldextract.tldextract
        from duplicate_url_discarder.url_canonicalizer import UrlCanonicalizer
        from duplicate_url_discarder_rules import RULE_PATHS

        # It asks for the domains of URLs; this package would first ask the network for a list.
        offline = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)
        tldextract.tldextract.TLD_EXTRACTOR = offline
        self._canonicalizer = UrlCanonicalizer(RULE_PATHS or ())
        self._fetched: set[str] = set()

    def _canonical(self, url: str) -> str:
        return canonicalize_url(self._canonicalizer.process_url(url))

    def skips(self, scope: str, url: str) -> bool:
        return self._canonical(url) in self._fetched

    def learn(self, scope: str, url: str, kept: str, same: bool | None) -> None:
        self._fetched.add(self._canonical(url))


class Fitted(Protocol):
    """Rules of one site, learned at one time: URLs with the same number have one content."""

    def __init__(self, contents: Mapping[str, int]) -> None: ...

    def canonical(self, url: str) -> str:
        """Return what all URLs share that the rules call the same; else the URL."""


class _Site:
    """What a batch learner knows of one site."""

    def __init__(self, first: int) -> None:
        self.contents: dict[str, int] = {}
        self.unsure: list[str] = []
        self.next = first
        self.rules: Fitted | None = None
        self.fetched: set[str] = set()

    def canonical(self, url: str) -> str:
        return url if self.rules is None else self.rules.canonical(url)


class BatchMethod(Method):
    """A method that learns from many pages of a site at once.

    It learns anew whenever a site's pages have grown by a quarter; before `FIRST` pages it knows
    too little. URLs of which nobody knows whether they are the same are not learned from.
    """

    rules_of: ClassVar[type[Fitted]]
    FIRST: ClassVar[int] = 40
    GROWTH: ClassVar[float] = 1.25

    def __init__(self) -> None:
        self._sites: dict[str, _Site] = defaultdict(lambda: _Site(self.FIRST))

    def skips(self, scope: str, url: str) -> bool:
        site = self._sites[scope]
        return site.rules is not None and site.canonical(url) in site.fetched

    def learn(self, scope: str, url: str, kept: str, same: bool | None) -> None:
        site = self._sites[scope]
        if same is None:
            site.unsure.append(url)
        else:
            known = site.contents.get(kept) if same else None
            site.contents[url] = len(site.contents) if known is None else known
        site.fetched.add(site.canonical(url))
        if len(site.contents) >= site.next:
            site.rules = self.rules_of(site.contents)
            site.next = int(len(site.contents) * self.GROWTH) + 1
            site.fetched = {site.canonical(url) for url in (*site.contents, *site.unsure)}


def clusters(contents: Mapping[str, int]) -> list[list[str]]:
    """Return some URLs, from all over the site, of each content that has several, in order."""
    found: dict[int, list[str]] = defaultdict(list)
    for url, content in contents.items():
        found[content].append(url)
    steps = ((urls, -(-len(urls) // MOST_OF_CLUSTER)) for urls in found.values() if len(urls) > 1)
    return [urls[::step] for urls, step in steps]


def holds(pairs: Iterable[tuple[str, int]], others: Mapping[str, int]) -> bool:
    """Tell if a rule brings enough URLs together, and few of different contents.

    The pairs are what URLs become, with their content; `others` are URLs that stay as they are.
    """
    groups: dict[str, list[int]] = defaultdict(list)
    for canonical, content in pairs:
        groups[canonical].append(content)
    right = wrong = 0
    for canonical, contents in groups.items():
        there = [others[canonical], *contents] if canonical in others else contents
        first = max(set(there), key=there.count)
        right += there.count(first) - 1
        wrong += len(there) - there.count(first)
    return right >= SUPPORT and wrong <= WRONG * (right + wrong)

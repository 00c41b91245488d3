"""What a method is: before a fetch it may say that it knows the page; after it, it learns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ClassVar

from w3lib.url import canonicalize_url


class Method(ABC):
    """Decides before each fetch, and is told what the page turned out to be.

    `title` is the table's row, `origin` says whose code it is. A share of what it would skip, the
    `probing`, is fetched all the same, where its authors do so.
    """

    title: ClassVar[str]
    origin: ClassVar[str]
    probing: ClassVar[float] = 0.0

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

    def settle(self) -> None:
        """Learn from all that was fetched so far; what learns in batches does not learn again."""
        return

    @property
    @abstractmethod
    def rules(self) -> int:
        """How many rules act now."""


class Nothing(Method):
    """Every URL is fetched."""

    title = "no rules"
    origin = ""

    def skips(self, scope: str, url: str) -> bool:
        """Never."""
        return False

    def learn(self, scope: str, url: str, kept: str, same: bool | None) -> None:
        """Learn nothing."""

    @property
    def rules(self) -> int:
        return 0


class Fitted(ABC):
    """Rules that were learned at one time from what was known then."""

    @abstractmethod
    def canonical(self, url: str) -> str:
        """Return what all URLs share that the rules call the same; else the URL."""

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of rules."""


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

    In a crawl it learns anew whenever a site's pages have grown by a quarter; before `FIRST` pages
    it knows too little. URLs of which nobody knows whether they are the same are not learned from.
    """

    FIRST: ClassVar[int] = 40
    GROWTH: ClassVar[float] = 1.25

    def __init__(self) -> None:
        self._sites: dict[str, _Site] = defaultdict(lambda: _Site(self.FIRST))
        self._settled = False

    @abstractmethod
    def fit(self, contents: Mapping[str, int]) -> Fitted:
        """Learn rules from the URLs of one site: those with the same number have one content."""

    def skips(self, scope: str, url: str) -> bool:
        """Tell if a fetched URL becomes the same under the rules."""
        site = self._sites[scope]
        return site.rules is not None and site.canonical(url) in site.fetched

    def learn(self, scope: str, url: str, kept: str, same: bool | None) -> None:
        """Remember the page, and learn anew if enough have come since the last time."""
        site = self._sites[scope]
        if same is None:
            site.unsure.append(url)
        else:
            known = site.contents.get(kept) if same else None
            site.contents[url] = len(site.contents) if known is None else known
        site.fetched.add(site.canonical(url))
        if len(site.contents) >= site.next and not self._settled:
            self._fit(site)

    def settle(self) -> None:
        """Learn anew for each site, for the last time."""
        self._settled = True
        for site in self._sites.values():
            self._fit(site)

    @property
    def rules(self) -> int:
        return sum(len(site.rules) for site in self._sites.values() if site.rules is not None)

    def _fit(self, site: _Site) -> None:
        site.rules = self.fit(site.contents)
        site.next = int(len(site.contents) * self.GROWTH) + 1
        site.fetched = {site.canonical(url) for url in (*site.contents, *site.unsure)}


class FixedRules(Method):
    """Rules that were there before the crawl: they turn URLs that are the same into one."""

    def __init__(self, canonical: Callable[[str], str], rules: int) -> None:
        self._canonical = canonical
        self._rules = rules
        self._fetched: set[str] = set()

    def skips(self, scope: str, url: str) -> bool:
        """Tell if a fetched URL becomes the same under the rules."""
        return canonicalize_url(self._canonical(url)) in self._fetched

    def learn(self, scope: str, url: str, kept: str, same: bool | None) -> None:
        """Remember the URL, and nothing of its page."""
        self._fetched.add(canonicalize_url(self._canonical(url)))

    @property
    def rules(self) -> int:
        return self._rules


def clusters(contents: Mapping[str, int]) -> list[list[str]]:
    """Return the URLs of each content that has several, in order."""
    found: dict[int, list[str]] = defaultdict(list)
    for url, content in contents.items():
        found[content].append(url)
    return [urls for urls in found.values() if len(urls) > 1]


def merges(pairs: Iterable[tuple[str, int]], others: Mapping[str, int]) -> tuple[int, int]:
    """Return how many URLs become one with a URL of their content, and of another content.

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
    return right, wrong


def split(urls: Sequence[str], most: int) -> Sequence[str]:
    """Return at most so many URLs, from all over the list."""
    step = -(-len(urls) // most)
    return urls[::step]

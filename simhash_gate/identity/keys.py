"""The key of a page: one value for all its addresses.

The first of these decides: the spider's word; a canonical link that no page refutes; the URL,
without names that track visitors and without the parts that make no difference on its host.
"""

from __future__ import annotations

from collections import OrderedDict
from functools import lru_cache
from typing import Literal, NamedTuple

from simhash_gate.fingerprints.hamming import hamming_distance
from simhash_gate.identity.address import Address, address_of
from simhash_gate.identity.atoms import Atom
from simhash_gate.identity.learning import Host
from simhash_gate.identity.lists import SESSION, TRACKING
from simhash_gate.identity.reduction import Reduction

By = Literal["spider", "canonical", "list", "host", "url"]

MOST_HOSTS, MOST_ADDRESSES = 1_000, 100_000
"""Bounds of one crawl. An address takes 1.6 KB, or 3.6 with a query. The oldest hosts go first."""
_BETWEEN = 1_000  # questions, before the addresses are counted again
NEAR = 8
"""Fingerprints that differ in more bits belong to different contents."""
REFUTED = 3
"""After this many wrong canonical links, those of a host are ignored for `OFF_FOR` seconds."""
OFF_FOR = 30 * 86_400.0
_MOST_TARGETS = 20_000


class PageKey(NamedTuple):
    """Which page an address is.

    `key` is the same for all addresses of the page. It is not a URL to be fetched: it always begins
    with `https`, and has no `www.`, index page, session or slash at the end. `url` is the canonical
    URL. `by` tells what decided. `atoms` are the parts of the address that did not matter.
    """

    key: str
    by: By
    url: str
    atoms: tuple[Atom, ...] = ()


class Canonical:
    """Canonical links of one host, which its pages may refute.

    `off` is the Unix time until which they are ignored.
    """

    def __init__(self, off: float = 0.0) -> None:
        self.off = off
        self.refuted: set[str] = set()
        self._contents: OrderedDict[str, int] = OrderedDict()

    def says(self, target: str, content: int) -> bool:
        """Tell whether a target is known to have a content."""
        fingerprint = self._contents.get(target)
        return fingerprint is not None and hamming_distance(fingerprint, content) <= NEAR

    def holds(self, target: str, content: int, at: float) -> bool:
        """Note a page that names a target, or is it. Return whether the target may be its key.

        `content` is the fingerprint of the page, `at` a Unix time.
        """
        agrees = hamming_distance(self._contents.setdefault(target, content), content) <= NEAR
        if not agrees and target not in self.refuted:
            self.refuted.add(target)
            if len(self.refuted) >= REFUTED:
                self.off = at + OFF_FOR
        while len(self._contents) > _MOST_TARGETS:
            self._contents.popitem(last=False)
        return agrees and target not in self.refuted and at >= self.off


class Keys:
    """The keys of a crawl's pages, by what each host has shown. Its memory is bounded.

    `tracking` are parameters that no site needs, in addition to the list of this package.
    """

    def __init__(self, tracking: tuple[str, ...] = ()) -> None:
        self._tracking = TRACKING.union(tracking)
        self._hosts: OrderedDict[str, tuple[Host, Canonical]] = OrderedDict()
        self._asked = 0

    def host(self, scope: str) -> Host:
        """Return what the pages of a host, or of a domain, have shown."""
        return self._of(scope)[0]

    def take_over(self, other: Keys) -> None:
        """Continue with the hosts of another one, after a pause of the job."""
        self._hosts = other._hosts

    def canonical(self, scope: str) -> Canonical:
        """Return the canonical links of a host, or of a domain."""
        return self._of(scope)[1]

    def scopes(self) -> list[str]:
        """Return the hosts and domains that were asked for."""
        return [*self._hosts]

    def _of(self, scope: str) -> tuple[Host, Canonical]:
        host = self._hosts.get(scope)
        if host is None:
            host = self._hosts[scope] = Host(self._tracking), Canonical()
        self._hosts.move_to_end(scope)
        self._asked += 1
        if len(self._hosts) > MOST_HOSTS:
            self._hosts.popitem(last=False)
        if self._asked % _BETWEEN == 0:
            self._make_room()
        return host

    def _make_room(self) -> None:
        addresses = sum(len(host.contents.of) for host, _ in self._hosts.values())
        while addresses > MOST_ADDRESSES and len(self._hosts) > 1:
            _, (host, _) = self._hosts.popitem(last=False)
            addresses -= len(host.contents.of)

    def of(self, scope: str, url: str, *, word: str = "", canonical: str = "") -> PageKey:
        """Return the key of an address.

        `word` is the key that the spider gave, `canonical` the target of a link that holds.
        """
        host = self.host(scope).reduction
        if word:
            return PageKey(word, "spider", url)
        if canonical:
            target = host.key(canonical)
            return PageKey(coarse(target), "canonical", canonical)
        plain = host.address(url)
        reduced = host.key(url)
        by: By = "host" if reduced != plain else "url" if plain == address_of(url) else "list"
        shown = url if by == "url" else reduced.url
        if "*" in shown and "*" not in url:  # an address with a wildcard is not a URL
            shown = plain.url
        return PageKey(coarse(reduced), by, shown, host.reasons(url, shown) if by != "url" else ())

    def named(self, scope: str, url: str, canonical: str, content: int, at: float) -> str:
        """Return the target of a page's canonical link if it may be its identity, else "".

        The page itself speaks for or against the links of other pages. `canonical` is "" for a page
        without such a link. `content` is the fingerprint of the page, `at` a Unix time.
        """
        host, links = self._of(scope)
        key = coarse(host.reduction.key(url))
        holds = links.holds(key, content, at)
        if not canonical.startswith(("http://", "https://")):
            return ""
        address = host.reduction.key(canonical)
        if not _are_of_one_site(address.host, address_of(url).host, scope):
            return ""
        target = coarse(address)
        if target == key:
            return canonical if holds else ""
        if not address.bare_path and not links.says(target, content):
            return ""
        return canonical if links.holds(target, content, at) else ""


@lru_cache(maxsize=1024)
def precise(url: str) -> str:
    """Return a URL without the parameters that track visitors: surely the same page."""
    return _PLAIN.address(url).url


@lru_cache(maxsize=1024)
def key_of(url: str) -> str:
    """Return the key of a page by lists alone, where its host has shown nothing."""
    return coarse(_PLAIN.address(url))


def own_key(url: str) -> str:
    """Return the key of a page whose other addresses show another page."""
    return f"{precise(url)}#"


_PLAIN = Reduction(TRACKING)


def _are_of_one_site(one: str, other: str, scope: str) -> bool:
    """Tell whether two hosts belong to one scope: a domain, or a host without its port."""
    return one == other or all(
        f".{host.partition(':')[0]}".endswith(f".{scope}") for host in (one, other)
    )


def coarse(address: Address) -> str:
    """Return the URL of an address without the parts that one site writes in several ways."""
    return Address(
        "https",
        address.host.removeprefix("www."),
        address.bare_path,
        tuple(pair for pair in address.extra if not SESSION.match(pair.partition("=")[0])),
        query=tuple(pair for pair in address.query if not SESSION.match(pair[0])),
    ).url

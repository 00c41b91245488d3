"""The key of a page: one value for all its addresses.

In this order: what the spider says; a canonical link that nothing refutes; the URL without names
that track visitors; and without what the pages of its host have shown not to matter.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Literal, NamedTuple

from simhash_gate.fingerprints.hamming import hamming_distance
from simhash_gate.identity.address import Address, address_of
from simhash_gate.identity.atoms import Atom
from simhash_gate.identity.learning import Host
from simhash_gate.identity.lists import SESSION, TRACKING
from simhash_gate.identity.reduction import Reduction

By = Literal["spider", "canonical", "list", "host", "url"]

MOST_HOSTS, MOST_ADDRESSES = 1_000, 100_000
"""Of one crawl, 1.6 KB for each address, 3.6 with a query; hosts met longest ago go first."""
_BETWEEN = 1_000  # questions, before the addresses are counted again
NEAR = 8
"""Fingerprints of more bits of distance are of different contents."""
REFUTED = 3
"""A host whose canonical links were wrong so often says nothing by them for a while."""
OFF_FOR = 30 * 86_400.0
_MOST_TARGETS = 20_000


class PageKey(NamedTuple):
    """Which page an address is.

    `key` is the same for all its addresses, and no URL to be fetched: `http` is `https` in it, and
    a slash at the end, an index page, `www.` and sessions are left out, on which sites seldom
    agree with themselves. `url` is the canonical URL. `by` tells what they rest on, `atoms` what
    of the address did not matter.
    """

    key: str
    by: By
    url: str
    atoms: tuple[Atom, ...] = ()


class Canonical:
    """Canonical links of one host, which its pages may refute.

    `off` is the Unix time until which they say nothing.
    """

    def __init__(self, off: float = 0.0) -> None:
        self.off = off
        self.refuted: set[str] = set()
        self._contents: dict[str, int] = {}

    def says(self, target: str, content: int) -> bool:
        """Tell whether a target is known to have a content."""
        known = self._contents.get(target)
        return known is not None and hamming_distance(known, content) <= NEAR

    def holds(self, target: str, content: int, at: float) -> bool:
        """Take notice of a page that names a target, or is it; tell if that may be its key.

        `content` is its fingerprint.
        """
        known = hamming_distance(self._contents.setdefault(target, content), content) <= NEAR
        if not known and target not in self.refuted:
            self.refuted.add(target)
            if len(self.refuted) >= REFUTED:
                self.off = at + OFF_FOR
        while len(self._contents) > _MOST_TARGETS:
            del self._contents[next(iter(self._contents))]
        return known and target not in self.refuted and at >= self.off


class Keys:
    """The keys of a crawl's pages: what each host has shown, within bounds.

    `tracking` are the names that no site needs, on top of those that this package knows.
    """

    def __init__(self, tracking: tuple[str, ...] = ()) -> None:
        self._tracking = TRACKING.union(tracking)
        self._hosts: OrderedDict[str, tuple[Host, Canonical]] = OrderedDict()
        self._asked = 0

    def host(self, scope: str) -> Host:
        """Return what is known of a host, or of a domain."""
        return self._of(scope)[0]

    def take_over(self, other: Keys) -> None:
        """Go on from what the last part of a job knew."""
        self._hosts = other._hosts

    def canonical(self, scope: str) -> Canonical:
        """Return what is known of its canonical links."""
        return self._of(scope)[1]

    def scopes(self) -> list[str]:
        """Return the hosts of which anything is known."""
        return [*self._hosts]

    def _of(self, scope: str) -> tuple[Host, Canonical]:
        found = self._hosts.get(scope)
        if found is None:
            found = self._hosts[scope] = Host(self._tracking), Canonical()
        self._hosts.move_to_end(scope)
        self._asked += 1
        if len(self._hosts) > MOST_HOSTS or self._asked % _BETWEEN == 0:
            self._make_room()
        return found

    def _make_room(self) -> None:
        addresses = sum(len(host.contents.of) for host, _ in self._hosts.values())
        while len(self._hosts) > MOST_HOSTS or (
            addresses > MOST_ADDRESSES and len(self._hosts) > 1
        ):
            _, (host, _) = self._hosts.popitem(last=False)
            addresses -= len(host.contents.of)

    def of(self, scope: str, url: str, *, word: str = "", canonical: str = "") -> PageKey:
        """Return the key of an address.

        `word` is what the spider says of it, `canonical` the target of a link that holds.
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
        if "*" in shown and "*" not in url:  # what may be anything is no URL
            shown = plain.url
        return PageKey(coarse(reduced), by, shown, host.reasons(url, shown) if by != "url" else ())

    def named(self, scope: str, url: str, canonical: str, content: int, at: float) -> str:
        """Return the target of a page's canonical link if it may be its identity, else "".

        The page itself speaks for or against the links of others. `canonical` is "" for a page
        that names none, `content` its fingerprint; `at` is a Unix time.
        """
        host, links = self._of(scope)
        own = coarse(host.reduction.key(url))
        holds = links.holds(own, content, at)
        if not canonical.startswith(("http://", "https://")):
            return ""
        address = host.reduction.key(canonical)
        if not _are_of_one_site(address.host, address_of(url).host, scope):
            return ""
        target = coarse(address)
        if target == own:
            return canonical if holds else ""
        if not address.bare_path and not links.says(target, content):
            return ""
        return canonical if links.holds(target, content, at) else ""


def precise(url: str) -> str:
    """Return the URL of an address without names that track visitors: for the same page surely."""
    return _PLAIN.address(url).url


def key_of(url: str) -> str:
    """Return the key of a page whose host is not known: by lists alone."""
    return coarse(_PLAIN.address(url))


def own_key(url: str) -> str:
    """Return the key of a page whose other addresses show another page."""
    return f"{precise(url)}#"


_PLAIN = Reduction(TRACKING)


def _are_of_one_site(one: str, other: str, scope: str) -> bool:
    """Tell whether two hosts are of one scope: a domain, or a host without its port."""
    return one == other or all(
        f".{host.partition(':')[0]}".endswith(f".{scope}") for host in (one, other)
    )


def coarse(address: Address) -> str:
    """Return an address without that on which sites seldom agree with themselves."""
    return Address(
        "https",
        address.host.removeprefix("www."),
        address.bare_path,
        tuple(each for each in address.extra if not SESSION.match(each.partition("=")[0])),
        query=tuple(pair for pair in address.query if not SESSION.match(pair[0])),
    ).url

"""The key of a page: one value for all its addresses.

The first of these decides: the spider's word; a canonical link that no page refutes
(`rel=canonical`, in the head of a page or its `Link` header); the URL, without names that track
visitors.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from typing import Literal, NamedTuple
from urllib.parse import urljoin, urlsplit

from simhash_gate.fingerprints.hamming import hamming_distance
from simhash_gate.identity.address import SESSION, TRACKING, Address, address_of, is_one_of

By = Literal["spider", "canonical", "list", "url"]

MOST_HOSTS = 1_000
"""Hosts whose canonical links are remembered. The oldest go first."""
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
    URL. `by` tells what decided.
    """

    key: str
    by: By
    url: str


class Canonical:
    """Canonical links of one host, which pages may refute; ignored until the Unix time `off`."""

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
    """The keys of a crawl's pages. `tracking` are parameters that no site needs, as well."""

    def __init__(self, tracking: tuple[str, ...] = ()) -> None:
        self._tracking = TRACKING.union(tracking)
        self._links = lru_cache(MOST_HOSTS)(lambda _: Canonical())  # by host or domain

    def address(self, url: str) -> Address:
        """Return an address without the parameters that track visitors."""
        address = address_of(url)
        if not address.query:
            return address
        query = tuple(pair for pair in address.query if not is_one_of(self._tracking, pair[0]))
        return address if query == address.query else address._replace(query=query)

    def precise(self, url: str) -> str:
        """Return a URL without the parameters that track visitors: surely the same page."""
        return self.address(url).url

    def key_of(self, url: str) -> str:
        """Return the key of a page by lists alone."""
        return coarse(self.address(url))

    def own_key(self, url: str) -> str:
        """Return the key of a page whose other addresses show another page."""
        return f"{self.precise(url)}#"

    def of(self, url: str, *, word: str = "", canonical: str = "") -> PageKey:
        """Return the key of an address, by the spider's `word` or a `canonical` link that holds."""
        if word:
            return PageKey(word, "spider", url)
        if canonical:
            return PageKey(coarse(self.address(canonical)), "canonical", canonical)
        plain = self.address(url)
        is_plain = plain == address_of(url)
        return PageKey(coarse(plain), *(("url", url) if is_plain else ("list", plain.url)))

    def named(self, scope: str, url: str, canonical: str, content: int, at: float) -> str:
        """Return the target of a page's canonical link if it may be its identity, else "".

        The page itself speaks for or against the links of other pages. `canonical` is "" for a page
        without such a link. `content` is the fingerprint of the page, `at` a Unix time.
        """
        links, key = self._links(scope), self.key_of(url)
        holds = links.holds(key, content, at)
        if not canonical.startswith(("http://", "https://")):
            return ""
        address = self.address(canonical)
        hosts = {address.host, address_of(url).host}
        # A scope is a domain, or a host without its port.
        of_scope = all(f".{host.partition(':')[0]}".endswith(f".{scope}") for host in hosts)
        if len(hosts) > 1 and not of_scope:
            return ""
        target = coarse(address)
        if target == key:
            return canonical if holds else ""
        if not address.bare_path and not links.says(target, content):
            return ""
        return canonical if links.holds(target, content, at) else ""


def coarse(address: Address) -> str:
    """Return the URL of an address without the parts that one site writes in several ways."""
    host = address.host.removeprefix("www.")
    extra = tuple(pair for pair in address.extra if not SESSION.match(pair.partition("=")[0]))
    query = tuple(pair for pair in address.query if not SESSION.match(pair[0]))
    return Address("https", host, address.bare_path, extra, query=query).url


PLAIN = Keys()
key_of, precise, own_key = lru_cache(1024)(PLAIN.key_of), PLAIN.precise, PLAIN.own_key

_START = 1 << 18  # bytes of a page that are searched
_MOST_LINKS = 20
_LONGEST_TAG = 4096
_LONGEST_URL = 2048


def canonical_of(named: Iterable[str], url: str, link: str = "") -> str:
    """Return the absolute URL that a page calls its own, or "" if it names none or several.

    `named` comes from `canonical_urls`, `link` is the `Link` header of the response.
    """
    named = {*named}
    for part in link.split("<")[1:] if "canonical" in link.lower() else ():
        target, _, parameters = part.partition(">")
        if _is_canonical(parameters) and (target_url := _checked(target, url)):
            named.add(target_url)
    return named.pop() if len(named) == 1 else ""


def canonical_urls(body: bytes, url: str = "") -> Iterator[str]:
    """Yield the absolute URL of each `<link rel=canonical>` of the page at `url`."""
    last = body[:_START].lower().rfind(b"canonical")
    if last < 0:
        return
    from selectolax.lexbor import LexborHTMLParser  # a crawl's own process reads no pages

    start = LexborHTMLParser(body[: last + _LONGEST_TAG].decode("utf-8", "replace"))
    for link in start.css("link[rel~=canonical i]")[:_MOST_LINKS]:
        if named := _checked(link.attributes.get("href") or "", url):
            yield named


def _is_canonical(parameters: str) -> bool:
    pairs = (parameter.partition("=") for parameter in parameters.lower().split(";"))
    relations = (
        value.strip(" \t\"',").split() for name, _, value in pairs if name.strip() == "rel"
    )
    return any("canonical" in each for each in relations)


def _checked(href: str, base: str) -> str:
    """Return the absolute URL of an attribute, or "" if no page can have it."""
    href = href.strip()
    if not href or len(href) > _LONGEST_URL or not href.isprintable() or " " in href:
        return ""
    with suppress(ValueError):
        url = urljoin(base, href)
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and parts.hostname:
            return url
    return ""

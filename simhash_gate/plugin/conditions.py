"""Parts of revalidation: conditions of requests, variants of pages, trust in domains."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy import Request
from scrapy.http import Headers, HtmlResponse, Response

from simhash_gate.gate.policy import Policy
from simhash_gate.gate.verdict import VERDICT_KEY, Verdict
from simhash_gate.history.validators import Trust, Validators, validators_of
from simhash_gate.plugin.requests import CONDITION_KEY, PLAIN_KEY, asks_for_page
from simhash_gate.plugin.store_thread import LearnedNotes, StoreThread

if TYPE_CHECKING:
    from simhash_gate.history.texts import FetchedPage

NOT_MODIFIED = 304
STORED_FLAG = "simhash_gate_stored"
"""The flag of a response that was made from a stored page."""

_OWN = ("If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since", "Range")
_FETCHED_ELSEWHERE = ("playwright", "splash", "zyte_api", "zyte_api_automap")
"""Keys in the meta of requests whose pages browsers or services fetch, with caches of their own."""

MOST_COOKIES = 50_000
"""Cookies of servers that are remembered. Those unused for the longest time are forgotten, and then
count as the crawl's own."""
_ALWAYS = ("accept-language", "authorization", "cookie")
"""Headers that tell variants apart, even if `Vary` does not name them."""
_LONGEST = 200  # characters of a `Vary`
_WORD = re.compile(rb"\D{0,20}")


def may_have_condition(request: Request) -> bool:
    """Tell whether the gate may add a condition to a request."""
    meta = request.meta
    return (
        asks_for_page(request)
        and not request.body
        and not any(name in request.headers for name in _OWN)
        and not any(meta.get(name) for name in (PLAIN_KEY, *_FETCHED_ELSEWHERE))
    )


def take_condition(request: Request) -> None:
    """Remove the condition of a request, or the one that it has as a copy of another request."""
    for name in request.meta.pop(CONDITION_KEY, ()):
        request.headers.pop(name, None)


def validators_in(response: Response) -> Validators:
    """Return the usable validators of a response."""
    names = ("ETag", "Last-Modified", "Date")
    values = {name.lower(): (response.headers.get(name) or b"").decode("latin-1") for name in names}
    vary = b",".join(response.headers.getlist("Vary"))
    return validators_of({**values, "vary": vary.decode("latin-1")})


def needs_page(policy: Policy) -> bool:
    """Tell whether a policy lets an unchanged page reach its callback."""
    verdict = Verdict("unchanged", "", policy)
    return not (verdict.rejected and verdict.action == "drop")


def response_of(url: str, source: FetchedPage) -> HtmlResponse:
    """Return a stored page as a response."""
    headers = Headers(source.headers, encoding="latin-1")
    return HtmlResponse(
        url, headers=headers, body=source.body, encoding=source.encoding, flags=[STORED_FLAG]
    )


def plainly(request: Request) -> Request:
    """Return a copy of a request that is sent without a condition, and never filtered."""
    meta = {**request.meta, PLAIN_KEY: True}
    for added in (VERDICT_KEY, CONDITION_KEY):
        meta.pop(added, None)
    return request.replace(dont_filter=True, meta=meta)


class Variants:
    """Names the variants that requests ask for (RFC 9111, section 4.1), as digests.

    A cookie from a server, such as a session id, makes no variant, unless it is a word, such as a
    language. The crawl's own cookies make variants: those that the spider sets, and those that
    exist after a request with a body, such as a login.
    """

    def __init__(self) -> None:
        self._given: OrderedDict[int, None] = OrderedDict()

    def learn(self, request: Request, response: Response) -> None:
        """Note the cookies that a server sets with an answer."""
        if request.body or request.method not in {"GET", "HEAD"}:
            self._given.clear()
            return
        sent = _sent(request)
        own_names = {c.partition(b"=")[0] for c in sent if hash(c) not in self._given}
        lines = response.headers.getlist("Set-Cookie")
        for cookie in (*sent, *(line.partition(b";")[0].strip() for line in lines)):
            if cookie.partition(b"=")[0] not in own_names:
                self._given.pop(hash(cookie), None)
                self._given[hash(cookie)] = None
        while len(self._given) > MOST_COOKIES:
            self._given.popitem(last=False)

    def of(self, request: Request, response: Response) -> str:
        """Return the name of the variant that a request got: the names in `Vary`, and a digest.

        With `Vary: *`, no two variants are the same.
        """
        vary = b",".join(response.headers.getlist("Vary")).decode("latin-1").lower()
        names = {"".join(name.split()) for name in vary.split(",")} - {""}
        return self._named(request, ",".join(sorted(names)) if len(vary) <= _LONGEST else "*")

    def same(self, request: Request, variant: str) -> bool:
        """Tell whether a request asks for the variant of this name."""
        names = variant.rpartition(" ")[0]
        return "*" not in names and variant == self._named(request, names)

    def _named(self, request: Request, names: str) -> str:
        sent = {name: request.headers.getlist(name) for name in (*names.split(","), *_ALWAYS)}
        sent["cookie"] = [
            cookie
            for cookie in _sent(request)
            if hash(cookie) not in self._given or _WORD.fullmatch(cookie.partition(b"=")[2])
        ]
        digest = blake2b(repr(sorted(sent.items())).encode(), digest_size=4)
        return f"{names} {digest.hexdigest()}"


def _sent(request: Request) -> list[bytes]:
    """Return the cookies of a request as `name=value`, sorted."""
    lines = b";".join(request.headers.getlist("Cookie"))
    return sorted({cookie.strip() for cookie in lines.split(b";")} - {b""})


NOTE = "validators"
"""The key of this trust in the notes on a scope."""
MOST_SITES = 10_000
_MOST_NEW = 100


class SignalSource(NamedTuple):
    """A domain of a scope, as the source of validators."""

    scope: str
    domain: str


class Trusts:
    """Learns whether the validators of domains can be trusted, and keeps that in the store.

    Several crawls may learn at once: each adds its own visits to the values in the store. If there
    are more than `MOST_SITES`, those unused for the longest time are only in the store.
    """

    def __init__(self, store: StoreThread) -> None:
        self.learned = LearnedNotes(store, NOTE, self._take)
        self._trusts: dict[SignalSource, Trust] = {}
        self._new: dict[SignalSource, Trust] = {}

    def of(self, site: SignalSource) -> Trust:
        """Return the trust in a site."""
        trust = self._trusts[site] = self._trusts.pop(site, Trust())
        if len(self._trusts) > MOST_SITES:
            self.keep()
            oldest = next(iter(self._trusts))
            del self._trusts[oldest]
            self.learned.forget(oldest.scope)
        return trust

    def learn(self, site: SignalSource, seen: Trust) -> None:
        """Learn from a visit."""
        self._trusts[site] = self.of(site).then(seen)
        self._new[site] = self._new.get(site, Trust()).then(seen)
        if seen.liar or len(self._new) >= _MOST_NEW:
            self.keep()

    def keep(self) -> None:
        """Write to the store what was learned since the last call."""
        new, self._new = self._new, {}
        for scope in {site.scope for site in new}:
            seen_of_scope = {site.domain: seen for site, seen in new.items() if site.scope == scope}
            self.learned.merge(scope, partial(_merge, new=seen_of_scope))

    def _take(self, scope: str, notes: dict[str, Any]) -> None:
        for domain, value in notes.items():
            site = SignalSource(scope, domain)
            if not self._trusts.get(site, Trust()).liar:
                self._trusts[site] = Trust.of_json(value).then(self._new.get(site, Trust()))


def _merge(notes: dict[str, Any], new: Mapping[str, Trust]) -> None:
    for domain, seen in new.items():
        notes[domain] = Trust.of_json(notes.pop(domain, None)).then(seen)  # now the last

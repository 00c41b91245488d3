"""What revalidation rests on: conditions, variants, and who is believed."""

from __future__ import annotations

import re
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
"""The flag of a response that was made from what the store has."""

_OWN = ("If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since", "Range")
_FETCHED_ELSEWHERE = ("playwright", "splash", "zyte_api", "zyte_api_automap")
"""Keys in the meta of requests whose pages browsers or services fetch, which cache by themselves"""

MOST_COOKIES = 50_000
"""Of those that servers gave; the ones out of use for longest count as the crawl's own then."""
_ALWAYS = ("accept-language", "authorization", "cookie")
"""What tells variants apart, whether or not `Vary` says so."""
_LONGEST = 200  # characters of a `Vary`
_WORD = re.compile(rb"\D{0,20}")


def may_have_condition(request: Request) -> bool:
    """Tell whether the gate may ask for a page only if it has changed."""
    meta = request.meta
    return (
        asks_for_page(request)
        and not request.body
        and not any(name in request.headers for name in _OWN)
        and not any(meta.get(name) for name in (PLAIN_KEY, *_FETCHED_ELSEWHERE))
    )


def take_condition(request: Request) -> None:
    """Take out what was added to a request, or to the one that it is a copy of."""
    for name in request.meta.pop(CONDITION_KEY, ()):
        request.headers.pop(name, None)


def validators_in(response: Response) -> Validators:
    """Return what a response can be asked for again with."""
    names = ("ETag", "Last-Modified", "Date")
    values = {name.lower(): (response.headers.get(name) or b"").decode("latin-1") for name in names}
    vary = b",".join(response.headers.getlist("Vary"))
    return validators_of({**values, "vary": vary.decode("latin-1")})


def needs_page(policy: Policy) -> bool:
    """Tell whether an unchanged page reaches its callback all the same."""
    verdict = Verdict("unchanged", "", policy)
    return not (verdict.rejected and verdict.action == "drop")


def response_of(url: str, source: FetchedPage) -> HtmlResponse:
    """Return a page as it was fetched before."""
    headers = Headers(source.headers, encoding="latin-1")
    return HtmlResponse(
        url, headers=headers, body=source.body, encoding=source.encoding, flags=[STORED_FLAG]
    )


def plainly(request: Request) -> Request:
    """Return a request that is sent again, whatever is said of its page."""
    meta = {**request.meta, PLAIN_KEY: True}
    for added in (VERDICT_KEY, CONDITION_KEY):
        meta.pop(added, None)
    return request.replace(dont_filter=True, meta=meta)


class Variants:
    """Names the variants that requests ask for (RFC 9111, section 4.1), by no more than a digest.

    A cookie that a server gave to whoever came says who visits, such as a session id, and makes no
    variant, unless it is a word, such as a language. After a request with a body, such as a login,
    the cookies that are there stand for what it said: they are the crawl's own, like those that
    its requests bring.
    """

    def __init__(self) -> None:
        self._given: dict[int, None] = {}

    def learn(self, request: Request, response: Response) -> None:
        """Take note of the cookies that a server gives with any answer."""
        if request.body or request.method not in {"GET", "HEAD"}:
            self._given.clear()
            return
        sent = _sent(request)
        own = {cookie.partition(b"=")[0] for cookie in sent if hash(cookie) not in self._given}
        lines = response.headers.getlist("Set-Cookie")
        for cookie in (*sent, *(line.partition(b";")[0].strip() for line in lines)):
            if cookie.partition(b"=")[0] not in own:
                self._given.pop(hash(cookie), None)
                self._given[hash(cookie)] = None
        while len(self._given) > MOST_COOKIES:
            del self._given[next(iter(self._given))]

    def of(self, request: Request, response: Response) -> str:
        """Return a name for the variant of a page that a request got: what `Vary` names, a digest.

        Of `Vary: *` there are no two alike.
        """
        vary = b",".join(response.headers.getlist("Vary")).decode("latin-1").lower()
        names = {"".join(name.split()) for name in vary.split(",")} - {""}
        return self._named(request, ",".join(sorted(names)) if len(vary) <= _LONGEST else "*")

    def same(self, request: Request, variant: str) -> bool:
        """Tell whether a request asks for the variant of a page that has this name."""
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
    """Return the cookies that go with a request, `name=value` each, in one order."""
    lines = b";".join(request.headers.getlist("Cookie"))
    return sorted({cookie.strip() for cookie in lines.split(b";")} - {b""})


NOTE = "validators"
"""The key of what is known in the notes on a scope."""
MOST_SITES = 10_000
_MOST_NEW = 100


class SignalSource(NamedTuple):
    """A domain of a scope, whose validators are believed or not."""

    scope: str
    domain: str


class Trusts:
    """Learns of each domain; a store keeps what was learned.

    Several crawls may learn at once: each adds what it has seen to what the store has by then. Of
    more than `MOST_SITES`, those that were asked for longest ago are left to the store.
    """

    def __init__(self, store: StoreThread) -> None:
        self.learned = LearnedNotes(store, NOTE, self._take)
        self._known: dict[SignalSource, Trust] = {}
        self._new: dict[SignalSource, Trust] = {}

    def of(self, site: SignalSource) -> Trust:
        """Return what is known of a site."""
        trust = self._known[site] = self._known.pop(site, Trust())
        if len(self._known) > MOST_SITES:
            self.keep()
            oldest = next(iter(self._known))
            del self._known[oldest]
            self.learned.forget(oldest.scope)
        return trust

    def learn(self, site: SignalSource, seen: Trust) -> None:
        """Take in what a visit tells."""
        self._known[site] = self.of(site).then(seen)
        self._new[site] = self._new.get(site, Trust()).then(seen)
        if seen.liar or len(self._new) >= _MOST_NEW:
            self.keep()

    def keep(self) -> None:
        """Let the store keep what was learned since the last time."""
        new, self._new = self._new, {}
        for scope in {site.scope for site in new}:
            own = {site.domain: seen for site, seen in new.items() if site.scope == scope}
            self.learned.merge(scope, partial(_merge, new=own))

    def _take(self, scope: str, notes: dict[str, Any]) -> None:
        for domain, known in notes.items():
            site = SignalSource(scope, domain)
            if not self._known.get(site, Trust()).liar:
                self._known[site] = Trust.of_json(known).then(self._new.get(site, Trust()))


def _merge(known: dict[str, Any], new: Mapping[str, Trust]) -> None:
    """Add what was seen to what is known of the domains of a scope."""
    for domain, seen in new.items():
        known[domain] = Trust.of_json(known.pop(domain, None)).then(seen)  # now the last

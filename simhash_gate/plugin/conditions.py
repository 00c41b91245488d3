"""Requests with conditions, which variant of a page they are for, and what answers them."""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import TYPE_CHECKING

from scrapy.http import Headers, HtmlResponse, Response

from simhash_gate.gate.verdict import VERDICT_KEY, Verdict
from simhash_gate.history.validators import Validators, conditions, validators_of
from simhash_gate.plugin.requests import CONDITION_KEY, PLAIN_KEY, asks_for_page

if TYPE_CHECKING:
    from scrapy import Request

    from simhash_gate.gate.policy import Policy
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


def add_condition(request: Request, known: Validators) -> None:
    """Ask for a page only if it is another than the known one."""
    headers = conditions(known)
    request.headers.update(headers)
    request.meta[CONDITION_KEY] = [*headers]


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
    headers = Headers()
    for name, value in source.headers:
        headers.appendlist(name, value)
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
        sent["cookie"] = [each for each in _sent(request) if self._tells(each)]
        digest = blake2b(repr(sorted(sent.items())).encode(), digest_size=4)
        return f"{names} {digest.hexdigest()}"

    def _tells(self, cookie: bytes) -> bool:
        value = cookie.partition(b"=")[2]
        return hash(cookie) not in self._given or _WORD.fullmatch(value) is not None


def _sent(request: Request) -> list[bytes]:
    """Return the cookies that go with a request, `name=value` each, in one order."""
    lines = b";".join(request.headers.getlist("Cookie"))
    return sorted({cookie.strip() for cookie in lines.split(b";")} - {b""})

"""Requests with conditions, and what answers them when a page is as it was: headers and bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.http import Headers, HtmlResponse
from scrapy.http.request import NO_CALLBACK

from simhash_gate.gate.revisit import Sent
from simhash_gate.gate.verdict import Verdict
from simhash_gate.history.validators import Validators, conditions, validators_of
from simhash_gate.plugin.requests import (
    CONDITION_KEY,
    META_KEY,
    PLAIN_KEY,
    RECOVERED_KEY,
    VERDICT_KEY,
)

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

    from simhash_gate.gate.policy import Policy
    from simhash_gate.history.texts import Source

NOT_MODIFIED = 304
STORED_FLAG = "simhash_gate_stored"
"""The flag of a response that was made from what the store has."""

_OWN = ("If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since", "Range")
_FETCHED_ELSEWHERE = ("playwright", "splash", "zyte_api", "zyte_api_automap")
"""Keys in the meta of requests whose pages browsers or services fetch, which cache by themselves"""


def may_have_condition(request: Request) -> bool:
    """Tell whether the gate may ask for a page only if it has changed."""
    meta = request.meta
    return (
        request.method == "GET"
        and not request.body
        and request.callback is not NO_CALLBACK
        and request.url.startswith("http")
        and meta.get(META_KEY) is not False
        and not any(name in request.headers for name in _OWN)
        and not any(meta.get(name) for name in (PLAIN_KEY, RECOVERED_KEY, *_FETCHED_ELSEWHERE))
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


def said_by(response: Response) -> Validators:
    """Return what a response can be asked for again with."""
    names = ("ETag", "Last-Modified", "Date")
    said = {name.lower(): (response.headers.get(name) or b"").decode("latin-1") for name in names}
    vary = b",".join(response.headers.getlist("Vary"))
    return validators_of({**said, "vary": vary.decode("latin-1")})


def sent_with(response: Response, moved_from: str) -> Sent:
    """Return what a server sent with a page to ask about it later, and where it was before."""
    return Sent(*said_by(response), moved_from)


def needs_page(policy: Policy) -> bool:
    """Tell whether an unchanged page reaches its callback all the same."""
    verdict = Verdict("unchanged", "", policy)
    return not (verdict.rejected and verdict.action == "drop")


def response_of(url: str, source: Source) -> HtmlResponse:
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

"""Requests: the keys in their meta, which of them is a retry, and requests as JSON."""

from __future__ import annotations

import logging
import math
from base64 import b64decode, b64encode
from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.misc import load_object
from scrapy.utils.request import RequestFingerprinterProtocol, request_from_dict

from simhash_gate.common.urls import without_credentials
from simhash_gate.gate.verdict import VERDICT_KEY

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

METHODS = ("callback", "errback")


class _NotJsonError(Exception):
    """JSON has no word for a value."""


class NotSent(IgnoreRequest):
    """A request was not sent. `url` is its URL, and `reason` says why in words.

    `kind` is "rule" if its page was fetched, or is on its way, as `stand_in`, another URL; "trap"
    or "listing" if it waits. `what` names what makes no difference in its URL, the shape of its
    URL, or the listing.
    """

    def __init__(
        self, kind: str, url: str, reason: str, what: str, stand_in: str | None = None
    ) -> None:
        super().__init__(f"{url} was not fetched: {reason}")
        self.kind = kind
        self.url = url
        self.reason = reason
        self.what = what
        self.stand_in = stand_in


BECAUSE = {
    "barren": "its pages bring nothing new, and lead to ever more of them",
    "endless": "its pages lead to ever more of the same",
    "listing": "listings lead to nothing new before them",
}


class RequestWriter:
    """Says the requests of a spider in JSON."""

    def __init__(self, spider: Spider) -> None:
        self._spider = spider
        self._names: dict[Any, str] = {}

    def json_of(self, request: Request) -> tuple[dict[str, Any], list[str]]:
        """Return a request in JSON, and the names of what JSON can't say: that is left out.

        A tuple becomes a list; nothing else changes.
        """
        found: dict[str, Any] = {}
        omitted: list[str] = []
        for name in request.attributes:
            value = getattr(request, name)
            try:
                if name in METHODS:
                    found[name] = value and self._name(value)
                elif name == "headers":
                    found[name] = {
                        key.decode("latin-1"): [each.decode("latin-1") for each in values]
                        for key, values in value.items()
                    }
                elif isinstance(value, bytes):
                    found[name] = b64encode(value).decode()
                elif isinstance(value, dict):
                    found[name] = _json_dict(value, name, omitted)
                else:
                    found[name] = _json_value(value)
            except (_NotJsonError, RecursionError):
                omitted.append(name)
        if type(request) is not Request:
            found["_class"] = f"{type(request).__module__}.{type(request).__qualname__}"
        return found, omitted

    def _name(self, method: Callable[..., Any]) -> str:
        function = getattr(method, "__func__", None)
        if function not in self._names:
            try:
                as_dict = Request("data:,", callback=method).to_dict(spider=self._spider)
            except ValueError:
                raise _NotJsonError from None
            self._names[function] = as_dict["callback"]
        return self._names[function]


def request_of(found: dict[str, Any], spider: Spider) -> Request:
    """Return the request that was said in JSON.

    Raises `ValueError` that tells what is wrong, such as a callback that the spider does not have.
    """
    made = dict(found)
    if "callback" not in made:
        raise ValueError("its callback was no method of the spider")
    try:
        if "_class" in made and not issubclass(load_object(made["_class"]), Request):
            raise ValueError(f"{made['_class']} is no request")
        made["headers"] = {
            key.encode("latin-1"): [each.encode("latin-1") for each in values]
            for key, values in made.get("headers", {}).items()
        }
        made["body"] = b64decode(made.get("body", ""))
        return request_from_dict(made, spider=spider)
    except ValueError:
        raise
    except Exception as error:  # it is what a file says: anything may be wrong with it
        raise ValueError(f"{type(error).__name__}: {error}") from error


def _json_dict(values: dict[Any, Any], where: str, omitted: list[str]) -> dict[str, Any]:
    parts = {}
    for key, value in values.items():
        if key == VERDICT_KEY:
            continue
        try:
            if not isinstance(key, str):
                raise _NotJsonError
            parts[key] = _json_value(value)
        except (_NotJsonError, RecursionError):
            omitted.append(f"{where}[{key!r}]")
    return parts


def _json_value(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, list | tuple):
        return [_json_value(part) for part in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _json_value(part) for key, part in value.items()}
    raise _NotJsonError


META_KEY = "simhash_gate"
"""What a request asks of the gate: False, or a mapping of policy values."""
PAGE_KEY = "simhash_gate_page"
"""Which page it is, as the spider says: all requests with the same word are for one page."""
TIME_KEY = "simhash_gate_time"
"""When the page was seen, for archives and simulations: a Unix time, or ISO 8601; else now."""
CONDITION_KEY = "simhash_gate_condition"
"""The names of the headers by which the gate asks for a page only if it has changed."""
PLAIN_KEY = "simhash_gate_plain"
"""That a request is sent without a condition, whatever is known of its page."""
RECOVERED_KEY = "simhash_gate_recovered"
"""What the journal knew of a page that is recovered from it."""
RELEASED_KEY = "simhash_gate_released"
"""That a request was skipped before, and is sent after all."""
KEPT_KEY = "simhash_gate_kept"
"""Where the gate notes which request's page it kept, so that a retry of it is known."""
FOUND_KEY = "simhash_gate_found"
"""Where the gate notes on which page a request was found, for the trap shield."""
COPY_KEY = "simhash_gate_of_copy"
"""Where the gate notes that only a copy led to a request."""
ASKED_KEY = "simhash_gate_asked"
"""Where the gate notes what a request is for: a redirect and a retry of it are for the same."""
ADDED_KEY = "simhash_gate_added"
"""Where the gate notes what middlewares added to a request, which its copies have too."""
AGAIN_KEY = "simhash_gate_again"
"""That a callback sends the request again that its page came by."""
INLINE_KEY = "simhash_gate_inline"
"""That a callback awaits the page itself."""


def asks_for_page(request: Request) -> bool:
    """Tell whether a request is a plain one, whose page the gate is to judge."""
    return (
        request.method == "GET"
        and request.callback is not NO_CALLBACK
        and request.meta.get(META_KEY) is not False
        and RECOVERED_KEY not in request.meta
        and INLINE_KEY not in request.meta
        and request.url.startswith("http")
    )


def addresses(request: Request, url: str) -> list[str]:
    """Return the URLs by which a page came, the first one first: those of redirects too."""
    urls = [*request.meta.get("redirect_urls", ()), request.url, url]
    return list(dict.fromkeys(map(without_credentials, urls)))


def forget_others(request: Request, fingerprinter: RequestFingerprinterProtocol) -> None:
    """Take out of the meta of a request that goes out what was noted of another one."""
    if KEPT_KEY in request.meta:
        kept, _ = request.meta[KEPT_KEY]
        try:
            same = kept == fingerprinter.fingerprint(request).hex()
        except Exception:  # a project's own may do anything; the gate will say so when it judges
            same = False
        if not same:
            del request.meta[KEPT_KEY]


def forget_page(request: Request, response: Response) -> None:
    """Take out of a request what was noted and said of the page that it was found on.

    It came with the rest of the page's meta: what it leads to is another page. If it is the same
    once more, note that.
    """
    page = response.request
    if page is None:
        return
    for key in (VERDICT_KEY, ASKED_KEY, INLINE_KEY, AGAIN_KEY) if request is not page else ():
        request.meta.pop(key, None)
    if request.headers and ADDED_KEY in page.meta:  # they may be those of the page's request
        request.meta.setdefault(ADDED_KEY, page.meta[ADDED_KEY])
    if request.url in (response.url, page.url, *page.meta.get("redirect_urls", ())):
        if request.dont_filter:
            request.meta[AGAIN_KEY] = True
    elif (word := request.meta.get(PAGE_KEY)) is not None and page.meta.get(PAGE_KEY) == word:
        del request.meta[PAGE_KEY]


CALLED_WITH: ContextVar[Request | None] = ContextVar("called_with", default=None)
"""The request whose page a callback has, for all that the callback awaits."""


def mark_inline(crawler: Crawler, awaits: Callable[[Request], None]) -> None:
    """Note on requests that a callback awaits itself that it does: nothing else tells them.

    `awaits` is told the request of the page that the callback has.
    """
    engine: Any = crawler.engine
    download = engine.download_async

    async def marked(request: Request) -> Response:
        request.meta[INLINE_KEY] = True
        if (called_with := CALLED_WITH.get()) is not None:
            awaits(called_with)
        answer: Response = await download(request)
        return answer

    engine.download_async = marked


def is_retry(request: Request, fingerprint: str) -> bool:
    """Tell whether a request was sent again, by its own decision, after its page had been kept."""
    if AGAIN_KEY in request.meta:
        return True
    kept, times = request.meta.get(KEPT_KEY) or ("", 0)
    return bool(kept == fingerprint and request.meta.get("retry_times", 0) > times)


KEY = "playwright_page"


def orphaned_page(request: Request) -> Any:
    """Take the page of a browser out of a dropped request; None if it has none.

    An errback gets the page with the request, and closes it, as it does after any failure.
    """
    if request.errback is not None:
        return None
    return request.meta.pop(KEY, None)


async def close(page: Any) -> None:
    """Close the page of a browser."""
    try:
        await page.close()
    except Exception as error:
        logger.warning("A page of the browser could not be closed: %s", error)

"""What requests are for, as the gate compares it: callback, visitor, and what they hand on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter
from parsel import Selector
from scrapy import Request, Spider
from scrapy.spiders import CrawlSpider

from simhash_gate.gate.asked import Asked
from simhash_gate.plugin.requests import ADDED_KEY, ASKED_KEY

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

_OF_VISITOR = frozenset({"cookiejar", "proxy", "playwright_context", "playwright_context_kwargs"})
# Keys that Scrapy or a plugin puts into `meta`, or reads there to tell how a page is fetched.
_OF_OTHERS = frozenset(
    {
        *("allow_offsite", "autothrottle_dont_adjust_delay", "bindaddress", "cache_timestamp"),
        "depth",
        *("give_up_log_level", "is_start_request", "link_text", "priority", "referrer_policy"),
        *("rule", "verbatim_url", "splash", "zyte_api", "zyte_api_automap", "zyte_api_provider"),
    }
)
_PREFIXES = (
    *("_", "dont_", "download_", "ftp_", "handle_httpstatus_", "inject", "keep_fragments"),
    *("max_retry_", "playwright", "redirect_", "retry_", "simhash_gate"),
)
# Headers that tell how a page is transferred and shown, not what is on it.
_OF_TRANSFER = frozenset(
    {
        *(b"Accept", b"Accept-Encoding", b"Cache-Control", b"Connection", b"Content-Length"),
        *(b"Content-Type", b"Dnt", b"Host", b"Origin", b"Pragma", b"Priority", b"Referer", b"Te"),
        *(b"Upgrade-Insecure-Requests", b"User-Agent", b"X-Requested-With"),
    }
)
_PREFIXES_OF_TRANSFER = (b"If-", b"Sec-")
_DEEPEST = 6


class AskedFor:
    """Tells what the requests of a crawl are for. `ignored` names what does not count."""

    def __init__(self, crawler: Crawler, ignored: Iterable[str], *, anybody: bool) -> None:
        self._crawler = crawler
        self._ignored = frozenset(name.lower() for name in ignored)
        self._anybody = anybody

    def of(self, request: Request) -> Asked:
        """Return what a request is for that was noted."""
        return Asked(*request.meta.get(ASKED_KEY, ()))

    def note(self, request: Request) -> None:
        """Note in the meta of a request that goes out what it is for, unless that is there."""
        if self._anybody or ASKED_KEY in request.meta:
            return
        name, brought = self._callback(request)
        own = (self._line(each, f"its {each}", value) for each, value in brought.items())
        no_line = {"", *request.meta.get(ADDED_KEY, ())}
        visitor = sorted({*self._visitor(request)} - no_line)
        handed_on = sorted({*own, *self._handed_on(request)} - no_line)
        asker = "" if "callback" in self._ignored else name
        request.meta[ASKED_KEY] = ["\n".join([asker, *visitor]), "\n".join(handed_on)]

    def note_added(self, request: Request) -> None:
        """Note what a request has that came by middlewares: in a copy, it is not the spider's."""
        if ASKED_KEY in request.meta:
            noted = "\n".join(request.meta[ASKED_KEY]).split("\n")
            lines = {*self._visitor(request), *self._handed_on(request)}.difference(noted, [""])
            if lines:
                request.meta[ADDED_KEY] = sorted(lines)

    def _visitor(self, request: Request) -> Iterator[str]:
        """Yield what tells apart whom a page is for."""
        for key in _OF_VISITOR.intersection(request.meta):
            yield self._line(key, key, request.meta[key])
        if request.cookies:
            yield self._line("cookies", "cookies", request.cookies)
        for name in request.headers:
            if name not in _OF_TRANSFER and not name.startswith(_PREFIXES_OF_TRANSFER):
                header = name.decode("latin-1")
                yield self._line(header, header, request.headers.getlist(name))

    def _handed_on(self, request: Request) -> Iterator[str]:
        """Yield what a callback gets that is not of the page."""
        for name, value in request.cb_kwargs.items():
            yield self._line(name, f"cb_kwargs[{name!r}]", value)
        for name in request.meta.keys() - _OF_OTHERS - _OF_VISITOR:
            if not str(name).startswith(_PREFIXES):
                yield self._line(str(name), f"meta[{name!r}]", request.meta[name])

    def _callback(self, request: Request) -> tuple[str, dict[str, Any]]:
        """Return the name of what gets the page, and what it brings along itself."""
        callback: Any = request.callback
        spider: Any = self._crawler.spider
        if callback is None:
            callback = getattr(spider, "parse_start_url", None) or getattr(spider, "parse", None)
        if isinstance(spider, CrawlSpider) and callback == spider._callback:
            with suppress(LookupError, TypeError):
                rule = spider._rules[request.meta["rule"]]
                return f"{_name(rule.callback)} {rule.follow}", rule.cb_kwargs
        return _name(callback), dict(_brought(callback))

    def _line(self, name: str, shown: str, value: Any) -> str:
        """Return a name and the digest of a value, "" for one that does not count."""
        if name.lower() in self._ignored:
            return ""
        said = "".join(_said(value)).encode("utf-8", "surrogatepass")
        return f"{shown} {blake2b(said, digest_size=8).hexdigest()}"


def _name(callback: Any) -> str:
    """Return the qualified name of a function, or of what stands for one."""
    while isinstance(callback, partial):
        callback = callback.func
    function = getattr(callback, "__func__", callback)
    if not hasattr(function, "__qualname__"):
        function = type(function)
    code = getattr(function, "__code__", None)
    called = f" {' '.join(code.co_names)}" if code and function.__name__ == "<lambda>" else ""
    return f"{function.__module__}.{function.__qualname__}{called}"


def _brought(callback: Any) -> Iterator[tuple[str, Any]]:
    """Yield what a partial, a lambda or a nested function brings along beside the page."""
    while isinstance(callback, partial):
        yield "partial", (callback.args, callback.keywords)
        callback = callback.func
    function = getattr(callback, "__func__", callback)
    if "<l" in getattr(function, "__qualname__", ""):  # <lambda> or <locals>
        yield "defaults", (function.__defaults__, function.__kwdefaults__)
        cells = function.__closure__ or ()
        for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
            with suppress(ValueError):  # nothing is in it yet
                yield name, cell.cell_contents


def _said(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield a text that is the same for the same contents, as far as these can be told."""
    parts: Iterable[Any] = ()
    if isinstance(value, Selector):
        yield value.get()
    elif isinstance(value, Spider) or depth > _DEEPEST:
        yield type(value).__qualname__
    elif isinstance(value, list | tuple):
        parts = value
    elif isinstance(value, set | frozenset):
        parts = sorted("".join(_said(part, depth + 1)) for part in value)
    elif ItemAdapter.is_item(value):
        parts = sorted(ItemAdapter(value).items(), key=lambda pair: str(pair[0]))
    elif callable(value):
        yield _name(value)
    elif hasattr(value, "__dict__") and "__repr__" not in vars(type(value)):
        yield type(value).__qualname__
        parts = [vars(value)]
    else:
        yield repr(value)
    for part in parts:
        yield "["
        yield from _said(part, depth + 1)
        yield "]"

"""The purpose of requests: their callback, their visitor, and the values that they hand on.

A copy is dropped only if its request is for the same as that of the kept page. Visitors get other
variants of a page by other headers and cookies.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from hashlib import blake2b
from itertools import chain, islice
from typing import Any

from itemadapter import ItemAdapter
from parsel import Selector
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.spiders import CrawlSpider, Rule
from scrapy.utils.datatypes import LocalCache

from simhash_gate.history.validators import Validators, validators_of
from simhash_gate.plugin.callback_code import code_of
from simhash_gate.plugin.requests import ADDED_KEY, ASKED_KEY, INLINE_KEY

_OF_VISITOR = frozenset(
    "cookiejar proxy http_user http_pass playwright_context playwright_context_kwargs".split()
)
# Scrapy or a plugin puts these keys into `meta`, or reads there how to fetch a page.
_OF_OTHERS = frozenset(
    """
    allow_offsite autothrottle_dont_adjust_delay bindaddress cache_timestamp cached_response depth
    depth_reset dud http_auth_domain is_secure give_up_log_level is_start_request link_text priority
    priority_adjust referrer_policy rule verbatim_url splash zyte_api zyte_api_automap
    zyte_api_provider
    """.split()
)
_PREFIXES = tuple(
    "_ dont_ download_ ftp_ handle_httpstatus_ inject keep_fragments max_retry_ playwright"
    " redirect_ retry_ simhash_gate".split()
)
# These headers tell how a page is transferred and shown, and not what is on it.
_OF_TRANSFER = frozenset(
    b"""
    Accept Accept-Encoding Cache-Control Connection Content-Length Content-Type Dnt Host Origin
    Pragma Priority Referer Te Upgrade-Insecure-Requests User-Agent X-Requested-With
    """.split()
)
_PREFIXES_OF_TRANSFER = (b"If-", b"Sec-")
_DEEPEST, _MOST = 50, 30_000
LINKS_ALONE = "a Rule without callback"  # asks for pages that shall give no item


class AskedFor:
    """Tells what the requests of a crawl are for. The names in `ignored` do not count.

    The digests of the callbacks' code are put into `codes`, by name.
    """

    def __init__(
        self, crawler: Crawler, ignored: Iterable[str], codes: dict[str, str], *, anybody: bool
    ) -> None:
        self._crawler, self._codes = crawler, codes
        self._ignored = frozenset(name.lower() for name in ignored)
        self._anybody = anybody

    def note(self, request: Request) -> None:
        """Note in the meta of a request that is sent what it is for, unless that is noted.

        A note for another callback is replaced: an errback made this request from another one.
        """
        name, brought = self._callback(request)
        name += " awaits it" * (INLINE_KEY in request.meta)  # the page goes to no callback
        asker, noted = "" if "callback" in self._ignored else name, request.meta.get(ASKED_KEY)
        if asker not in self._codes and "code" not in self._ignored:
            callback, _ = callback_of(request, self._crawler.spider)
            self._codes[asker] = code_of(callback, self._crawler.spider) if asker else ""
        if self._anybody or (noted and noted[0].partition("\n")[0] == asker):
            return
        brought_parts = ((part, f"its {part}", value) for part, value in brought.items())
        no_line = {"", *request.meta.get(ADDED_KEY, ())}
        visitor, handed_on = (
            sorted({self._line(request, *part) for part in parts} - no_line)
            for parts in (_visitor(request), chain(brought_parts, _handed_on(request)))
        )
        request.meta[ASKED_KEY] = ["\n".join([asker, *visitor]), "\n".join(handed_on)]

    def note_added(self, request: Request) -> None:
        """Note the values that middlewares added. A copy of the request has them not by itself."""
        if ASKED_KEY in request.meta:
            lines = "\n".join(request.meta[ASKED_KEY]).split("\n")
            noted = {line.rpartition(" ")[0] for line in lines}
            parts = chain(_visitor(request), _handed_on(request))
            if lines := [self._line(request, *part) for part in parts if part[1] not in noted]:
                request.meta[ADDED_KEY] = lines

    def _callback(self, request: Request) -> tuple[str, dict[str, Any]]:
        callback, rule = callback_of(request, self._crawler.spider)
        with suppress(Exception):  # a callback may be any object
            if rule and callback is None:
                return LINKS_ALONE, {}
            name, brought = _name(callback), dict(_brought(callback))
            if rule:
                return f"{name} (follow={rule.follow})", brought | rule.cb_kwargs
            return name, brought
        return type(callback).__qualname__, {"callback": request}

    def _line(self, request: Request, name: str, shown: str, value: Any) -> str:
        """Return a name and the digest of a value, "" if it does not count.

        If a value is too large or can't be read, it counts as different for each URL.
        """
        if name.lower() in self._ignored:
            return ""
        texts: list[str] = []
        try:
            texts += islice(_said(value), _MOST)
        except Exception:  # a spider may hand on any object
            texts.append(request.url)
        text = "".join([*texts, *[request.url] * (len(texts) == _MOST)])
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8)
        return f"{shown} {digest.hexdigest()}"


def callback_of(request: Request, spider: Any) -> tuple[Any, Rule | None]:
    """Return the callback that gets the answer to a request, and the CrawlSpider's rule if it is
    one's. A callback may be any object."""
    callback: Any = request.callback
    if callback is None:
        callback = getattr(spider, "parse_start_url", None) or getattr(spider, "parse", None)
    if isinstance(spider, CrawlSpider) and callback == spider._callback:
        with suppress(LookupError, TypeError):
            rule = spider._rules[request.meta["rule"]]
            return rule.callback, rule
    return callback, None


def _visitor(request: Request) -> Iterator[tuple[str, str, Any]]:
    """Yield what identifies the visitor: (name, name to show, value)."""
    for key in _OF_VISITOR.intersection(request.meta):
        yield key, key, request.meta[key]
    if request.cookies:
        yield "cookies", "cookies", request.cookies
    for name in request.headers:
        if name not in _OF_TRANSFER and not name.startswith(_PREFIXES_OF_TRANSFER):
            header = name.decode("latin-1")
            yield header, header, request.headers.getlist(name)


def _handed_on(request: Request) -> Iterator[tuple[str, str, Any]]:
    """Yield what a callback gets beside the page: (name, name to show, value)."""
    for name, value in request.cb_kwargs.items():
        yield str(name), f"cb_kwargs[{name!r}]", value
    for name in request.meta.keys() - _OF_OTHERS - _OF_VISITOR:
        if not str(name).startswith(_PREFIXES):
            yield str(name), f"meta[{name!r}]", request.meta[name]


def _name(callback: Any) -> str:
    while isinstance(callback, partial):
        callback = callback.func
    function = getattr(callback, "__func__", callback)
    if not hasattr(function, "__qualname__"):
        function = type(function)
    code = getattr(function, "__code__", None)
    called = f" {' '.join(code.co_names)}" if code and function.__name__ == "<lambda>" else ""
    return f"{function.__module__}.{function.__qualname__}{called}"


def _brought(callback: Any) -> Iterator[tuple[str, Any]]:
    """Yield (name, value) of what a partial, a lambda or a nested function carries along."""
    while isinstance(callback, partial):
        yield "partial", (callback.args, callback.keywords)
        callback = callback.func
    function = getattr(callback, "__func__", callback)
    code = getattr(function, "__code__", None)
    attributes = None if code or isinstance(callback, type) else getattr(callback, "__dict__", None)
    if (owner := getattr(callback, "__self__", attributes)) and not isinstance(owner, Spider):
        yield "owner", owner
    if code and "<l" in function.__qualname__:  # <lambda> or <locals>
        if function.__name__ == "<lambda>":
            consts = [const for const in code.co_consts if not hasattr(const, "co_code")]
            yield "code", (code.co_code, consts)
        yield "defaults", (function.__defaults__, function.__kwdefaults__)
        cells = function.__closure__ or ()
        for name, cell in zip(code.co_freevars, cells, strict=True):
            with suppress(ValueError):  # the cell is still empty
                yield name, cell.cell_contents


def _said(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield parts of a text that is the same for equal values. May raise any exception."""
    parts: Iterable[Any] = ()
    if value is None or isinstance(value, str | bytes | int | float):
        yield repr(value)
    elif isinstance(value, Spider | Crawler):
        yield type(value).__qualname__
    elif isinstance(value, Selector | Request | Response):
        yield value.get() if isinstance(value, Selector) else f"{value!r} {value.body!r}"
    elif isinstance(value, list | tuple):
        parts = value
    elif isinstance(value, set | frozenset):
        parts = sorted("".join(islice(_said(part, depth + 1), _MOST)) for part in value)
    elif ItemAdapter.is_item(value):
        parts = sorted(ItemAdapter(value).items(), key=lambda pair: str(pair[0]))
    elif callable(value):
        yield _name(value)
        parts = _brought(value)
    else:
        text = repr(value)
        yield text.partition(" at 0x")[0]  # an address in memory tells nothing
        says_all = "__repr__" in vars(type(value)) and " at 0x" not in text
        parts = () if says_all else [vars(value)]
    for part in parts:
        if depth == _DEEPEST:
            raise RecursionError
        yield "["
        yield from _said(part, depth + 1)
        yield "]"


MOST_COOKIES = 50_000
"""Cookies of servers that are remembered. Those unused for the longest time are forgotten, and then
count as the crawl's own."""
_ALWAYS = ("accept-language", "authorization", "cookie")
"""Headers that tell variants apart, even if `Vary` does not name them."""
_LONGEST = 200  # characters of a `Vary`
_WORD = re.compile(rb"\D{0,20}")


def validators_in(response: Response) -> Validators:
    """Return the usable validators of a response."""
    names = ("ETag", "Last-Modified", "Date")
    values = {name.lower(): (response.headers.get(name) or b"").decode("latin-1") for name in names}
    vary = b",".join(response.headers.getlist("Vary"))
    return validators_of({**values, "vary": vary.decode("latin-1")})


class Variants:
    """Names the variants that requests ask for (RFC 9111, section 4.1), as digests.

    A cookie from a server, such as a session id, makes no variant, unless it is a word, such as a
    language. The crawl's own cookies make variants: those that the spider sets, and those that
    exist after a request with a body, such as a login.
    """

    def __init__(self) -> None:
        self._given: LocalCache[int, None] = LocalCache(MOST_COOKIES)

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

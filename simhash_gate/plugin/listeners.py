"""What listeners are told of the pages of a crawl: values, and the class that they derive from."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from enum import IntEnum, auto
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.http import Response

from simhash_gate.gate.policy import Action, Site
from simhash_gate.gate.verdict import Verdict
from simhash_gate.identity.keys import Keys
from simhash_gate.plugin.conditions import Variants
from simhash_gate.plugin.requests import NotSent
from simhash_gate.plugin.store_thread import StoreThread
from simhash_gate.plugin.yields import Yields
from simhash_gate.stores import Record, StoreError
from simhash_gate.stores.base import Identity

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self

    from simhash_gate.plugin.parked import ParkedRequests
    from simhash_gate.settings import Settings

logger = logging.getLogger(__name__)

MOST_LINES = 20_000  # more than a crawl leaves between two verdicts


class Stage(IntEnum):
    """How far a page has come after its verdict, in this order."""

    PASSED = auto()
    """The gate has let it through. Another downloader middleware may still swallow it."""
    RECEIVED = auto()
    """Scrapy has it from the downloader middlewares."""
    ENTERING = auto()
    """It is on its way to the callback. Another spider middleware may still swallow it."""
    IN_CALLBACK = auto()
    """The callback has begun."""
    FINISHED = auto()
    """The callback has said all it has to say."""
    LEFT = auto()
    """The last output has left the spider middlewares. An item may still fail."""
    SETTLED = auto()
    """All items were scraped or dropped: the page can fail no more."""
    FAILED = auto()
    """It was taken back."""
    OUT_OF_SIGHT = auto()
    """Nobody follows it any more, for too many pages were kept after it."""


@dataclass(eq=False)
class FollowedPage:
    """A page that may still fail. `items` of it are not yet scraped or dropped.

    `record` is what was remembered of a kept page. A copy that reaches its callback has none; it is
    `unpaid_for` a kept page of which no item came. So many items were `given`, and so many requests
    `sent`. Its callback `awaits` other pages itself.
    """

    record: Record | None
    stage: Stage = Stage.PASSED
    items: int = 0
    unpaid_for: Record | None = None
    given: int = 0
    sent: int = 0
    awaits: bool = False


@dataclass(frozen=True, slots=True)
class Judged:
    """A response and what the gate made of it.

    `fingerprint` is the request's, in hex, and `domain` the registered one. `skipped` says why the
    response was not judged, if so. `seconds` passed from the response to the verdict. `cb_kwargs`
    are those that the request was sent with, if that is known.
    """

    request: Request
    response: Response
    verdict: Verdict
    domain: str
    action: Action = "drop"
    fingerprint: str = ""
    skipped: str = ""
    seconds: float = 0.0
    cb_kwargs: dict[str, Any] | None = None

    @property
    def as_sent(self) -> Request:
        """The request without what was added to the arguments of its callback on the way back."""
        if self.cb_kwargs is None or self.cb_kwargs.keys() == self.request.cb_kwargs.keys():
            return self.request
        return self.request.replace(cb_kwargs=self.cb_kwargs)

    @property
    def dropped(self) -> bool:
        """Whether the page does not count as passed: it goes no further, or only for its audit."""
        return self.verdict.rejected and self.action == "drop"

    @property
    def not_modified(self) -> bool:
        """Whether the server only said that the page is as it was, and sent none of it."""
        unchanged = self.verdict.outcome == "unchanged"
        return unchanged and self.response.status == HTTPStatus.NOT_MODIFIED

    @property
    def held(self) -> bool:
        """Whether no item of the page reaches the feeds."""
        return self.verdict.rejected and self.action != "tag"


@dataclass(frozen=True, slots=True)
class Crawl:
    """What listeners are made from: a crawl, its settings, its store, and what it asks for.

    `lines` are what other listeners leave to the verdict log and the report. `followed` are the
    kept pages that may still fail, from when the store has them. `yields` knows what came of pages.
    """

    crawler: Crawler
    settings: Settings
    store: StoreThread
    parked: ParkedRequests
    keys: Keys = field(default_factory=Keys)
    variants: Variants = field(default_factory=Variants)
    followed: set[Identity] = field(default_factory=set)
    yields: Yields = field(init=False)
    lines: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=MOST_LINES))

    def __post_init__(self) -> None:
        object.__setattr__(self, "yields", Yields(self.store, self.followed))

    def note(self, message: str, advice: str, *, wrong: bool = False) -> None:
        """Tell the log and the report what is worth knowing of the crawl, or looks `wrong`."""
        logger.log(logging.WARNING if wrong else logging.INFO, "%s %s", message, advice)
        self.lines.append({"crawl_note": {"message": message, "advice": advice, "wrong": wrong}})


class Listener:
    """Is asked about requests and verdicts, and told what becomes of pages, on the event loop.

    A listener overrides what it wants to know; nothing else is called. One of a project is named in
    `SIMHASH_GATE_LISTENERS`, one of the gate's own in `features.FEATURES`. If a method raises what
    it may not, that is logged, and the crawl goes on as if it had said nothing.
    """

    def __init__(self, crawl: Crawl) -> None:
        self._crawl = crawl
        self._settings = crawl.settings
        self._policies = crawl.settings.policies
        self._parked = crawl.parked
        self._stats = crawl.crawler.stats
        self._told: set[Hashable] = set()

    @classmethod
    def for_crawl(cls, crawl: Crawl) -> Self | None:
        """Return the listener for a crawl; None if it has nothing to do there.

        Raises `SettingsError`, which stops the crawl before it starts.
        """
        return cls(crawl)

    def opened(self, spider: Spider) -> None:
        """The spider was opened."""

    def ask(self, request: Request, site: Site) -> None:
        """A request is about to be sent. Raise `NotSent` if it need not be."""

    async def ask_store(self, request: Request) -> None:
        """A request is about to be sent, and the store may be asked. May raise `NotSent`."""

    def answered(self, request: Request, response: Response) -> Response | Request:
        """A server has answered, and no other middleware knows. Return what answers the request."""
        return response

    def not_sent(self, request: Request, why: NotSent) -> None:
        """A request was not sent."""

    def failed(self, request: Request) -> None:
        """A request has no answer."""

    def verdict_on(self, request: Request, response: Response) -> tuple[Verdict, str] | None:
        """Return the verdict, and the key of the page, if they are known without reading it."""
        return None

    async def matched(self, verdict: Verdict) -> Verdict:
        """Return a verdict with what is kept of its match; asked anew for each match."""
        return verdict

    def given(self, verdict: Verdict, request: Request, domain: str) -> Verdict:
        """Return the verdict as it is to be given."""
        return verdict

    def judged(self, judged: Judged, page: FollowedPage | None) -> None:
        """A response has its verdict; it is followed as `page` if it can still fail."""

    def found(self, request: Request, response: Response) -> bool:
        """A request leaves the spider middlewares; it was found on a page. May it go on?"""
        return True

    def item(self, page: FollowedPage, response: Response, item: Any) -> None:
        """An item came out of a followed page."""

    def moved(self, page: FollowedPage) -> None:
        """A page has left the spider middlewares, or is not followed any more."""

    def idle(self) -> None:
        """Nothing is on its way any more."""

    async def closed(self) -> None:
        """The spider was closed."""

    def _count(self, *names: str) -> None:
        for name in names:
            self._stats.inc_value(f"simhash_gate/{name}")

    def _once(self, what: Hashable) -> bool:
        """Tell whether it is the first time that this is to be told."""
        first = what not in self._told
        self._told.add(what)
        return first


class Listeners:
    """The listeners of a crawl by what they want to know: nothing else of them is called.

    What they raise is logged, once for each method, and the crawl goes on without their answer.
    """

    def __init__(self, listeners: Iterable[Listener]) -> None:
        every = list(listeners)
        self._methods: dict[str, list[Callable[..., Any]]] = {
            name: [getattr(it, name) for it in every if getattr(type(it), name) is not plain]
            for name, plain in vars(Listener).items()
            if callable(plain) and not name.startswith("_")
        }
        self._failed: set[str] = set()

    def tell(self, what: str, *about: Any) -> list[Any]:
        """Return what they answer, each in its turn. Raises `NotSent`, and asks nobody else."""
        answers = []
        for method in self._methods[what]:
            try:
                answers.append(method(*about))
            except NotSent:
                raise
            except Exception as error:
                self._log(method, error)
        return answers

    async def ask(self, what: str, *about: Any) -> None:
        """Ask for what they have to wait for, one after the other. Raises `NotSent`."""
        for method in self._methods[what]:
            try:
                await method(*about)
            except NotSent:
                raise
            except Exception as error:
                self._log(method, error)

    async def matched(self, verdict: Verdict) -> Verdict:
        """Return a verdict with what each of them adds to it that has to be waited for."""
        for method in self._methods["matched"]:
            try:
                verdict = await method(verdict)
            except Exception as error:
                self._log(method, error)
        return verdict

    def given(self, verdict: Verdict, request: Request, domain: str) -> Verdict:
        """Return a verdict as all of them leave it."""
        for method in self._methods["given"]:
            try:
                verdict = method(verdict, request, domain)
            except Exception as error:
                self._log(method, error)
        return verdict

    def _log(self, method: Callable[..., Any], error: Exception) -> None:
        if isinstance(error, StoreError):
            return  # the crawl says that its store fails
        name = f"{method.__self__.__class__.__qualname__}.{method.__name__}"  # type: ignore[attr-defined]
        if name not in self._failed:
            self._failed.add(name)
            logger.error("%s failed, and the crawl goes on without it", name, exc_info=error)

"""Listeners: the base class of all features of a crawl, and the values that they get."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.http import Response

from simhash_gate.common.wording import why
from simhash_gate.gate.policy import Action
from simhash_gate.gate.verdict import Verdict
from simhash_gate.identity.keys import Keys
from simhash_gate.plugin.asked_for import Variants
from simhash_gate.plugin.followed import FollowedPage
from simhash_gate.plugin.parked import ParkedRequests
from simhash_gate.plugin.store_thread import StoreThread
from simhash_gate.plugin.yields import Yields
from simhash_gate.settings import Settings
from simhash_gate.stores import Record, StoreError
from simhash_gate.stores.base import Identity
from simhash_gate.values import PREFIX

logger = logging.getLogger(__name__)

MOST_LINES = 20_000  # more than a crawl leaves between two verdicts


@dataclass(frozen=True, slots=True)
class Judged:
    """A response with its verdict.

    `key` is that of the page, `domain` the registered one. `skipped` says why the response was not
    judged, "" if it was. `seconds` is the time from the response to the verdict. `cb_kwargs` are
    those that the request was sent with.
    """

    request: Request
    response: Response
    verdict: Verdict
    domain: str
    action: Action = "drop"
    key: str = ""
    skipped: str = ""
    seconds: float = 0.0
    cb_kwargs: dict[str, Any] | None = None

    @property
    def dropped(self) -> bool:
        """Whether the page is dropped."""
        return self.verdict.rejected and self.action == "drop"

    @property
    def not_modified(self) -> bool:
        """Whether the server answered 304, without a body."""
        unchanged = self.verdict.outcome == "unchanged"
        return unchanged and self.response.status == HTTPStatus.NOT_MODIFIED

    @property
    def held(self) -> bool:
        """Whether the items of the page do not reach the feeds."""
        return self.verdict.rejected and self.action != "tag"


@dataclass(frozen=True, slots=True)
class Crawl:
    """A crawl, with all that its listeners share.

    `parked` are requests that wait, `keys` the keys of pages, `variants` those of requests.
    `followed` are the kept pages that may still fail. `yields` counts what came of pages. `lines`
    are for the verdict log and the report.
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

    def is_own(self, record: Record) -> bool:
        """Tell whether this crawl kept a record."""
        return record.run == self.store.run.name

    def note(self, message: str, advice: str, *, wrong: bool = False) -> None:
        """Write a message with advice to the log and the report; as a warning if `wrong`."""
        logger.log(logging.WARNING if wrong else logging.INFO, "%s %s", message, advice)
        self.lines.append({"crawl_note": {"message": message, "advice": advice, "wrong": wrong}})


class Listener:
    """Gets calls about requests, verdicts and pages, on the event loop.

    A listener overrides the methods that it needs; no others are called. A project names its own
    listeners in `SIMHASH_GATE_LISTENERS`, the gate has its own in `features.FEATURES`. If a method
    raises an unexpected exception, this is logged, and the crawl goes on without its answer.
    """

    def __init__(self, crawl: Crawl) -> None:
        self._crawl = crawl
        self._settings = crawl.settings
        self._policies = crawl.settings.policies
        self._parked = crawl.parked
        self._stats = crawl.crawler.stats
        self._told: set[Hashable] = set()

    @classmethod
    def for_crawl(cls, crawl: Crawl) -> Listener | None:
        """Return the listener for a crawl, None if it has nothing to do there.

        Raises `SettingsError`, which stops the crawl before it starts.
        """
        return cls(crawl)

    def opened(self, spider: Spider) -> None:
        """The spider was opened."""

    async def ask_store(self, request: Request) -> None:
        """A request is about to be sent. Ask the store, and change the request's headers."""

    def answered(self, request: Request, response: Response) -> Response | Request:
        """A server has answered; no other middleware has seen it yet. Return the answer to use."""
        return response

    def verdict_on(self, request: Request, response: Response) -> tuple[Verdict, str] | None:
        """Return the verdict and the key of a page if no reading is needed, else None."""
        return None

    async def matched(self, verdict: Verdict) -> Verdict:
        """Return a verdict with additions about its match. This is called for each new match."""
        return verdict

    def given(self, verdict: Verdict, request: Request, domain: str) -> Verdict:
        """Return the final verdict, changed or not."""
        return verdict

    def judged(self, judged: Judged, page: FollowedPage | None) -> None:
        """A response has its verdict. `page` follows it if it can still fail, else it is None."""

    def found(self, request: Request, response: Response) -> bool:
        """A request of a page leaves the spider middlewares. Return whether it may be sent."""
        return True

    def moved(self, page: FollowedPage) -> None:
        """A page has left the spider middlewares, or is not followed any more."""

    def idle(self) -> None:
        """Nothing is on its way any more."""

    async def closed(self) -> None:
        """The spider was closed."""

    def _count(self, *names: str) -> None:
        for name in names:
            self._stats.inc_value(f"simhash_gate/{name}")

    def _tell_once(self, failed: str, error: BaseException | None) -> None:
        """Warn of a failure, if there was one, once for each reason."""
        reason = why(error) if isinstance(error, OSError) else repr(error)
        if error is not None and self._once(reason):
            logger.warning("%s%s: %s", PREFIX, failed, reason)

    def _once(self, what: Hashable) -> bool:
        """Tell whether this is the first call with `what`: some messages are logged only once."""
        first = what not in self._told
        self._told.add(what)
        return first


class Listeners:
    """The listeners of a crawl. Only the methods that they override are called.

    Exceptions are logged, once for each method, and the crawl goes on without that answer.
    """

    def __init__(self, listeners: Iterable[Listener]) -> None:
        every = list(listeners)
        self._methods: dict[str, list[Callable[..., Any]]] = {
            name: [getattr(own, name) for own in every if getattr(type(own), name) is not plain]
            for name, plain in vars(Listener).items()
            if callable(plain) and not name.startswith("_")
        }
        self._failed: set[str] = set()

    def tell(self, what: str, *about: Any) -> list[Any]:
        """Call a method of all listeners in order, and return the answers."""
        answers = []
        for method in self._methods[what]:
            with self._guarding(method):
                answers.append(method(*about))
        return answers

    async def ask(self, what: str, *about: Any) -> None:
        """Await a method of all listeners, one after the other."""
        for method in self._methods[what]:
            with self._guarding(method):
                await method(*about)

    async def matched(self, verdict: Verdict) -> Verdict:
        """Return a verdict with the additions of all listeners."""
        for method in self._methods["matched"]:
            with self._guarding(method):
                verdict = await method(verdict)
        return verdict

    def given(self, verdict: Verdict, request: Request, domain: str) -> Verdict:
        """Return a verdict after all listeners could change it."""
        for method in self._methods["given"]:
            with self._guarding(method):
                verdict = method(verdict, request, domain)
        return verdict

    @contextmanager
    def _guarding(self, method: Callable[..., Any]) -> Iterator[None]:
        try:
            yield
        except StoreError:
            pass  # `StoreFailures` reports it
        except Exception as error:
            name = f"{method.__self__.__class__.__qualname__}.{method.__name__}"  # type: ignore[attr-defined]
            if name not in self._failed:
                self._failed.add(name)
                logger.error("%s failed, and the crawl goes on without it", name, exc_info=error)

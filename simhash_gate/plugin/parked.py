"""Requests that wait because of a belief. They are sent after all if the belief proves wrong.

When a job is paused, its requests that wait are written with it, and wait on in the next part of
the job. They are pickled, like the requests in Scrapy's own queue in the same folder.
"""

from __future__ import annotations

import logging
import pickle
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.utils.request import request_from_dict

from simhash_gate.common.files import whole_file
from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import how_many
from simhash_gate.plugin.requests import INLINE_KEY
from simhash_gate.values import PREFIX

T = TypeVar("T")
Belief = tuple[Hashable, ...]
"""A belief: its kind, and what it is about."""

logger = logging.getLogger(__name__)

MOST_BYTES = 64 << 20
"""The bytes of all requests of a crawl that wait, about."""
JOB_FILE = "simhash_gate_parked.pickle"
_FORMAT = 1
_OBJECTS = 2048  # bytes of the objects of a request, without their contents
_DEEPEST = 4
_MOST_LET_GO = 100_000  # beliefs


@dataclass(eq=False)
class Parked:
    """A request that waits, as it can be sent later, and the belief that it waits for.

    If there is no room for all, those with the highest `distance` are let go first.
    """

    belief: Belief
    request: Request
    distance: int = field(default=0, kw_only=True)

    @property
    def size(self) -> int:
        """The bytes that it takes, about."""
        request = self.request
        parts = (request.url, request.body, dict(request.headers), request.meta, request.cb_kwargs)
        return _OBJECTS + sum(map(_weight, parts))


class ParkedRequests:
    """All requests of a crawl that wait, the oldest first. `folder` is that of a job.

    They take at most `MOST_BYTES`. If there are more, the farthest of the largest kind are let go,
    the oldest first: they are never sent. After a pause, requests that nobody claims are sent when
    the crawl is idle.
    """

    def __init__(self, crawler: Crawler, folder: str | None = None) -> None:
        self._crawler = crawler
        self._kinds: defaultdict[Hashable, dict[Parked, int]] = defaultdict(dict)
        self._beliefs: dict[Belief, dict[Parked, None]] = {}
        self._let_go: Counter[Belief] = Counter()
        self._bytes: Counter[Hashable] = Counter()
        self._unsent: list[Parked] = []
        self._states: dict[str, Any] = {}
        self._earlier_states: dict[str, Any] = {}
        self._warned: set[Hashable] = set()
        self._file = Path(folder).resolve() / JOB_FILE if folder else None
        self._takes_requests, self.paused = True, False

    def add(self, parked: Parked, most: int | None = None) -> None:
        """Let a request wait; with `most`, only if fewer wait for the same belief.

        A request that a callback awaits itself never waits: its page would go to another callback.
        """
        if INLINE_KEY in parked.request.meta:
            return
        belief, kind, size = parked.belief, parked.belief[0], parked.size
        if most is not None and len(self._beliefs.get(belief, ())) >= most:
            self._lets_go(belief)
            return
        self._kinds[kind][parked] = size
        self._beliefs.setdefault(belief, {})[parked] = None
        self._bytes[kind] += size
        while self._bytes.total() > MOST_BYTES:
            kind, _ = self._bytes.most_common(1)[0]
            if kind not in self._warned:
                self._warned.add(kind)
                logger.warning(
                    "More than %d MiB of requests wait, most of them for one reason (%s): of these "
                    "the farthest and oldest are not sent any more, whatever proves wrong",
                    MOST_BYTES >> 20, kind,
                )  # fmt: skip
            farthest = max(self._kinds[kind], key=attrgetter("distance"))
            self.remove(farthest)
            self._lets_go(farthest.belief)

    def beliefs(self, kind: str) -> list[Belief]:
        """Return the beliefs of a kind for which requests wait."""
        return [belief for belief in self._beliefs if belief[0] == kind]

    def waiting(self, belief: Belief) -> list[Any]:
        """Return all that waits for a belief, the oldest first."""
        return list(self._beliefs.get(belief, ()))

    def take(self, belief: Belief, why: str = "") -> list[Any]:
        """Remove all that waits for a belief, and return it, the oldest first.

        `why` says that the belief proved wrong. It is logged if some requests were let go.
        """
        let_go = self._let_go.pop(belief, 0)
        if let_go and why:
            logger.error(
                "%s, and %s that waited for that are not sent: too many did. The verdict log has "
                "them (%sVERDICTS)",
                why, how_many(let_go, "request"), PREFIX,
            )  # fmt: skip
        taken = self.waiting(belief)
        for parked in taken:
            self.remove(parked)
        return taken

    def remove(self, parked: Parked) -> None:
        """Remove a request that waits."""
        self._bytes[parked.belief[0]] -= self._kinds[parked.belief[0]].pop(parked)
        waiting = self._beliefs[parked.belief]
        del waiting[parked]
        if not waiting:
            del self._beliefs[parked.belief]

    def send(self, request: Request, *, again: bool = True) -> None:
        """Send a request, unfiltered if `again`. At the end of a crawl, keep it for the next."""
        engine = self._crawler.engine
        if engine is not None and engine.spider is not None and self._takes_requests:
            try:
                engine.crawl(request.replace(dont_filter=True) if again else request)
                return
            except OSError as error:  # the disk with the queue of the job is full
                waits = "%s can't be sent now, and waits until the crawl is idle: %s"
                logger.error(waits, without_credentials(request.url), error)
        self._unsent.append(Parked(("unsent",), request))

    def idle(self) -> None:
        """Send the requests that wait for no belief of this part of the job."""
        unsent, self._unsent = self._unsent, []
        if unsent:
            logger.info("Sending %s that waited before the pause", how_many(len(unsent), "request"))
        for parked in unsent:
            self.send(parked.request)

    def claim(self, kind: str, state: T, holds: Callable[[Request], bool] = lambda _: True) -> T:
        """Return the state of a kind of beliefs from before a pause, else `state`.

        It is written with the requests. These wait on if `holds` is true by the current settings.
        """
        earlier: T = self._earlier_states.pop(kind, state)
        self._states[kind] = earlier
        for parked in self._unsent:
            if parked.belief[0] == kind and holds(parked.request):
                self.add(parked)
        self._unsent = [parked for parked in self._unsent if parked not in self._kinds[kind]]
        return earlier

    def restore(self, spider: Spider) -> None:
        """Read the requests and states of the last part of the job."""
        if self._file is None:
            return
        try:
            with self._file.open("rb") as file:
                format_of_file, packed, waiting = pickle.load(file)
            if format_of_file != _FORMAT:
                raise ValueError(f"its format is {format_of_file}, not {_FORMAT}")
            self._earlier_states, self._let_go = pickle.loads(packed)
        except FileNotFoundError:
            return
        except Exception as error:  # a pickle may raise anything
            logger.error("Requests that waited can't be read: %s: %s", self._file, error)
            return
        lost = []
        for pickled in waiting:
            try:
                parked = pickle.loads(pickled)
                parked.request = request_from_dict(parked.request, spider=spider)
                self._unsent.append(parked)
            except Exception as error:
                lost.append(str(error))
        if lost:
            self._lose("that waited before the pause", lost, "the spider can't have them any more")

    def close(self, *, paused: bool) -> None:
        """Note that Scrapy takes no more requests, and if it was `paused` before it was idle."""
        self._takes_requests, self.paused = False, paused

    def keep(self, spider: Spider) -> None:
        """Write the requests that wait if the job is paused. Else remove their file."""
        if self._file is None:
            return
        waiting, lost = [], []
        for parked in chain(*self._kinds.values(), self._unsent) if self.paused else ():
            try:
                as_dict: Any = parked.request.to_dict(spider=spider)
                waiting.append(pickle.dumps(replace(parked, request=as_dict)))
            except Exception:
                lost.append(without_credentials(parked.request.url))
        if lost:
            why = "they have a callback that is no method of the spider, or what can't be pickled"
            self._lose("that wait", lost, why)
        try:
            if not self.paused:
                self._file.unlink(missing_ok=True)
                return
            with whole_file(self._file) as file:
                pickle.dump((_FORMAT, pickle.dumps((self._states, self._let_go)), waiting), file)
        except Exception as error:
            logger.error("Requests that wait can't be written: %s: %s", self._file, error)

    def _lose(self, which: str, lost: list[str], why: str) -> None:
        self._crawler.stats.inc_value("simhash_gate/parked/lost", len(lost))
        requests = how_many(len(lost), "request")
        logger.warning("%s %s are lost: %s (%s)", requests, which, why, lost[0])

    def _lets_go(self, belief: Belief) -> None:
        self._crawler.stats.inc_value(f"simhash_gate/parked/let_go/{belief[0]}")
        if len(self._let_go) < _MOST_LET_GO:
            self._let_go[belief] += 1


def _weight(value: Any, depth: int = 0) -> int:
    size = sys.getsizeof(value, 0)
    if depth < _DEEPEST:
        if isinstance(value, dict):
            size += sum(_weight(part, depth + 1) for pair in value.items() for part in pair)
        elif isinstance(value, (list, tuple, set)):
            size += sum(_weight(part, depth + 1) for part in value)
    return size

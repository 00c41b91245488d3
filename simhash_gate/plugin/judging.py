"""The judge on a thread of its own: a store may wait for a disk, the event loop may not."""

from __future__ import annotations

import logging
import uuid
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from scrapy.extensions.feedexport import FeedExporter
from scrapy.utils.job import job_dir
from scrapy.utils.project import data_path

from simhash_gate.gate.judge import Gate
from simhash_gate.settings import SQLITE_DEFAULT
from simhash_gate.stores import StoreError, open_store

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from simhash_gate.stores import Record, Store

logger = logging.getLogger(__name__)

RENEW_INTERVAL = 20.0


class Judge:
    """Opens the store, begins a run, and judges one page after the other, all on one thread.

    A store that can't be opened is reported once; then every call raises its `StoreError`.
    """

    def __init__(self, pipeline: str) -> None:
        self.run = uuid.uuid4().hex
        self._pipeline = pipeline
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="simhash_gate-judge")
        self._closed = Event()
        self._owed: list[Record] = []
        self._gate: Gate | None = None
        self._failure = StoreError("the store is not open")

    def open(self, url: str) -> None:
        """Open the store, and begin the run, before anything that is submitted later."""
        self._thread.submit(self._open, url)
        Thread(target=self._keep_alive, daemon=True).start()

    def submit(self, call: Callable[[Gate], Any]) -> Future[Any]:
        """Return the result of the call with the gate, as a future. It may raise `StoreError`."""
        return self._thread.submit(self._call, call)

    def forget(self, record: Record) -> None:
        """Take a record back before anything that is submitted later."""
        self.submit(partial(self._forget, record)).add_done_callback(_log_failure)

    def close(self, *, ended: bool) -> Future[None]:
        """End the run, if it `ended` normally, and close the store, after all submitted before."""
        self._closed.set()
        closed = self._thread.submit(self._close, ended)
        self._thread.shutdown(wait=False)
        return closed

    def _forget(self, record: Record, gate: Gate) -> None:
        try:
            gate.store.forget(record)
        except StoreError as error:
            self._owed.append(record)
            logger.error("%s failed and could not be forgotten yet: %s", record.url, error)

    def _open(self, url: str) -> None:
        store: Store | None = None
        try:
            store = open_store(url)
            store.begin(self.run)
        except Exception as error:
            self._failure = error if isinstance(error, StoreError) else StoreError(str(error))
            logger.error("The gate judges nothing and passes every page: %s", error)
            if store is not None:
                store.close()
        else:
            self._gate = Gate(store, run=self.run, pipeline=self._pipeline)

    def _call(self, call: Callable[[Gate], Any]) -> Any:
        if self._gate is None:
            raise self._failure
        return call(self._gate)

    def _keep_alive(self) -> None:
        while not self._closed.wait(RENEW_INTERVAL):
            try:
                self.submit(lambda gate: gate.store.renew(gate.run)).add_done_callback(_log_failure)
            except RuntimeError:  # the interpreter shuts down
                return

    def _close(self, ended: bool) -> None:
        if self._gate is None:
            return
        store = self._gate.store
        try:
            for record in self._owed:
                store.forget(record)
            if ended:
                store.end(self.run)
        except Exception:
            logger.exception("The gate could not end its run: its pages won't count as seen")
        finally:
            store.close()


def _log_failure(future: Future[Any]) -> None:
    error = future.exception()
    if error is not None:
        logger.error("The gate's store failed: %s", error)


def store_url(configured: str, settings: BaseSettings, spider: str) -> str:
    """Return the URL of the store to open: the default of this crawl, and paths made absolute.

    Says so in the log, and falls back to memory, where the folder of a default path can't be made.
    """
    folder = None
    if not configured:
        folder = job_dir(settings)
        if not folder:
            return "memory:"
        path = Path(folder) / "simhash_gate.sqlite"
    elif configured == SQLITE_DEFAULT:
        path = Path(data_path("simhash_gate")) / f"{quote(spider, safe='')}.sqlite"
    else:
        return configured
    path = path.absolute()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / f".{path.name}.probe").touch()
        (path.parent / f".{path.name}.probe").unlink()
    except OSError as error:
        logger.error("The gate remembers this crawl in memory only: %s", error)
        return "memory:"
    return f"sqlite:///{path}"


def feeds_stored(crawler: Crawler) -> bool:
    """Tell whether the items of a crawl that ends are where its feed settings want them."""
    stats = crawler.stats.get_stats()
    if any(name.startswith("feedexport/failed_count") for name in stats):
        return False
    feeds = crawler.settings.getdict("FEEDS")
    if not feeds or not stats.get("item_scraped_count") or not crawler.get_extension(FeedExporter):
        return True
    # A feed that could not even be opened counts as no failure; nor is any success counted.
    stored = [count for name, count in stats.items() if name.startswith("feedexport/success_count")]
    return bool(sum(stored) >= len(feeds))

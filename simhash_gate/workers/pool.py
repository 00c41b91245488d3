"""A pool of processes that read pages off the event loop. Those that fail are replaced."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from subprocess import Popen
from threading import Thread
from typing import Any

from simhash_gate.options import Options
from simhash_gate.page import Page
from simhash_gate.workers.process import Function, Job, WorkerProcess, end_process, start_process

TIMEOUT = 10.0
"""Seconds that reading one page may take."""
WATCH_INTERVAL = 0.1
ENDED = "the page-reading processes have been ended"
MOST_WAITING = 10_000
MOST_WAITING_BYTES = 256 * 1024 * 1024


class ReadError(Exception):
    """A page could not be read. The message says why."""


def page_of(body: bytes, url: str, encoding: str | None, options: Options) -> Page:
    """Read a page. The modules that read pages are loaded now, and not before."""
    from simhash_gate.pipeline import read_page

    return read_page(body, url=url, encoding=encoding, options=options)


class InlineReader:
    """Reads pages in the calling thread, without limits of time or memory."""

    def __init__(self, options: Options) -> None:
        self.options = options

    def read(
        self, body: bytes, url: str, encoding: str | None, function: Function = page_of
    ) -> Future[Any]:
        """Return the page, or the result of `function` for it, as a future that is done."""
        future: Future[Any] = Future()
        try:
            future.set_result(function(body, url, encoding, self.options))
        except Exception as error:
            future.set_exception(ReadError(f"{type(error).__name__}: {error}"))
        return future

    def close(self) -> None:
        """Do nothing: no resources are held."""


class WorkerPool:
    """Reads pages in processes of its own.

    A process has two pages at most. The other pages wait here; if too many wait, further pages
    fail. A process that dies, or needs more than `timeout` seconds or `memory` bytes for a page, is
    replaced; only its page fails. With a `loop`, only the thread of that event loop may call the
    pool. Without, the pool has a loop of its own, and any thread may call it. `started` are
    processes that were started in advance; the pool ends them.
    """

    def __init__(
        self,
        options: Options,
        processes: int,
        timeout: float = TIMEOUT,
        memory: int = 0,
        loop: asyncio.AbstractEventLoop | None = None,
        started: Iterable[Popen[bytes]] = (),
    ) -> None:
        self._options = options
        self._processes = processes
        self._timeout = timeout
        self._memory = memory
        self._waiting: deque[Job] = deque()  # the oldest first
        self._workers: list[WorkerProcess] = []
        self._dying: list[Popen[bytes]] = []
        self._started = deque(started)
        self._closed = False
        self._thread: Thread | None = None
        if loop is None:
            loop = asyncio.new_event_loop()
            self._thread = Thread(target=loop.run_forever, daemon=True)
            self._thread.start()
        self._loop = loop
        self._call(self._start)

    def read(
        self, body: bytes, url: str, encoding: str | None, function: Function = page_of
    ) -> Future[Any]:
        """Return a future of the page, or of the result of `function` for it.

        `function` must be picklable, and must not return a string. The future raises `ReadError` if
        the page could not be read.
        """
        future: Future[Any] = Future()
        self._call(self._submit, Job(body, url, encoding, function, future))
        return future

    def close(self) -> None:
        """End all processes. Pages that still wait fail."""
        self._call(self._stop)
        if self._thread is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
            self._thread = None

    def _call(self, call: Callable[..., None], *arguments: Any) -> None:
        if self._thread is None:
            call(*arguments)
        else:
            self._loop.call_soon_threadsafe(call, *arguments)

    def _start(self) -> None:
        while len(self._workers) < self._processes and self._start_worker():
            pass
        self._watch()

    def _start_worker(self) -> bool:
        try:
            process = self._started.popleft() if self._started else start_process()
        except OSError as error:
            if not self._workers and self._waiting:
                _fail(self._waiting.popleft(), f"no page-reading process can be started: {error}")
            return False
        worker = WorkerProcess(
            process, self._loop, self._options, self._memory, self._answered, self._ended
        )
        self._workers.append(worker)
        return True

    def _watch(self) -> None:
        for worker in list(self._workers):
            worker.end_if_overdue(self._timeout)
        self._dying = [process for process in self._dying if process.poll() is None]
        if not self._closed:
            self._watcher = self._loop.call_later(WATCH_INTERVAL, self._watch)

    def _submit(self, job: Job) -> None:
        if self._closed:
            _fail(job, ENDED)
            return
        size = sum(len(waiting.body) for waiting in self._waiting)
        if len(self._waiting) >= MOST_WAITING or size >= MOST_WAITING_BYTES:
            _fail(job, f"{len(self._waiting)} pages wait to be read already")
            return
        self._waiting.append(job)
        self._hand_out()

    def _hand_out(self) -> None:
        while self._waiting and not self._closed:
            if len(self._workers) < self._processes:
                self._start_worker()
            if not self._workers:
                continue  # `_start_worker` has failed, and with it the page that waited longest
            job = self._waiting[0]
            free = [worker for worker in self._workers if worker.has_room_for(job)]
            if not free:
                return
            self._waiting.popleft()
            if _is_wanted(job):
                min(free, key=lambda worker: worker.load).read(job)

    def _answered(self, job: Job, answer: object) -> None:
        if isinstance(answer, str):
            _fail(job, answer)
        else:
            job.future.set_result(answer)
        self._hand_out()

    def _ended(self, worker: WorkerProcess, reason: str | None) -> None:
        """Replace a process. Its pages, except the one at fault, go back to the front."""
        self._workers.remove(worker)
        self._dying.append(worker.process)
        if reason is not None and worker.jobs:
            _fail(worker.jobs.popleft(), reason)
        self._waiting.extendleft(reversed(worker.jobs))
        if worker.ready and not self._closed:
            self._start_worker()
        self._hand_out()

    def _stop(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._watcher.cancel()
        for worker in self._workers:
            worker.close()
            self._waiting.extendleft(reversed(worker.jobs))
            self._dying.append(worker.process)
        self._workers.clear()
        for process in self._started:
            end_process(process)
            self._dying.append(process)
        while self._waiting:
            _fail(self._waiting.popleft(), ENDED)
        for process in self._dying:
            process.wait()


def _is_wanted(job: Job) -> bool:
    return job.future.running() or job.future.set_running_or_notify_cancel()


def _fail(job: Job, reason: str) -> None:
    if _is_wanted(job):
        job.future.set_exception(ReadError(reason))

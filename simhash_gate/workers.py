"""Page-reading processes: one thread per process hands it a page and waits, off the event loop."""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
import time
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import NamedTuple

from simhash_gate.pipeline import Options, Page, read_page
from simhash_gate.worker import read_frame, write_frame

START_TIMEOUT = 60.0
# Not -m, nor the folder that -c puts first: a random.py of the project's would hide Python's own.
_COMMAND = "import sys; del sys.path[0]; from simhash_gate.worker import main; main()"
WATCH_INTERVAL = 0.1


class ReadError(Exception):
    """A page could not be read; the message says why."""


class Job(NamedTuple):
    """A page to read, and the promise of the result."""

    body: bytes
    url: str
    encoding: str | None
    future: Future[Page]


class InlineReader:
    """Reads pages in the calling thread, without a time limit."""

    def __init__(self, options: Options) -> None:
        self.options = options

    def read(self, body: bytes, url: str, encoding: str | None) -> Future[Page]:
        """Return the page as a future that is done."""
        future: Future[Page] = Future()
        try:
            future.set_result(read_page(body, url=url, encoding=encoding, options=self.options))
        except Exception as error:
            future.set_exception(ReadError(f"{type(error).__name__}: {error}"))
        return future

    def close(self) -> None:
        """Do nothing: there is nothing to let go of."""


class WorkerPool:
    """Reads pages in processes of its own; how many wait is the caller's affair.

    A process that dies or overruns `timeout` seconds is replaced; only its page fails.
    """

    def __init__(self, options: Options, processes: int, timeout: float) -> None:
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._workers = [_Worker(options, timeout) for _ in range(processes)]
        self._closed = Event()
        for worker in self._workers:
            Thread(target=worker.serve, args=(self._jobs,), daemon=True).start()
        Thread(target=self._watch, daemon=True).start()

    def read(self, body: bytes, url: str, encoding: str | None) -> Future[Page]:
        """Return the page as a future; it raises `ReadError` for a page that could not be read."""
        future: Future[Page] = Future()
        self._jobs.put(Job(body, url, encoding, future))
        return future

    def close(self) -> None:
        """End all processes; pages that still wait stay unread."""
        self._closed.set()
        for worker in self._workers:
            self._jobs.put(None)
            worker.close()

    @property
    def pids(self) -> list[int]:
        """The process ids of the processes that run now."""
        return [worker.process.pid for worker in self._workers if worker.process]

    def _watch(self) -> None:
        while not self._closed.wait(WATCH_INTERVAL):
            for worker in self._workers:
                worker.kill_if_overdue()


class _Worker:
    def __init__(self, options: Options, timeout: float) -> None:
        self._options = options
        self._timeout = timeout
        self._deadline: float | None = None
        self._watched = Lock()
        self._overdue = False
        self._closed = False
        self.process: subprocess.Popen[bytes] | None = None

    def serve(self, jobs: SimpleQueue[Job | None]) -> None:
        """Read the pages of the queue until it gives None."""
        with contextlib.suppress(OSError, ReadError):  # the first page tries again, and tells why
            self._start()
        while (job := jobs.get()) is not None:
            if not job.future.set_running_or_notify_cancel():
                continue
            try:
                job.future.set_result(self._read(job))
            except ReadError as error:
                job.future.set_exception(error)
            except Exception as error:
                self._discard()
                job.future.set_exception(error)
        self._discard()

    def close(self) -> None:
        """End the process for good."""
        self._closed = True
        self._kill()

    def _kill(self) -> None:
        process = self.process
        if process is not None:
            process.kill()

    def kill_if_overdue(self) -> None:
        """End the process if its time for the page is over."""
        with self._watched:
            if self._deadline is not None and time.monotonic() > self._deadline:
                self._overdue = True
                self._kill()

    def _start(self) -> subprocess.Popen[bytes]:
        # A session of its own: Ctrl-C is for the crawl, which ends its workers itself.
        self.process = process = subprocess.Popen(
            [sys.executable, "-c", _COMMAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path or "." for path in sys.path)},
            start_new_session=True,
        )
        if self._closed:
            process.kill()
        self._exchange(process, START_TIMEOUT, pickle.dumps(self._options))
        return process

    def _read(self, job: Job) -> Page:
        process = self.process
        if process is None or process.poll() is not None:
            self._discard()
            process = self._start()
        question = pickle.dumps((job.url, job.encoding))
        answer = self._exchange(process, self._timeout, question, job.body)
        if not isinstance(answer, Page):
            raise ReadError(str(answer))
        return answer

    def _exchange(self, process: subprocess.Popen[bytes], timeout: float, *frames: bytes) -> object:
        assert process.stdin is not None
        assert process.stdout is not None
        self._overdue = False
        self._deadline = time.monotonic() + timeout
        try:
            write_frame(process.stdin, *frames)
            answer: object = pickle.loads(read_frame(process.stdout))
            return answer
        except (EOFError, OSError, ValueError) as error:
            overdue, status = self._overdue, self._discard()
            raise ReadError(
                f"reading took longer than {timeout:g} s"
                if overdue
                else f"the page-reading process ended with status {status}"
            ) from error
        finally:
            with self._watched:
                self._deadline = None

    def _discard(self) -> int | None:
        process, self.process = self.process, None
        if process is None:
            return None
        process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        return process.wait()

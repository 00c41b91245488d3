"""The parent's end of a page-reading process: it sends pages and gets results without blocking.

Messages go out as one pickle after the other, with the body of a page behind its own: so no body
is copied. Answers have their `LENGTH` in front.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import struct
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, NamedTuple

from simhash_gate.options import Options
from simhash_gate.workers import READER

Function = Callable[[bytes, str, str | None, Options], Any]
"""Gets a body, its URL, its encoding and the options of pages."""

START_TIMEOUT = 60.0
AHEAD = 2
"""Pages that a process has: one that is read, and one that waits. So no time passes between them.
"""
AHEAD_BYTES = 1024 * 1024
"""A page waits outside if it would give the process more bytes than this."""

# Not -m, nor the "" that -c puts first: a random.py of the project's would hide Python's own.
_COMMAND = (
    "import sys; sys.path[:] = filter(None, sys.path); "
    "from simhash_gate.workers.main import main; main()"
)
_PIPE_BYTES = 1024 * 1024  # the most that Linux allows users: most pages need one call
_CHUNK = 64 * 1024
LENGTH = struct.Struct(">Q")


class Job(NamedTuple):
    """A page, the function that reads it, and the future of its result."""

    body: bytes
    url: str
    encoding: str | None
    function: Function
    future: Future[Any]
    again: bool = False
    """Whether an earlier process of this page ended before it read any of it."""


def start_process() -> subprocess.Popen[bytes]:
    """Start a page-reading process. Raises OSError if the system has no room for one.

    It loads its modules by itself, and ends when its stdin ends.
    """
    # Python ignores entries that are not strings, such as a `Path` that a project adds.
    path = os.pathsep.join(folder or "." for folder in sys.path if isinstance(folder, str))
    # Nothing here needs numpy's threads, one a core, which use time while they wait.
    environment = {"OPENBLAS_NUM_THREADS": "1", **os.environ, "PYTHONPATH": path, READER: "1"}
    # The process has a session of its own: Ctrl-C is for the crawl, which ends its workers itself.
    return subprocess.Popen(
        [sys.executable, "-c", _COMMAND],
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        start_new_session=True,
    )


def end_process(process: subprocess.Popen[bytes]) -> None:
    """Kill a process, and close its pipes."""
    process.kill()
    for pipe in (process.stdin, process.stdout):
        assert pipe is not None
        pipe.close()


class WorkerProcess:
    """One process with its pages, on an asyncio event loop. It is not thread-safe.

    It calls `answered(job, answer)` for each page that was read, and `ended(process, reason)` once
    when the process has ended. Pages that were not read are still among its `jobs` then. With a
    reason, the first of them is at fault. The reason None means that none is: the process ended by
    itself, or before it began with them.
    """

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        loop: asyncio.AbstractEventLoop,
        options: Options,
        memory: int,
        answered: Callable[[Job, object], None],
        ended: Callable[[WorkerProcess, str | None], None],
    ) -> None:
        """Take over a process that was started."""
        self.jobs: deque[Job] = deque()
        self.ready = False
        self._closed = False
        self._loop = loop
        self._answered = answered
        self._ended = ended
        self._since = loop.time()
        self._unsent: list[memoryview] = []
        self._received = bytearray()
        self.process = process
        assert process.stdin is not None
        assert process.stdout is not None
        self._stdin, self._stdout = process.stdin.fileno(), process.stdout.fileno()
        import fcntl  # Windows has none, and no process either

        if hasattr(fcntl, "F_SETPIPE_SZ"):
            with contextlib.suppress(OSError):  # the pipes of this user have reached a limit
                fcntl.fcntl(self._stdin, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        os.set_blocking(self._stdin, False)
        os.set_blocking(self._stdout, False)
        loop.add_reader(self._stdout, self._receive)
        self._send((options, memory))

    def has_room_for(self, job: Job) -> bool:
        """Tell whether the process can take another page now."""
        if not self.jobs:
            return True
        size = len(job.body) + sum(len(waiting.body) for waiting in self.jobs)
        return len(self.jobs) < AHEAD and size <= AHEAD_BYTES

    @property
    def load(self) -> int:
        """The number of pages before the next one. A process that still starts counts as full."""
        return len(self.jobs) + (0 if self.ready else AHEAD)

    def read(self, job: Job) -> None:
        """Send a page to the process."""
        if not self.jobs and self.ready:
            self._since = self._loop.time()
        self.jobs.append(job)
        self._send((job.function, len(job.body), job.url, job.encoding), job.body)

    def end_if_overdue(self, timeout: float) -> None:
        """Kill the process if the time for its page, or for its start, is over."""
        allowed = timeout if self.ready else START_TIMEOUT
        if (self.jobs or not self.ready) and self._loop.time() - self._since > allowed:
            self._receive()  # an answer that came while the event loop was busy is in time
            if self._loop.time() - self._since > allowed:
                self._end(f"reading took longer than {allowed:g} s")

    def close(self) -> None:
        """Kill the process without calling `ended`."""
        if self._closed:
            return
        self._closed = True
        self._loop.remove_reader(self._stdout)
        self._loop.remove_writer(self._stdin)
        end_process(self.process)

    def _end(self, reason: str | None) -> None:
        if not self._closed:
            self.close()
            self._ended(self, reason)

    def _send(self, message: object, body: bytes = b"") -> None:
        head = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        self._unsent += [memoryview(part) for part in (head, body) if part]
        self._write()

    def _write(self) -> None:
        while self._unsent:
            try:
                written = os.writev(self._stdin, self._unsent)
            except BlockingIOError:
                self._loop.add_writer(self._stdin, self._write)
                return
            except OSError:  # the process has ended: reading its answers will show that
                break
            while self._unsent and written >= len(self._unsent[0]):
                written -= len(self._unsent.pop(0))
            if written:
                self._unsent[0] = self._unsent[0][written:]
        self._loop.remove_writer(self._stdin)

    def _receive(self) -> None:
        try:
            received = os.read(self._stdout, _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            received = b""
        if not received:
            # The files of a process close after its memory is freed: `wait` returns at once.
            self.process.kill()
            reason = f"the page-reading process ended with status {self.process.wait()}"
            self._end(None if self._excuses_its_first() else reason)
            return
        self._since = self._loop.time()
        self._received += received
        while len(self._received) >= LENGTH.size:
            end = LENGTH.size + LENGTH.unpack_from(self._received)[0]
            if len(self._received) < end:
                return
            answer = pickle.loads(self._received[LENGTH.size : end])
            del self._received[:end]
            if answer is not None:
                self._answered(self.jobs.popleft(), answer)
            elif self.ready:  # it has grown too large, and this was its last answer
                self._end(None)
                return
            self.ready = True

    def _excuses_its_first(self) -> bool:
        """Tell whether the first page is not at fault: the process had read nothing of it.

        A page is excused once. Else a page that kills each process would be tried for ever.
        """
        if not (self.ready and self.jobs) or self.jobs[0].again:
            return False
        import fcntl
        import termios

        (unread,) = struct.unpack("i", fcntl.ioctl(self._stdin, termios.FIONREAD, bytes(4)))
        if unread + sum(map(len, self._unsent)) <= sum(len(job.body) for job in self.jobs):
            return False
        self.jobs[0] = self.jobs[0]._replace(again=True)
        return True

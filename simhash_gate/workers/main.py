"""A page-reading process: options and pages come in on stdin, results go out on stdout.

The parent sends the options and the memory limit. Then it sends for each page the function that
reads it, the size of its body, its URL and its encoding, and the body behind these, without waiting
for answers. The process answers the options with None. It answers each page, in order, with the
result of the function, or with the reason as a string if reading failed. A process that has grown
too large answers None once more, and ends without reading the other pages.

It ends when stdin ends, even in the middle of a page: so it never outlives its parent.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import resource
import sys
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import IO, Any

from simhash_gate.pipeline import read_page
from simhash_gate.workers.process import LENGTH

GARBAGE = 50_000  # objects between collections: a page makes some ten thousand
_STATM = Path("/proc/self/statm")


def _receive(received: SimpleQueue[Any]) -> None:
    stdin = sys.stdin.buffer
    try:
        received.put(pickle.load(stdin))
        while True:
            function, size, *rest = pickle.load(stdin)
            received.put((function, stdin.read(size), *rest))
    except (EOFError, OSError, pickle.UnpicklingError):  # the last message may be cut off
        os._exit(0)
    except Exception:  # for example, a function that can't be imported here
        sys.excepthook(*sys.exc_info())
        os._exit(1)


def _answer(stream: IO[bytes], answer: object) -> None:
    payload = pickle.dumps(answer, pickle.HIGHEST_PROTOCOL)
    try:
        stream.writelines((LENGTH.pack(len(payload)), payload))
        stream.flush()
    except BrokenPipeError:  # the parent is gone: the other thread may see that later
        os._exit(0)


def main() -> None:
    """Read pages until stdin ends or the process has grown too large."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # prints of libraries go to stderr, and not among the answers
    received: SimpleQueue[Any] = SimpleQueue()
    Thread(target=_receive, args=(received,), daemon=True).start()
    options, memory = received.get()
    with contextlib.suppress(Exception):  # each page reports it if something can't be loaded
        replace(options)  # loads the extractor and the tables before the first page
    read_page(b"<p>The first page is always slower.")
    gc.freeze()  # collections leave out the objects that are loaded now
    gc.set_threshold(GARBAGE)
    if memory and _STATM.exists():  # it may grow by so much
        limit = int(_STATM.read_text().split()[0]) * resource.getpagesize() + memory
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        limits = [value for value in (limit, soft, hard) if value != resource.RLIM_INFINITY]
        resource.setrlimit(resource.RLIMIT_AS, (min(limits), hard))
    least = _resident()
    _answer(answers, None)
    while not memory or _resident() - least <= memory // 2:
        function, *page = received.get()
        try:
            answer = function(*page, options)
        except Exception as error:  # an extractor of the user's may do anything
            answer = f"{type(error).__name__}: {error}"
        _answer(answers, answer)
    _answer(answers, None)
    os._exit(0)  # the other thread holds on to stdin


def _resident() -> int:
    """Return the bytes of memory that this process holds, or the most that it ever held."""
    try:
        return int(_STATM.read_text().split()[1]) * resource.getpagesize()
    except OSError:
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit

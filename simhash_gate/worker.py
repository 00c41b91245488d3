"""A page-reading process: page options and pages come in on stdin, read pages go out on stdout.

Every message is a frame: its length as 8 bytes, big-endian, and a pickle or, for page bodies, the
bytes themselves. The parent sends the options, then for each page its URL and encoding, and its
body. The process answers the options with None, and each page with a `Page` or, where reading
failed, with the reason as a string. It ends when stdin does, in the middle of a page too, so that
it never outlives its parent.
"""

from __future__ import annotations

import os
import pickle
import struct
import sys
from dataclasses import replace
from queue import SimpleQueue
from threading import Thread
from typing import IO

from simhash_gate.pipeline import Options, Page, read_page

LENGTH = struct.Struct(">Q")


def write_frame(stream: IO[bytes], *payloads: bytes) -> None:
    """Write the payloads, each as a frame, and flush."""
    for payload in payloads:
        stream.write(LENGTH.pack(len(payload)))
        stream.write(payload)
    stream.flush()


def read_frame(stream: IO[bytes]) -> bytes:
    """Return the next frame's payload. Raises `EOFError` when the stream ends before it does."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        raise EOFError
    length = LENGTH.unpack(head)[0]
    payload = stream.read(length)
    if len(payload) < length:
        raise EOFError
    return payload


def _receive(stream: IO[bytes], frames: SimpleQueue[bytes]) -> None:
    try:
        while True:
            frames.put(read_frame(stream))
    except (EOFError, OSError):
        os._exit(0)


def main() -> None:
    """Read pages until stdin ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not end up among the answers
    frames: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_receive, args=(sys.stdin.buffer, frames), daemon=True).start()
    # Markdown is rendered here, and never in the process that has asked for the page.
    options: Options = replace(pickle.loads(frames.get()), markdown=True)
    write_frame(answers, pickle.dumps(None))
    while True:
        url, encoding = pickle.loads(frames.get())
        answer: Page | str
        try:
            answer = read_page(frames.get(), url=url, encoding=encoding, options=options)
        except Exception as error:  # an extractor of the user's may do anything
            answer = f"{type(error).__name__}: {error}"
        write_frame(answers, pickle.dumps(answer, pickle.HIGHEST_PROTOCOL))

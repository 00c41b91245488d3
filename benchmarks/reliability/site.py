"""The server of a round: it says what the plan wants, and remembers to whom it said what."""

from __future__ import annotations

import asyncio
import re
import socket
import struct
import time
from asyncio import StreamReader, StreamWriter
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from benchmarks.reliability.scenes import Content, Site, listing
from benchmarks.servers import in_thread

CLEAN = "clean"
"""The crawl that gets everything as it is."""
SLOW = 1.5


class Served(NamedTuple):
    """An answer: `content` is the key of what it says in full, "" if it says nothing in full."""

    crawl: str
    path: str
    content: str
    at: float


class Server:
    """Serves a site on loopback. Crawls tell who they are by their user agent."""

    def __init__(self, site: Site, contents: dict[str, Content]) -> None:
        self.site = site
        self.contents = contents
        self.served: list[Served] = []
        self.answered: Counter[str] = Counter()
        self.url = ""
        self._hits: Counter[tuple[str, str]] = Counter()

    @contextmanager
    def running(self) -> Iterator[Server]:
        """Serve until the block ends."""
        with in_thread(lambda: asyncio.start_server(self._connected, "127.0.0.1", 0)) as port:
            self.url = f"http://127.0.0.1:{port}"
            yield self

    async def _connected(self, reader: StreamReader, writer: StreamWriter) -> None:
        gone = (OSError, asyncio.IncompleteReadError, asyncio.CancelledError)
        with suppress(*gone):  # crawls are killed
            while not writer.is_closing():
                request = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                agent = re.search(r"^User-Agent: (.*)\r$", request, re.MULTILINE)
                await self._answer(agent[1] if agent else "", request.split(" ", 2)[1], writer)
        writer.close()

    async def _answer(self, crawl: str, path: str, writer: StreamWriter) -> None:
        kind, site = self._kind(crawl, path), self.site
        content, status, location, body = "", "200 OK", "", b"not here"
        mine = site.pages.get(path, "")
        # A redirect leads to the first path with the same content.
        twin = next((other for other, key in site.pages.items() if key == mine), path)
        if path in site.listings:
            body = listing(path, site.listings[path])
        elif not mine or kind == "gone":
            status = "404 Not Found"
        elif kind == "503":
            status = "503 Service Unavailable"
        elif kind == "redirect" and twin != path:
            status, location = "302 Found", f"Location: {twin}\r\n"
        else:
            other = {"over": "over", "other": next(iter(site.pages.values()))}
            content = other.get(kind, mine)
            body = self.contents[content].page(path)
        await asyncio.sleep(SLOW if kind == "slow" else site.delay)
        # Before it is sent: the crawl may act on it at once.
        self.served.append(Served(crawl, path, "" if kind == "cut" else content, time.time()))
        self.answered[crawl] += 1
        head = f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\n{location}"
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode())
        writer.write(body[: len(body) // 2] if kind == "cut" else body)
        if kind == "cut":  # an end that is no end: the connection is reset
            linger = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            await writer.drain()
            writer.write_eof()  # so that its first half arrives
            writer.transport.abort()
        else:
            await writer.drain()

    def _kind(self, crawl: str, path: str) -> str:
        """Return what is to be served now, and count the request."""
        asked = self._hits[crawl, path]
        self._hits[crawl, path] += 1
        answers = self.site.answers.get(path, [])
        return "ok" if crawl == CLEAN or not answers else answers[min(asked, len(answers) - 1)]

"""The server of a round: it says what the plan wants, and remembers to whom it said what."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from benchmarks.reliability.scenes import Site
from benchmarks.reliability.truth import Content, listing

CLEAN = "clean"
"""The crawl that gets everything as it is."""
SLOW = 1.5


@dataclass(frozen=True)
class Served:
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
        self.url = ""
        self._hits: Counter[tuple[str, str]] = Counter()
        self._answers: Counter[str] = Counter()
        self._lock = threading.Lock()

    def answered(self, crawl: str) -> int:
        """Return how often a crawl was answered."""
        return self._answers[crawl]

    @contextlib.contextmanager
    def running(self) -> Iterator[Server]:
        """Serve until the block ends."""
        outer = self

        class Handler(_Handler):
            server_of = outer

        with _Quiet(("127.0.0.1", 0), Handler) as server:
            self.url = f"http://127.0.0.1:{server.server_address[1]}"
            thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
            thread.start()
            try:
                yield self
            finally:
                server.shutdown()

    def kind(self, crawl: str, path: str) -> str:
        """Return what is to be served now, and count the request."""
        with self._lock:
            time_asked = self._hits[crawl, path]
            self._hits[crawl, path] += 1
        answers = self.site.answers.get(path, [])
        if crawl == CLEAN or not answers:
            return "ok"
        return answers[min(time_asked, len(answers) - 1)]

    def says(self, path: str) -> str:
        """Return the key of the content of a path; "" if it has none."""
        return self.site.pages.get(path, "")

    def twin(self, path: str) -> str:
        """Return the first path with the same content: where a redirect leads."""
        mine = self.says(path)
        return next(other for other, key in self.site.pages.items() if key == mine)

    def note(self, crawl: str, path: str, content: str) -> None:
        """Remember an answer."""
        with self._lock:
            self.served.append(Served(crawl, path, content, time.time()))
            self._answers[crawl] += 1


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address) -> None:
        """Say nothing: crawls are killed."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body in one packet: else a body may wait 40 ms
    server_of: Server

    def do_GET(self) -> None:
        server, path = self.server_of, self.path
        crawl = self.headers.get("User-Agent", "")
        kind = server.kind(crawl, path)
        content, status, headers = "", 200, {}
        body = b"not here"
        if path in server.site.listings:
            body = listing(path, server.site.listings[path])
        elif not server.says(path):
            status = 404
        elif kind in ("over", "other"):
            content = "over" if kind == "over" else next(iter(server.site.pages.values()))
            body = server.contents[content].page(path)
        elif kind == "redirect" and server.twin(path) != path:
            status, headers = 302, {"Location": server.twin(path)}
        elif kind in ("503", "gone"):
            status = 503 if kind == "503" else 404
        else:
            content = server.says(path)
            body = server.contents[content].page(path)
        time.sleep(SLOW if kind == "slow" else server.site.delay)
        if kind == "cut":
            content = ""
        # Before it is sent: the crawl may act on it at once.
        server.note(crawl, path, content if status == 200 else "")
        with contextlib.suppress(OSError):
            self._send(status, headers, body, cut=kind == "cut")

    def _send(self, status: int, headers: dict[str, str], body: bytes, *, cut: bool) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if cut else body)
        if cut:
            self.wfile.flush()
            # An end that is no end: the connection is reset.
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.close_connection = True

    def log_message(self, *args: object) -> None:
        pass

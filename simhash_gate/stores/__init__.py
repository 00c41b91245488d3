"""Memories of kept pages: one `Store`, over drivers for memory, files and servers."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from simhash_gate.stores.base import Answer as Answer
from simhash_gate.stores.base import Blob as Blob
from simhash_gate.stores.base import Match as Match
from simhash_gate.stores.base import Record as Record
from simhash_gate.stores.base import StoreError as StoreError
from simhash_gate.stores.base import StoreMissing as StoreMissing
from simhash_gate.stores.base import StoreUnavailable as StoreUnavailable
from simhash_gate.stores.base import Window as Window
from simhash_gate.stores.base import refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from simhash_gate.stores.driver import Driver
    from simhash_gate.stores.store import Store as Store

_REDIS = re.compile(r"rediss?(\+cluster|\+sentinel)?|unix")
_ALLOWED = (
    "memory:, sqlite:///relative/path, sqlite:////absolute/path, redis://host:port/database "
    "or postgresql://user:password@host/database"
)


def open_store(url: str, *, create: bool = True) -> Store:
    """Open the store that a URL names: `memory:`, `sqlite:///path`, `redis://host`, ...

    `docs/stores.md` has them all. Raises StoreError for any other URL, and for a store that can't
    be opened; without `create`, StoreMissing where a file or tables would have to be made for it.
    """
    return store_opener(url, create=create)()


def read_store(url: str) -> Store:
    """Open a store to read it: what a run keeps here is gone when the store is closed.

    Nothing is made where there is no store yet. Raises StoreError like `open_store`.
    """
    from simhash_gate.stores.sqlite import MemoryDriver
    from simhash_gate.stores.store import ReadStore

    try:
        return ReadStore(open_store(url, create=False), MemoryDriver())
    except StoreMissing:
        return open_store("memory:")


def store_opener(url: str, *, create: bool = True) -> Callable[[], Store]:
    """Return what opens the store that a URL names. Raises StoreError for a URL that names none."""
    try:
        open_driver = _driver_opener(url, create=create)
    except ImportError as error:
        of_postgresql = url.lower().startswith("postgresql")
        package, extra = ("psycopg", "postgres") if of_postgresql else ("redis-py", "redis")
        install = f"pip install 'simhash-gate[{extra}]'"
        raise refusal(url, f"it needs {package} ({error}): {install}") from error

    def open_it() -> Store:
        from simhash_gate.stores.store import Store  # with numpy, which settings need not load

        return Store(open_driver())

    return open_it


def _driver_opener(url: str, *, create: bool) -> Callable[[], Driver]:
    scheme, _, rest = url.partition(":")
    scheme = scheme.lower()
    if scheme == "memory":
        if rest not in ("", "//"):
            raise _misspelt(url, "a memory store takes no path")
        from simhash_gate.stores.sqlite import MemoryDriver

        return MemoryDriver
    if scheme == "sqlite":
        path = _path(url, rest)
        from simhash_gate.stores.sqlite import SQLiteDriver

        return partial(SQLiteDriver, path, create=create)
    if scheme == "postgresql":
        from simhash_gate.stores.postgres import PostgresDriver, read_url

        return partial(PostgresDriver, read_url(url), create=create)
    if _REDIS.fullmatch(scheme):
        from simhash_gate.stores.redis import RedisDriver, read_url

        return partial(RedisDriver, read_url(url))
    raise _misspelt(url, "there is no such store")


def _path(url: str, rest: str) -> str:
    path = rest.removeprefix("///")
    if rest in ("", "//", "///"):
        raise _misspelt(url, "it needs the path of a file")
    if path == rest:
        raise _misspelt(url, "a path follows three slashes, an absolute one four")
    if path == ":memory:":
        raise _misspelt(url, "it names no file; memory: keeps pages in memory")
    return path


def _misspelt(url: str, why: str) -> StoreError:
    return refusal(url, f"{why}; use {_ALLOWED}")

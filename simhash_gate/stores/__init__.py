"""Memories of kept pages: one `Store`, over drivers for memory, files and servers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from simhash_gate.stores.base import (
    Answer,
    Blob,
    Match,
    Record,
    StoreError,
    StoreMissing,
    StoreUnavailable,
    Window,
)
from simhash_gate.stores.urls import refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from simhash_gate.stores.driver import Driver
    from simhash_gate.stores.store import Store as Store

__all__ = [
    "Answer",
    "Blob",
    "Match",
    "Record",
    "StoreError",
    "StoreMissing",
    "StoreUnavailable",
    "Window",
    "open_store",
    "read_store",
    "store_opener",
]

_REDIS = (
    "redis",
    "rediss",
    "redis+cluster",
    "rediss+cluster",
    "redis+sentinel",
    "rediss+sentinel",
    "unix",
)
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
    from simhash_gate.stores.driver import LookingDriver
    from simhash_gate.stores.store import Store

    try:
        return Store(LookingDriver(open_store(url, create=False).driver))
    except StoreMissing:
        return open_store("memory:")


def store_opener(url: str, *, create: bool = True) -> Callable[[], Store]:
    """Return what opens the store that a URL names. Raises StoreError for a URL that names none."""
    scheme, _, rest = url.partition(":")
    opener_of = _OPENERS.get(scheme.lower())
    if opener_of is None:
        raise _misspelt(url, "there is no such store")
    open_driver = opener_of(url, rest, create)

    def open_it() -> Store:
        from simhash_gate.stores.store import Store  # with numpy, which settings need not load

        return Store(open_driver())

    return open_it


def _memory(url: str, rest: str, _create: bool) -> Callable[[], Driver]:
    if rest not in ("", "//"):
        raise _misspelt(url, "a memory store takes no path")
    from simhash_gate.stores.driver import MemoryDriver

    return MemoryDriver


def _sqlite(url: str, rest: str, create: bool) -> Callable[[], Driver]:
    path = rest.removeprefix("///")
    if rest in ("", "//", "///"):
        raise _misspelt(url, "it needs the path of a file")
    if path == rest:
        raise _misspelt(url, "a path follows three slashes, an absolute one four")
    if path == ":memory:":
        raise _misspelt(url, "it names no file; memory: keeps pages in memory")
    from simhash_gate.stores.sqlite import SQLiteDriver

    return partial(SQLiteDriver, path, create=create)


def _redis(url: str, _rest: str, _create: bool) -> Callable[[], Driver]:
    try:
        from simhash_gate.stores.redis import RedisDriver, read_address
    except ImportError as error:
        raise _missing(url, "redis-py", "redis", error) from error
    return partial(RedisDriver, read_address(url))


def _postgresql(url: str, _rest: str, create: bool) -> Callable[[], Driver]:
    try:
        from simhash_gate.stores.postgres import PostgresDriver, read_address
    except ImportError as error:
        raise _missing(url, "psycopg", "postgres", error) from error
    return partial(PostgresDriver, read_address(url), create=create)


_OPENERS: dict[str, Callable[[str, str, bool], Callable[[], Driver]]] = {
    "memory": _memory,
    "sqlite": _sqlite,
    **dict.fromkeys(_REDIS, _redis),
    "postgresql": _postgresql,
}


def _missing(url: str, package: str, extra: str, error: ImportError) -> StoreError:
    install = f"pip install 'simhash-gate[{extra}]'"
    return refusal(url, f"it needs {package} ({error}): {install}")


def _misspelt(url: str, why: str) -> StoreError:
    return refusal(url, f"{why}; use {_ALLOWED}")

"""Stores remember kept pages: one `Store`, over drivers for memory, files and servers."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from simhash_gate.common.wording import require
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
    from simhash_gate.stores.driver import Driver
    from simhash_gate.stores.store import Store as Store

_ALLOWED = (
    "memory:, sqlite:///relative/path, sqlite:////absolute/path, redis://host:port/database, "
    "postgresql://user:password@host/database or a driver of your own, my.module:Driver"
)
_REDIS = ("redis", "rediss", "unix")
_MODULES = {"memory": "sqlite", "sqlite": "sqlite", "postgresql": "postgres"} | {
    f"{scheme}{kind}": "redis" for scheme in _REDIS for kind in ("", "+cluster", "+sentinel")
}
_NEEDED = {"postgres": "psycopg", "redis": "redis-py"}
_OWN = re.compile(r"([\w.]+):([A-Za-z_]\w*)(?:://(.*))?")


def open_store(url: str, *, create: bool = True) -> Store:
    """Open the store that a URL names: `memory:`, `sqlite:///path`, `my.module:Driver`, ...

    `docs/stores.md` lists them all. Raises StoreError for any other URL, and for a store that can't
    be opened. Without `create`, raises StoreMissing if its file or its tables do not exist.
    """
    return store_opener(url, create=create)()


def read_store(url: str) -> Store:
    """Open a store to read it. Pages that a run adds are gone when the store is closed.

    If the store does not exist, it is not created. Raises StoreError like `open_store`.
    """
    from simhash_gate.stores.sqlite import MemoryDriver
    from simhash_gate.stores.store import ReadStore

    try:
        return ReadStore(open_store(url, create=False), MemoryDriver())
    except StoreMissing:
        return open_store("memory:")


def store_opener(url: str, *, create: bool = True) -> Callable[[], Store]:
    """Return a function that opens the store of a URL. Raises StoreError if the URL names none."""
    scheme, colon, _ = require(url, str, "the URL of a store").partition(":")
    name = _MODULES.get(scheme.lower() if colon else "")
    own = None if name else _OWN.fullmatch(url)
    if not name and not own:
        raise refusal(url, f"there is no such store; use {_ALLOWED}")
    open_driver: Callable[[], Driver]
    try:
        module = import_module(own[1] if own else f"simhash_gate.stores.{name}")
        if own:
            open_driver = partial(getattr(module, own[2]), own[3] or "", create=create)
        else:
            open_driver = module.driver_opener(url, create=create)
    except (AttributeError, ImportError, ValueError) as error:
        problem = f"{error}; use {_ALLOWED}"
        if name and isinstance(error, ImportError):
            problem = f"it needs {_NEEDED[name]} ({error}): pip install 'simhash-gate[{name}]'"
        raise refusal(url, problem) from None

    def open_with_driver() -> Store:
        from simhash_gate.stores.store import Store  # loads numpy, which settings do not need

        driver = open_driver()
        if not isinstance(driver, import_module("simhash_gate.stores.driver").Driver):
            raise refusal(url, "its driver lacks methods of simhash_gate.stores.driver.Driver")
        return Store(driver)

    return open_with_driver

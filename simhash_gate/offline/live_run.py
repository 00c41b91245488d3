"""A run of a command in a store: begun, kept alive, ended when all went well."""

from __future__ import annotations

import uuid
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import TYPE_CHECKING

from simhash_gate.stores import StoreError, open_store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simhash_gate.stores import Store

RENEW_INTERVAL = 20.0  # seconds


@contextmanager
def live_run(url: str) -> Iterator[tuple[Store, str]]:
    """Open a store for one run; yield both.

    The run has ended normally when the block has: after an error its pages don't count.
    """
    store, run = open_store(url), uuid.uuid4().hex
    closing = Event()

    def keep_alive() -> None:
        while not closing.wait(RENEW_INTERVAL):
            with suppress(StoreError):  # the next page tells
                store.renew(run)

    try:
        store.begin(run)
        Thread(target=keep_alive, daemon=True).start()
        yield store, run
        store.end(run)
    finally:
        closing.set()
        store.close()

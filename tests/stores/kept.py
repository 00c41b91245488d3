"""Short names for what the suites of this room keep and ask."""

from simhash_gate.stores.base import HISTORY, KEPT_TEXT, SITE_MEMORY, Blob
from simhash_gate.stores.histories import PageHistory, history_in
from simhash_gate.stores.sqlite import SQLiteDriver
from simhash_gate.stores.store import Store

__all__ = ["PageHistory"]


def sqlite_store(path, **options):
    return Store(SQLiteDriver(path, **options))


def keep(store, kind, scope, data, key="", at=0.0, budget=None):
    store.put(Blob(kind, scope, key, data, at), budget=budget)


def kept(store, kind, scope=None):
    """Return scopes and data."""
    return {blob.scope: blob.data for blob in store.blobs(kind, scope)}


def keep_text(store, scope, digest, data, at, budget):
    keep(store, KEPT_TEXT, scope, data, f"{digest:016x}", at, budget)


def text(store, scope, digest):
    return store.get(KEPT_TEXT, scope, f"{digest:016x}")


def texts(store, scope=None):
    """Return scope, digest, time and size of each."""
    found = store.blobs(KEPT_TEXT, scope, data=False)
    return [(blob.scope, int(blob.key, 16), blob.at, blob.size) for blob in found]


def keep_site_memory(store, scope, data):
    keep(store, SITE_MEMORY, scope, data)


def site_memories(store):
    return kept(store, SITE_MEMORY)


def keep_history(store, history):
    store.put(history.blob)


def history_of(store, scope, key, run):
    return history_in(store.get(HISTORY, scope, key, run=run))


def histories(store, scope=None):
    return map(PageHistory.of, store.blobs(HISTORY, scope))


def forget_history(store, scope, key, run=""):
    store.put(Blob(HISTORY, scope, key, b"", run=run))


def by_scope(records):
    """Return records in the order of their scopes; those of a scope stay as they are."""
    return sorted(records, key=lambda record: record.scope)

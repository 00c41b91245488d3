"""Kept pages in a SQLite file that several crawlers of one machine share."""

from simhash_gate.stores.sqlite.store import SQLiteStore

__all__ = ["SQLiteStore"]

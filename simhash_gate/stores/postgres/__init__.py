"""Kept pages in a PostgreSQL database that crawlers of many machines share."""

from simhash_gate.stores.postgres.store import PostgresStore

__all__ = ["PostgresStore"]

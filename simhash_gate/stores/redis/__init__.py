"""Kept pages in Redis or Valkey, for crawlers on as many machines as there are."""

from simhash_gate.stores.redis.store import RedisStore

__all__ = ["RedisStore"]

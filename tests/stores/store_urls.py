"""The stores that suites run over, as parameters, and the fixtures of the servers they need."""

from functools import partial
from hashlib import sha256
from typing import Any

import pytest

from tests.stores.postgres_server import Pooled, postgresql_server, running  # noqa: F401
from tests.stores.redis_server import (
    DURABLE,
    RedisCluster,
    RedisSentinel,
    RedisServer,
    SecuredRedis,
    Valkey,
)

STORES = [
    pytest.param("memory:", id="memory"),
    pytest.param("sqlite:///{folder}/kept pages/store.sqlite", id="sqlite"),
    pytest.param("{redis}?prefix={name}:", id="redis", marks=pytest.mark.slow),
    pytest.param("{postgresql}&schema={name}", id="postgresql", marks=pytest.mark.slow),
]
SERVERS = ["redis", "postgresql"]
LASTING = STORES[1:]  # those that outlive their process
REAL_SERVERS: dict[str, Any] = {
    "redis": RedisServer,
    "redis-cluster": RedisCluster,
    "redis-tls-acl": SecuredRedis,
    "redis-sentinel": RedisSentinel,
    "valkey": Valkey,
    "postgresql-serializable": partial(running, default_transaction_isolation="serializable"),
    "pgbouncer-session": partial(running, Pooled, mode="session"),
}
"""What users have: how each is made, with the options of Redis or a context of its own."""


def url_maker(request, form):
    """Return what makes the URL of a new store of a form, given a folder that is new too."""
    servers = {
        name: request.getfixturevalue(f"{name}_server").url
        for name in SERVERS
        if f"{{{name}}}" in form
    }

    def make(folder):
        name = sha256(str(folder).encode()).hexdigest()[:32]
        return form.format(folder=folder, name=name, **servers)

    return make


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory):
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    yield server
    server.kill()


@pytest.fixture
def own_redis(tmp_path):
    """A Redis server that the test may treat as it likes."""
    started = RedisServer(tmp_path / "redis", **DURABLE)
    yield started
    started.kill()


@pytest.fixture(params=REAL_SERVERS)
def real_server(request, tmp_path):
    """A server with what its `stop` and `start` leave of a store."""
    make = REAL_SERVERS[request.param]
    if isinstance(make, partial):
        with make() as server:
            yield server
    else:
        server = make(tmp_path / "server", **DURABLE)
        yield server
        server.kill()


@pytest.fixture(params=LASTING)
def lasting_url(request, tmp_path):
    return url_maker(request, request.param)(tmp_path)

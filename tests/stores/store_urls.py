"""The stores that suites run over, as parameters, and the fixtures of the servers they need."""

from __future__ import annotations

from hashlib import sha256

import pytest

from tests.stores.postgres_server import postgresql_server  # noqa: F401 - a fixture
from tests.stores.redis_server import RedisServer

STORES = [
    pytest.param("memory:", id="memory"),
    pytest.param("sqlite:///{folder}/kept pages/store.sqlite", id="sqlite"),
    pytest.param("{redis}?prefix={name}:", id="redis", marks=pytest.mark.slow),
    pytest.param("{postgresql}&schema={name}", id="postgresql", marks=pytest.mark.slow),
]
SERVERS = ["redis", "postgresql"]
LASTING = STORES[1:]  # those that outlive their process


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
    started = RedisServer(tmp_path / "redis", appendonly="yes", appendfsync="always")
    yield started
    started.kill()


@pytest.fixture(params=LASTING)
def lasting_url(request, tmp_path):
    return url_maker(request, request.param)(tmp_path)

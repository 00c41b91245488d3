"""One table of stores drives every suite in this room."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest
from postgres_server import postgresql_server  # noqa: F401 - a fixture
from redis_server import RedisCluster, RedisServer

from simhash_gate.stores import Record, open_store

STORES = [
    pytest.param("memory:", id="memory"),
    pytest.param("sqlite:///{folder}/kept pages/store.sqlite", id="sqlite"),
    pytest.param("{redis}?prefix={name}:", id="redis"),
    pytest.param("{postgresql}&schema={name}", id="postgresql"),
]
# The same scripts as on one server: only the ways to them differ.
CLUSTER = pytest.param("{redis_cluster}?prefix={name}:", id="redis-cluster")
SERVERS = ["redis", "redis_cluster", "postgresql"]
LASTING = STORES[1:]  # those that outlive their process
CRAWLER = Path(__file__).with_name("crawler_process.py")
ROOT = Path(__file__).parents[2]


def url_maker(request):
    """Return what makes the URL of a new store, given a folder that is new too."""
    servers = {
        name: request.getfixturevalue(f"{name}_server").url
        for name in SERVERS
        if f"{{{name}}}" in request.param
    }

    def make(folder):
        name = sha256(str(folder).encode()).hexdigest()[:32]
        return request.param.format(folder=folder, name=name, **servers)

    return make


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory):
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    yield server
    server.kill()


@pytest.fixture(scope="session")
def redis_cluster_server(tmp_path_factory):
    cluster = RedisCluster(tmp_path_factory.mktemp("redis_cluster"))
    yield cluster
    cluster.kill()


@pytest.fixture(params=STORES)
def new_url(request):
    return url_maker(request)


@pytest.fixture(params=[*STORES, CLUSTER])
def url(request, tmp_path):
    return url_maker(request)(tmp_path)


@pytest.fixture(params=LASTING)
def lasting_url(request, tmp_path):
    return url_maker(request)(tmp_path)


@pytest.fixture
def store(url):
    with closing(open_store(url)) as store:
        store.begin("run")
        yield store


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.sqlite"


@pytest.fixture
def make_record():
    """Make records that differ in what is named; times count up by themselves."""
    clock = iter(range(1, 10**9))

    def make(fingerprint, **named):
        now = float(next(clock))
        fields = {
            "scope": "example.com",
            "url": f"https://example.com/{fingerprint:x}",
            "request": f"{int(now):040x}",
            "fingerprint": fingerprint,
            "digest": fingerprint,
            "words": 100,
            "title": "Title",
            "pipeline": "v1",
            "run": "run",
            "first_seen": now,
            "last_seen": now,
        }
        return Record(**fields | named)

    return make


@pytest.fixture
def crawler():
    """Start crawlers in processes of their own; all of them are gone after the test."""
    started = []

    def start(*arguments):
        process = subprocess.Popen(
            [sys.executable, str(CRAWLER), *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()

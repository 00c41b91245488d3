import re
import sys
from contextlib import closing

import pytest

from simhash_gate.stores import _MODULES, StoreError, StoreUnavailable, open_store, store_opener
from simhash_gate.stores.base import without_password
from simhash_gate.stores.sqlite import MemoryDriver, SQLiteDriver


class Own(MemoryDriver):
    """A driver made outside of the package."""

    def __init__(self, address, *, create):
        super().__init__()
        self.name = f"{address} {create}"


def test_a_driver_of_ones_own_is_opened_by_its_path_and_gets_the_address():
    url = f"{__name__}:Own://me:secret@host/x?y=1"
    for opened in (open_store(url, create=False), open_store(f"{__name__}:Own")):
        with closing(opened) as store:
            store.begin("run")
            assert store.name in ("me:secret@host/x?y=1 False", " True")
    assert "secret" not in without_password(url)


@pytest.mark.parametrize("url", ["memory:", "memory://", "MEMORY:"])
def test_memory_opens_an_empty_memory(url):
    with closing(open_store(url)) as store:
        assert isinstance(store.driver, MemoryDriver)
        assert [*store.records()] == []


def test_three_slashes_begin_a_relative_path_that_is_fixed_at_once_and_four_an_absolute_one(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    with closing(open_store("sqlite:///some/folder/kept.sqlite")) as store:
        assert isinstance(store.driver, SQLiteDriver)
        assert store.driver.path == tmp_path / "some" / "folder" / "kept.sqlite"
        assert store.driver.path.exists()  # type: ignore[attr-defined]
        monkeypatch.chdir("/")
        store.begin("run")
    with closing(open_store(f"sqlite:///{tmp_path}/100% kept?#.sqlite")) as store:
        assert store.driver.path == tmp_path / "100% kept?#.sqlite"  # type: ignore[attr-defined]
        assert store.driver.path.exists()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("sqlite:", "path"),
        ("sqlite:/kept.sqlite", "three slashes"),
        ("sqlite:///:memory:", "names no file"),
        ("sqlite:///kept.sqlite?prefx=a", "unknown parameter 'prefx'"),
        ("memory:x", "no path"),
        ("postgresql://localhost/kept?timeout=soon", "timeout and lease are seconds"),
        ("postgresql://localhost/kept?schema=", "schema is a name"),
        ("postgresql://localhost/kept?durable=maybe", "durable is true or false"),
        ("postgresql://localhost/kept?colour=red", "colour"),
        ("postgresql:/localhost/kept", "two slashes"),
        ("postgresql://localhost:port/kept", "port is no number"),
        ("postgresql://localhost:1,localhost:99999/kept", "port is no number"),
        ("redis://localhost?prefix=a{b}", "braces"),
        ("redis://localhost?lease=0", "lease"),
        ("redis://localhost?prefx=a:", "unknown parameter 'prefx'"),
        ("rediss+cluster://localhost?prefx=a:", "unknown parameter 'prefx'"),
        ("redis+sentinel://localhost/main?prefx=a:", "unknown parameter 'prefx'"),
        ("unix:///redis.sock?prefx=a:", "unknown parameter 'prefx'"),
        ("unix:///redis.sock?db=zero", "'db'"),
        ("rediss://localhost?ssl_cert_reqs=mabe", "mabe"),
        ("redis://localhost:port", "port is no number"),
        ("redis://localhost:99999", "port is no number"),
        ("redis+cluster://localhost:1,localhost:port", "port is no number"),
        ("redis://localhost/zero", "the database is a number"),
        ("redis://localhost/0/1", "the database is a number"),
        ("redis:/localhost", "two slashes"),
        ("redis+sentinel://localhost", "name of the service"),
        ("redis+sentinel://localhost/main/db", "the database is a number"),
        ("kept.sqlite", "no such store"),
        ("no.such.module:Driver", "No module named 'no'"),
        (f"{__name__}:Missing://", "no attribute 'Missing'"),
    ],
)
def test_any_other_url_is_refused_by_name_and_told_what_is_allowed(url, why, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreError, match=f"{re.escape(url)}.*{why}") as caught:
        store_opener(url)  # which is what settings do: no crawl begins with such a store
    assert not isinstance(caught.value, StoreUnavailable)
    driver = _MODULES.get(url.partition(":")[0])
    allowed = {"postgres": "postgresql://user:password@", "redis": ""}
    assert allowed.get(str(driver), "sqlite:///") in str(caught.value)
    assert [*tmp_path.iterdir()] == []


class Lacking:
    def __init__(self, address, *, create=True):
        self.name = address


def test_a_driver_that_lacks_methods_is_refused_when_it_is_opened():
    with pytest.raises(StoreError, match="its driver lacks methods of"):
        open_store(f"{__name__}:Lacking://x")


@pytest.mark.parametrize(
    ("driver", "extra", "schemes"),
    [
        ("redis", "redis", ["redis", "rediss", "redis+cluster", "redis+sentinel", "unix"]),
        ("psycopg", "postgres", ["postgresql"]),
    ],
)
def test_without_its_driver_a_store_names_the_extra(driver, extra, schemes, monkeypatch):
    for name in [*sys.modules]:
        if name.split(".")[0] == driver or name.startswith(f"simhash_gate.stores.{extra}"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, driver, None)
    for scheme in schemes:
        with pytest.raises(StoreError, match=rf": pip install 'simhash-gate\[{extra}\]'$"):
            open_store(f"{scheme}://localhost/pages")


@pytest.mark.parametrize(
    "url",
    [
        "redis://me:se/cr@secret@localhost:1/0?lease=soon",
        "redis://me:secret?@localhost:1/0?lease=soon",
        "redis://me:1?secret@localhost:1/0?lease=2",
        "postgresql://me:secret@localhost:1/kept",
        "postgresql://localhost:1/kept?password=secret&user=me",
        "postgresql://me:secret@localhost/kept?colour=red",
    ],
)
def test_a_password_is_not_shown(url):
    with pytest.raises(StoreError) as caught:
        open_store(url)
    assert "secret" not in str(caught.value)

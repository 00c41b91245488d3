import re
import sys
from contextlib import closing

import pytest

from simhash_gate.stores import StoreError, StoreUnavailable, open_store
from simhash_gate.stores.sqlite import MemoryDriver, SQLiteDriver


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
        ("memory:x", "no path"),
        ("postgresql://localhost/kept?timeout=soon", "timeout and lease are seconds"),
        ("postgresql://localhost/kept?schema=", "schema is a name"),
        ("postgresql://localhost/kept?durable=maybe", "durable is true or false"),
        ("postgresql://localhost/kept?colour=red", "colour"),
        ("redis://localhost?prefix=a{b}", "braces"),
        ("redis://localhost?lease=0", "lease"),
        ("redis://localhost?colour=blue", "colour"),
        ("redis://localhost:port", "port is no number"),
        ("redis+sentinel://localhost", "name of the service"),
        ("redis+sentinel://localhost/main/db", "db"),
        ("kept.sqlite", "no such store"),
    ],
)
def test_any_other_url_is_refused_by_name_and_told_what_is_allowed(url, why, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreError, match=f"{re.escape(url)}.*{why}") as caught:
        open_store(url)
    assert not isinstance(caught.value, StoreUnavailable)
    allowed = {"postgresql": "postgresql://user:password@", "redis": "", "redis+sentinel": ""}
    assert allowed.get(url.partition(":")[0], "sqlite:///") in str(caught.value)
    assert [*tmp_path.iterdir()] == []


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
        "postgresql://me:secret@localhost:1/kept",
        "postgresql://localhost:1/kept?password=secret&user=me",
        "postgresql://me:secret@localhost/kept?colour=red",
    ],
)
def test_a_password_is_not_shown(url):
    with pytest.raises(StoreError) as caught:
        open_store(url)
    assert "secret" not in str(caught.value)

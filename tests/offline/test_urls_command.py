"""`simhash-gate urls`: what is known of URLs is listed and forgotten."""

import json
from contextlib import closing

import pytest

from simhash_gate.stores import open_store
from simhash_gate.stores.base import SITE_NOTES, URL_RULES
from tests.stores.kept import keep

SITE, OTHER = "example.com", "a.example"
LINE = {"scope": SITE, "urls": f"{SITE}/a/#", "kind": "drop", "name": "x", "value": ""}
LINES = [LINE | {"contents": 30, "acts": True}, LINE | {"name": "y", "contents": 2, "acts": False}]


@pytest.fixture
def kept(url):
    """A store: on one site x makes no difference, y may make one; of another one less is known."""
    with closing(open_store(url)) as store:
        keep(store, URL_RULES, SITE, json.dumps(LINES).encode())
        keep(store, URL_RULES, OTHER, json.dumps([LINE | {"scope": OTHER}]).encode())
        keep(store, SITE_NOTES, SITE, b"{}")
    return url


def test_what_is_known_is_listed_and_forgotten_by_site(run, kept) -> None:
    result = run("urls", "list", kept)
    assert (result.status, result.err) == (0, "")
    assert result.lines == [LINE | {"scope": OTHER}, *LINES]
    result = run("urls", "forget", kept, SITE)
    assert (result.status, result.out, result.err) == (0, "", "")
    assert run("urls", "list", kept).column("scope") == [OTHER]
    with closing(open_store(kept)) as store:
        assert store.get(SITE_NOTES, SITE) == b"{}"
    result = run("urls", "forget", kept, "nobody.example", OTHER)
    assert result.status == 1
    assert result.err.startswith("nobody.example: nothing is known of its URLs\n")
    result = run("urls", "list", kept)
    assert (result.status, result.out, result.err) == (0, "", "nothing is known of URLs\n")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"no lines", "not JSON"),
        (b"{}", "expected a list"),
        (b"[5]", "line 1: no object"),
        (json.dumps([LINE | {"kind": "place", "value": "x"}]).encode(), "line 1: value"),
    ],
)
def test_what_is_broken_in_a_store_is_named_and_can_be_forgotten(run, url, data, message) -> None:
    with closing(open_store(url)) as store:
        keep(store, URL_RULES, SITE, data)
    result = run("urls", "list", url)
    assert (result.status, result.out) == (1, "")
    assert f"URLs of {SITE}: {message}" in result.err
    assert run("urls", "forget", url, SITE).status == 0
    assert run("urls", "list", url).err == "nothing is known of URLs\n"

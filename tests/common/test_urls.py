"""URLs are shown and remembered without the user's name and password."""

import dataclasses

import pytest

from simhash_gate import Gate, Options, open_store, read_page
from simhash_gate.common.urls import is_of_domain, text_without_credentials, without_credentials
from simhash_gate.options import pipeline_version
from simhash_gate.stores.base import Record

URL = "https://user:secret@example.com:8080/a"
SHOWN = "https://example.com:8080/a"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (URL, SHOWN),
        ("http://user@example.com", "http://example.com"),
        ("HTTP://user:p@ss@example.com?x=@", "HTTP://example.com?x=@"),
        ("ftp+x://:secret@[::1]/", "ftp+x://[::1]/"),
    ],
)
def test_a_name_and_a_password_are_taken_out(url: str, shown: str) -> None:
    assert without_credentials(url) == without_credentials(shown) == shown
    assert without_credentials(f" {url}") == shown
    assert text_without_credentials(f"see {url} and {url}") == f"see {shown} and {shown}"


@pytest.mark.parametrize(
    "url",
    [
        *("https://example.com/@user", "https://example.com?mail=a@example.com", ""),
        *("https://example.com#a@b", "mailto:a@example.com", "folder/a@b.html", "/x//a@b.html"),
    ],
)
def test_what_has_none_stays_as_it_is(url: str) -> None:
    assert without_credentials(url) == text_without_credentials(url) == url


def test_what_is_read_does_not_tell_the_pages_password_and_is_the_same_without() -> None:
    sentence = b"<p>Bees fly to <a href='/x'>every flower</a> that there is.</p>"
    one, other = (read_page(b"<main><h1>Bees</h1>" + sentence * 9, url=url) for url in (URL, SHOWN))
    assert "https://example.com:8080/x" in one.markdown
    for name in ("fingerprint", "digest", "sketch", "markdown"):
        assert getattr(one, name) == getattr(other, name)


def test_neither_a_record_nor_the_gate_remembers_a_password() -> None:
    record = Record("example.com", URL, "r", 1, 2, 3, "", "v", "run", 0.0, 0.0)
    for made in (record, dataclasses.replace(record, url=URL)):
        assert made.url == SHOWN
    store = open_store("memory:")
    store.begin("run")
    gate = Gate(store, run="run", pipeline=pipeline_version(Options()))
    page = read_page(b"<p>Bees fly to every flower of the garden, and home at night.</p>" * 9)
    with pytest.raises(TypeError, match="a visit, or the url"):
        gate.judge(page)
    assert "secret" not in repr(gate.judge(page, url=URL))
    assert "secret" not in repr(list(store.records()))


@pytest.mark.parametrize(
    ("url", "domain", "expected"),
    [
        ("https://www.Example.com:8080/a", "example.com", True),
        ("https://example.com./a", "WWW.example.com", True),
        ("https://news.example.com/a", "example.com", True),
        ("https://example.com/a", "news.example.com", False),
        ("https://myexample.com/a", "example.com", False),
        ("https://example.org/example.com", "example.com", False),
        ("", "example.com", False),
    ],
)
def test_subdomains_are_of_a_domain(url: str, domain: str, expected: bool) -> None:
    assert is_of_domain(url, domain) is expected

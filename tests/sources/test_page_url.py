"""The URL that a page in a file, or its path, tells."""

import pytest

from simhash_gate.identity.keys import canonical_of, canonical_urls
from simhash_gate.sources.files import url_of_path

URL = "https://example.com/a?b=1&c=2"


@pytest.mark.parametrize(
    "tag",
    [
        '<link rel="canonical" href="https://example.com/a?b=1&amp;c=2">',
        "<LINK HREF='https://example.com/a?b=1&amp;c=2' data-x=1 REL='Canonical'/>",
        "<link rel=canonical href=https://example.com/a?b=1&c=2>",
        '<link\n  href = " https://example.com/a?b=1&#38;c=2 "\n  rel = "alternate canonical"\n>',
        '<!-- <link rel="canonical" href="https://no.com/"> -->\n'
        '<link rel="canonical" href="https://example.com/a?b=1&amp;c=2">',
        '<link rel="alternate" href="https://no.com/canonical">'
        '<link rel="canonical" href="https://example.com/a?b=1&amp;c=2">',
    ],
)
def test_the_canonical_link_is_found_however_it_is_written(tag: str) -> None:
    assert [*canonical_urls(f"<!doctype html><html><head>{tag}<title>T".encode())] == [URL]


@pytest.mark.parametrize(
    "tag",
    [
        '<link rel="canonical">',
        '<link rel="canonical" href="/a">',
        '<link rel="canonical" href="javascript:alert(1)">',
        '<link rel="canonical" href="https://[example.com/">',
        '<link rel="canonical" href="https://example.com/\x1b[31m">',
        f'<link rel="canonical" href="https://example.com/{"a" * 3000}">',
        '<!-- <link rel="canonical" href="https://example.com/a"> -->',
        '<link rel="canonical" href="https://example.com/a"',
        '<script>write("<link rel=canonical href=https://example.com/a>")</script>',
        "&lt;link rel=canonical href=https://example.com/a&gt;",
    ],
)
def test_what_is_no_canonical_link_gives_no_url(tag: str) -> None:
    assert [*canonical_urls(f"<html><head>{tag}".encode())] == []


@pytest.mark.parametrize(
    "piece", [b"<link ", b"canonical", b"<link canonical", b"<!--", b"<link rel=canonical x='"]
)
def test_a_hostile_page_ends(piece: bytes) -> None:
    assert [*canonical_urls(piece * 2_000_000)] == []


@pytest.mark.parametrize(
    ("path", "folder", "url"),
    [
        ("mirror/example.com/a/b.html", "mirror", "https://example.com/a/b.html"),
        ("mirror/example.com/a/b.html", "", "https://example.com/a/b.html"),
        ("/x/example.com/a/b.html", "/x/example.com/a", "https://example.com/a/b.html"),
        ("m/www.Example.co.uk/index.html", "m", "https://www.example.co.uk/"),
        ("m/example.com/b é.html", "m", "https://example.com/b%20%C3%A9.html"),
        ("m/http/example.com/b.html", "m", "http://example.com/b.html"),
        ("m/example.com:8080/b.html", "m", "https://example.com:8080/b.html"),
        ("m/192.0.2.1/b.html", "m", "https://192.0.2.1/b.html"),
        # The first host within the folder counts: others are parts of paths.
        ("old.org/m/example.com/ASP.NET/b.html", "old.org/m", "https://example.com/ASP.NET/b.html"),
        ("pages/example.com.html", "pages", ""),
        ("pages/v1.2/b.html", "pages", ""),
        ("../.cache/com/b.html", "..", ""),
        ("b.html", "", ""),
    ],
)
def test_a_mirror_has_its_hosts_in_its_paths(path: str, folder: str, url: str) -> None:
    assert url_of_path(path, folder) == url


@pytest.mark.parametrize(
    ("link", "tags", "named"),
    [
        ("", "<link rel=canonical href=/b>", "https://example.com/b"),
        ('</b>; rel="canonical"', "", "https://example.com/b"),
        ('</c>; rel=next, </b>; title="x"; rel=canonical', "", "https://example.com/b"),
        ('</b>; rel="canonical"', "<link rel=canonical href=/b>", "https://example.com/b"),
        ('</b>; rel="canonical"', "<link rel=canonical href=/c>", ""),
        ("", "<link rel=canonical href=/b><link rel=canonical href=/c>", ""),
        ("</b>; rel=next", "", ""),
    ],
)
def test_a_page_calls_one_address_its_own_in_its_head_or_in_a_header(link, tags, named) -> None:
    body = f"<html><head>{tags}".encode()
    url = "https://example.com/a"
    assert canonical_of(canonical_urls(body, url), url, link) == named

"""What a stored response is, told as Scrapy tells it."""

import gzip
import random
import sys
import zlib
from functools import partial
from importlib import import_module

import pytest
from scrapy.http import Headers, HtmlResponse
from scrapy.responsetypes import responsetypes

from simhash_gate.sources.http import decoded, is_html, response

BODIES = [
    *(b"<html><body>words", b"<!DOCTYPE html><p>x", b"<?xml version='1.0'?>", b""),
    b"\x89PNG\r\n\x1a\n\0\0",
]
TYPES = [
    *("Text/HTML; charset=utf-8", "application/xhtml+xml", "application/rss+xml", "text/plain"),
    *("application/octet-stream", "image/png", ""),
]


@pytest.mark.parametrize("url", [f"http://example.com/{n}" for n in ("page", "a.html", "a.txt")])
@pytest.mark.parametrize("content_type", TYPES)
def test_what_scrapy_takes_for_html_is_html(content_type: str, url: str) -> None:
    headers = Headers({"Content-Type": content_type} if content_type else {})
    for body in BODIES:
        kind = responsetypes.from_args(headers=headers, url=url, body=body)
        assert is_html(content_type, url, body) == issubclass(kind, HtmlResponse), body


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_a_small_body_that_unpacks_to_a_huge_one_is_cut_off(coding: str) -> None:
    zstd = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    compress = {
        "gzip": gzip.compress,
        "deflate": zlib.compress,
        "br": partial(import_module("brotli").compress, quality=1),
        "zstd": zstd.compress,
    }[coding]
    body = decoded(compress(bytes(20_000_000)), coding, 100_000)
    assert 100_000 < len(body) < 2_000_000


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_markup_with_the_header_of_an_encoding_that_is_off_is_read(coding: str) -> None:
    assert decoded(b" <!DOCTYPE html><p>x", coding, 100) == b" <!DOCTYPE html><p>x"


def test_gzip_is_unpacked_without_a_header_where_html_is_declared() -> None:
    body, headers = gzip.compress(b"<p>x"), {"content-type": "text/html"}
    of = partial(response, "place", body, status=200, max_bytes=100)
    assert of(headers=headers).body == b"<p>x"
    assert of(headers={"content-type": "application/gzip"}).skipped


def test_a_body_that_ends_too_early_gives_what_is_there() -> None:
    text = bytes(random.Random(1).choices(b"abcdefgh ", k=500_000))
    found = decoded(gzip.compress(text)[:-1000], "gzip", 10**6)
    assert text.startswith(found)
    assert found

"""Exact duplicates only: MD5 of the bytes, or of the text that readability finds."""

from __future__ import annotations

from hashlib import md5

from benchmarks.quality.methods.base import Method
from benchmarks.quality.text import readability_text


class BodyMd5(Method):
    """What a cache or a crawler compares by default."""

    title = "MD5 of the body"
    needs = ()

    def fingerprint(self, body: bytes, url: str) -> bytes:
        return md5(body).digest()


class ReadabilityMd5(Method):
    """MD5 of readability-lxml's text, white space normalised."""

    title = "MD5 of readability's text"
    needs = ("readability-lxml", "lxml")

    def fingerprint(self, body: bytes, url: str) -> bytes | None:
        text = readability_text(body)
        return md5(text.encode("utf-8", "replace")).digest() if text else None

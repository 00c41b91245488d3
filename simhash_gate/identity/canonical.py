"""The address that a page calls its own: `rel=canonical`, in its head or its `Link` header."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from html import unescape
from itertools import islice
from urllib.parse import urljoin, urlsplit

_START = 1 << 18  # bytes of a page that are searched
_MOST_TAGS = 20
_LONGEST_TAG = 4096
_LONGEST_URL = 2048
_ATTRIBUTE = re.compile(rb"""(?<![a-z])([a-z]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.I)


def canonical_of(named: Iterable[str], url: str, link: str = "") -> str:
    """Return the absolute URL that a page calls its own, or "" if it names none or several.

    `named` comes from `canonical_urls`, `link` is the `Link` header of the response.
    """
    named = {*named}
    for part in link.split("<")[1:] if "canonical" in link.lower() else ():
        target, _, parameters = part.partition(">")
        if _is_canonical(parameters) and (target_url := _checked(target, url)):
            named.add(target_url)
    return named.pop() if len(named) == 1 else ""


def canonical_urls(body: bytes, url: str = "") -> Iterator[str]:
    """Yield the absolute URL of each `<link rel=canonical>` of the page at `url`."""
    start = body[:_START]
    for tag in islice(_canonical_tags(start.lower()), _MOST_TAGS):
        attributes = {
            name.lower(): double or single or unquoted
            for name, double, single, unquoted in _ATTRIBUTE.findall(start[tag])
        }
        if b"canonical" in attributes.get(b"rel", b"").lower().split():
            href = unescape(attributes.get(b"href", b"").decode("utf-8", "replace"))
            in_comment = start.rfind(b"<!--", 0, tag.start) > start.rfind(b"-->", 0, tag.start)
            if not in_comment and (named := _checked(href, url)):
                yield named


def _is_canonical(parameters: str) -> bool:
    for parameter in parameters.lower().split(";"):
        name, _, value = parameter.partition("=")
        if name.strip() == "rel" and "canonical" in value.strip(" \t\"',").split():
            return True
    return False


def _canonical_tags(start: bytes) -> Iterator[slice]:
    """Yield the places of tags that may be the canonical link, in a page in lower case."""
    place = start.find(b"canonical")
    while place >= 0:
        begin = start.rfind(b"<link", max(0, place - _LONGEST_TAG), place)
        end = start.find(b">", place, place + _LONGEST_TAG)
        if begin >= 0 and end >= 0:
            yield slice(begin, end)
        place = start.find(b"canonical", place + 1)


def _checked(href: str, base: str) -> str:
    """Return the absolute URL of an attribute, or "" if no page can have it."""
    href = href.strip()
    if not href or len(href) > _LONGEST_URL or not href.isprintable() or " " in href:
        return ""
    with suppress(ValueError):
        url = urljoin(base, href)
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and parts.hostname:
            return url
    return ""

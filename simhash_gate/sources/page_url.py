"""The URL of a page in a file: guessed from its canonical link, or from its path."""

from __future__ import annotations

import os
import re
from html import unescape
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from simhash_gate.gate.policy import is_public_host

if TYPE_CHECKING:
    from collections.abc import Iterator

_START = 1 << 18  # bytes of a page that are searched
_MOST_TAGS = 20
_LONGEST_TAG = 4096
_LONGEST_URL = 2048
_ATTRIBUTE = re.compile(rb"""(?<![a-z])([a-z]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.I)
_HOST = re.compile(r"[\w-]+(?:\.[\w-]+)+(?:[:+]\d{1,5})?")
_INDEX = re.compile(r"/index\.(?:x?html?|xht)$", re.IGNORECASE)
_SAFE = "/%?=&~:@!$'()*+,;"


def guess_url(body: bytes, path: str, folder: str = "") -> str:
    """Return the URL that a page or its path tells, "" for none. `folder` is where it was found."""
    return canonical_url(body) or url_of_path(path, folder)


def canonical_url(body: bytes) -> str:
    """Return the `<link rel=canonical>` of a page, if it is an absolute http(s) URL, else ""."""
    start = body[:_START]
    for tag in islice(_canonical_tags(start.lower()), _MOST_TAGS):
        found = {
            name.lower(): double or single or bare
            for name, double, single, bare in _ATTRIBUTE.findall(start[tag])
        }
        if b"canonical" in found.get(b"rel", b"").lower().split():
            return _checked(found.get(b"href", b""))
    return ""


def url_of_path(path: str, folder: str = "") -> str:
    """Return the URL of a file of a mirror, by the host in its path; "" where it has none.

    `mirror/example.com/a/b.html` is `https://example.com/a/b.html`. The first host within the
    folder counts, else the first one in the name of the folder.
    """
    named = Path(folder).parts if folder else ()
    parts = Path(path).parts
    places = [*range(len(named), len(parts) - 1), *range(len(named))]
    host = next((place for place in places if _is_host(parts[place])), None)
    if host is None:
        return ""
    scheme = parts[host - 1] if host and parts[host - 1] in ("http", "https") else "https"
    rest = os.fsencode("/".join(parts[host + 1 :]))
    address = _INDEX.sub("/", "/" + quote(rest, safe=_SAFE))
    return f"{scheme}://{parts[host].lower().replace('+', ':')}{address}"


def _canonical_tags(start: bytes) -> Iterator[slice]:
    """Yield where tags are that may be the canonical link, in a page in lower case."""
    place = start.find(b"canonical")
    while place >= 0:
        begin = start.rfind(b"<link", max(0, place - _LONGEST_TAG), place)
        end = start.find(b">", place, place + _LONGEST_TAG)
        if begin >= 0 and end >= 0 and not _is_comment(start, begin):
            yield slice(begin, end)
        place = start.find(b"canonical", place + 1)


def _is_comment(start: bytes, place: int) -> bool:
    return start.rfind(b"<!--", 0, place) > start.rfind(b"-->", 0, place)


def _checked(href: bytes) -> str:
    """Return the URL of an attribute if it is one that a page can have, else ""."""
    url = unescape(href.decode("utf-8", "replace")).strip()
    if len(url) > _LONGEST_URL or not url.isprintable() or " " in url:
        return ""
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return ""
    return url if known else ""


def _is_host(name: str) -> bool:
    return bool(_HOST.fullmatch(name)) and is_public_host(re.split("[:+]", name)[0].lower())

"""URLs as they are shown and remembered, without the user's name and password; their hosts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeVar
from urllib.parse import urlsplit

T = TypeVar("T")

_CREDENTIALS = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*://)[^\s/?#]*@")
# Where a scheme may begin anywhere, each letter of a text would be the beginning of one.
_IN_TEXT = re.compile(r"://[^\s/?#]*@")


def without_credentials(url: str) -> str:
    """Return a URL without user name and password: `https://user:secret@host/x` as
    `https://host/x`. What is no URL comes back as it is.
    """
    if "@" not in url:
        return url
    match = _CREDENTIALS.match(url.lstrip())
    return url if match is None else match[1] + url.lstrip()[match.end() :]


def text_without_credentials(text: str) -> str:
    """Return a text whose URLs have no user name and password any more."""
    return _IN_TEXT.sub("://", text) if "@" in text else text


def host_of(url: str) -> str:
    """Return the URL's host in lower case, without port and brackets; "" if it has none."""
    try:
        return (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return ""


def end_of(url: str) -> str:
    """Return the last part of a path: copies of a page share it more often than not."""
    try:
        return urlsplit(url).path.rstrip("/").rpartition("/")[2]
    except ValueError:
        return url


def is_of_domain(url: str, domain: str) -> bool:
    """Tell if the host of a URL is a domain, or one of its subdomains; `www.` is no matter."""
    wanted = domain.lower().strip(".").removeprefix("www.")
    host = host_of(url)
    return host == wanted or host.endswith(f".{wanted}")


def of_longest_domain(host: str, values: Mapping[str, T], default: T) -> T:
    """Return the value of the longest domain that a host belongs to; `www.` is no matter."""
    labels = host.removeprefix("www.").split(".")
    names = (".".join(labels[start:]) for start in range(len(labels)))
    return next((values[name] for name in names if name in values), default)

"""URLs without the user's name and password, for messages and stores; the hosts of URLs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeVar
from urllib.parse import urlsplit

T = TypeVar("T")

_CREDENTIALS = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*://)[^\s/?#]*@")
# The scheme is left out: each letter of a text could begin one, which takes long to search.
_IN_TEXT = re.compile(r"://[^\s/?#]*@")


def without_credentials(url: str) -> str:
    """Return a URL without user name and password: `https://user:secret@host/x` becomes
    `https://host/x`. Text that is not a URL is returned as it is.
    """
    if "@" not in url:
        return url
    match = _CREDENTIALS.match(url.lstrip())
    return url if match is None else match[1] + url.lstrip()[match.end() :]


def text_without_credentials(text: str) -> str:
    """Return a text without the user names and passwords of its URLs."""
    return _IN_TEXT.sub("://", text) if "@" in text else text


def host_of(url: str) -> str:
    """Return the URL's host in lower case, without port and brackets, "" if it has none."""
    try:
        return (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return ""


def end_of(url: str) -> str:
    """Return the last part of a URL's path. Copies of a page mostly share it."""
    try:
        return urlsplit(url).path.rstrip("/").rpartition("/")[2]
    except ValueError:
        return url


def is_of_domain(url: str, domain: str) -> bool:
    """Tell whether the host of a URL is a domain or one of its subdomains, ignoring `www.`."""
    wanted = domain.lower().strip(".").removeprefix("www.")
    host = host_of(url)
    return host == wanted or host.endswith(f".{wanted}")


def of_longest_domain(host: str, values: Mapping[str, T], default: T) -> T:
    """Return the value of the longest domain that a host belongs to, ignoring `www.`."""
    labels = host.removeprefix("www.").split(".")
    names = (".".join(labels[start:]) for start in range(len(labels)))
    return next((values[name] for name in names if name in values), default)

"""Addresses: which of links and images Markdown shows, how they become absolute, the page's own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_NAME = r"[\w%~+,=&@-][\w%~+,=&@.-]*"  # one that is no `.` or `..`, and has no scheme
_MORE = r"[\w%~+,=&@.:;/()-]+"
_USUAL = re.compile(
    rf"(#){_MORE}|(https?://|/|(?:\.\./)+|){_NAME}(?:/{_NAME})*/?(?:\?{_MORE})?(?:#{_MORE})?",
    re.ASCII,
)


def is_address(href: object) -> bool:
    """Tell if a link leads to another address; scripts, data and what can't be parsed are none."""
    if not isinstance(href, str):
        return False
    start = href.lstrip()[:11].lower()
    if not start or start.startswith(("javascript:", "data:", "blob:")):
        return False
    if href.isascii() and "[" not in href and "]" not in href:
        return True
    try:
        urlsplit(href.strip())
    except ValueError:
        return False
    return True


def canonical_address(root: HtmlElement, url: str) -> str:
    """Return the `rel=canonical` of an uncleaned tree if it names the page itself, else ""."""
    for link in root.iter("link"):
        if (link.get("rel") or "").lower() == "canonical":
            try:
                address = urljoin(url, (link.get("href") or "").strip())
                same = urlsplit(address).path == urlsplit(url).path
            except ValueError:
                return ""
            return address if same else ""
    return ""


def joined(url: str, base: str | None) -> str:
    """Return the address that the links of a page are relative to, by what its `<base>` says."""
    try:
        return url if base is None else urljoin(url, base.strip())
    except ValueError:
        return url


class Base:
    """The address that a page's links are relative to."""

    def __init__(self, address: str) -> None:
        try:
            folder = urljoin(address, "x")[:-1]
        except ValueError:
            address = folder = ""
        self._address = address
        self._leads = {"": folder, "http://": "http://", "https://": "https://"}

    def absolute(self, href: object) -> str | None:
        """Return the address that a link leads to, by `urljoin`; None if it is no address."""
        if not isinstance(href, str):
            return None
        usual = _USUAL.fullmatch(href)
        if usual is None:
            return self._join(href.strip()) if is_address(href) else None
        lead = usual[1] or usual[2]
        start = self._leads.get(lead)
        if start is None:
            start = self._leads[lead] = urljoin(self._address, lead + "x")[:-1]
        return start + href[len(lead) :]

    def _join(self, address: str) -> str:
        return urljoin(self._address, address).replace(" ", "%20")

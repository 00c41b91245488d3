"""Addresses of links and images: which of them Markdown shows, and how they become absolute."""

from __future__ import annotations

import re
from urllib.parse import urljoin, urlsplit

_NAME = r"[\w%~+,=&@-][\w%~+,=&@.-]*"  # one that is no `.` or `..`, and has no scheme
_REST = r"(?:\?[\w%~+,=&@.-]+)?(?:#[\w%~+,=&@.-]+)?"
_ABSOLUTE = re.compile(rf"https?://[\w.-]+(?:/{_NAME})*/?{_REST}", re.ASCII)
_RELATIVE = re.compile(rf"{_NAME}(?:/{_NAME})*/?{_REST}", re.ASCII)


def is_address(href: object) -> bool:
    """Tell if a link leads to another address; scripts, data and what can't be parsed are none."""
    if not isinstance(href, str):
        return False
    start = href.lstrip()[:11].lower()
    if not start or start.startswith(("javascript:", "data:")):
        return False
    if href.isascii() and "[" not in href and "]" not in href:
        return True
    try:
        urlsplit(href.strip())
    except ValueError:
        return False
    return True


class Base:
    """The address that a page's links are relative to."""

    def __init__(self, address: str) -> None:
        self._address = address
        try:
            self._host = urljoin(address, "/x")[:-1]
            self._folder = urljoin(address, "x")[:-1]
            self._page = urljoin(address, "#x")[:-1]
        except ValueError:
            self._address = self._host = self._folder = self._page = ""

    def join(self, address: str) -> str:
        """Return the address as `urljoin` does, faster for the usual ones.

        Raises ValueError for one that can't be parsed.
        """
        if _ABSOLUTE.fullmatch(address):
            return address
        if address[:1] == "#" and _RELATIVE.fullmatch(address, 1) and "/" not in address:
            return self._page + address[1:]
        if address[:1] == "/" and _RELATIVE.fullmatch(address, 1):
            return self._host + address[1:]
        if _RELATIVE.fullmatch(address):
            return self._folder + address
        return urljoin(self._address, address)

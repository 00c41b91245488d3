"""Exact repeats: a body that was read a moment ago need not be parsed again."""

from __future__ import annotations

import re
import sys
from collections import OrderedDict
from hashlib import sha256
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from simhash_gate.common.urls import host_of, without_credentials
from simhash_gate.workers.pool import Anew

if TYPE_CHECKING:
    from simhash_gate.options import Options
    from simhash_gate.pages import Page

Key = tuple[bytes, str, str]

MOST_PAGES = 10_000
MOST_BYTES = 32 * 1024 * 1024
_ENTRY_BYTES = 1024  # of a page without its Markdown, and of what leads to it
_PLAIN = re.compile(r"[\w.~/:%-]*", re.ASCII)


class RecentPages:
    """The pages that were read last, by a cryptographic hash of their bodies.

    A fingerprint depends on the body, its declared encoding and the options. Where the page was
    fetched decides only where its relative links lead, which is seen in the Markdown and, by the
    page's own address, in a sketch: with sketches only the same URL is a repeat. Which fields are
    compared depends on the host.
    """

    def __init__(
        self, options: Options, *, most_pages: int = MOST_PAGES, most_bytes: int = MOST_BYTES
    ) -> None:
        self._options = options
        self._most_pages = most_pages
        self._most_bytes = most_bytes
        self._pages: OrderedDict[Key, tuple[Page, str, int]] = OrderedDict()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._pages)

    def key(self, body: bytes, url: str, encoding: str | None) -> Key:
        """Return what two bodies share only if the same is read from them."""
        where = url if self._options.sketch else host_of(url) if self._options.compare else ""
        return sha256(body).digest(), encoding or "", where

    def find(self, key: Key, body: bytes, url: str, encoding: str | None) -> Page | None:
        """Return the page that would be read from this body, if it was a moment ago.

        Where it has no Markdown with links from this URL, that is read if anybody asks for it.
        """
        found = self._pages.get(key)
        if found is None:
            return None
        self._pages.move_to_end(key)
        page, first, _ = found
        if page.is_rendered and _links_agree(page.markdown, first, url):
            return page
        return page.drafted(Anew(body, url, encoding, self._options))

    def add(self, key: Key, url: str, page: Page) -> None:
        """Keep a page that was read, and let go of those that were not asked for the longest."""
        if not page.is_rendered:
            page = page.drafted(None)  # what it would be made from is large
        markdown = sys.getsizeof(page.markdown) if page.is_rendered else 0
        size = _ENTRY_BYTES + markdown + page.weight
        if key in self._pages or size > self._most_bytes:
            return
        self._pages[key] = page, url, size
        self._bytes += size
        while self._bytes > self._most_bytes or len(self._pages) > self._most_pages:
            _, (_, _, freed) = self._pages.popitem(last=False)
            self._bytes -= freed


def _links_agree(markdown: str, one: str, other: str) -> bool:
    """Tell whether what was rendered at one URL is rendered so at the other; False if unsure.

    A relative link carries the host of the page; from two pages in one folder all lead to the same
    places but for `#part`, `?query` and the empty link, which carry the page's own path.
    """
    if one == other:
        return True
    here, there = urlsplit(without_credentials(one)), urlsplit(without_credentials(other))
    if here.scheme != there.scheme or not _PLAIN.fullmatch(here.netloc + here.path):
        return False
    if here.netloc == there.netloc and _folder(here.path) == _folder(there.path):
        return f"//{here.netloc}{here.path}" not in markdown
    return f"//{here.netloc}" not in markdown


def _folder(path: str) -> str:
    return path.rpartition("/")[0]

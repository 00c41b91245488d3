"""The links of a whole page, chrome and all: where they lead, and what they say."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import urldefrag

from simhash_gate.page.address import Base, is_address, joined

if TYPE_CHECKING:
    from lxml.html import HtmlElement

MOST_ANCHORS = 5_000
"""Of one page."""
LONGEST_TEXT = 200


def pack_anchors(root: HtmlElement, base: str | None) -> bytes:
    """Return the links of an uncleaned tree as bytes; `base` is what its `<base>` says."""
    found = [
        [href, " ".join("".join(element.itertext()).split())[:LONGEST_TEXT]]
        for element in islice(root.iter("a", "area"), MOST_ANCHORS)
        if is_address(href := element.get("href"))
    ]
    return json.dumps([base, found], ensure_ascii=False).encode("utf-8", "replace")


def read_anchors(packed: bytes, url: str) -> tuple[tuple[str, str], ...]:
    """Return packed links of a page at a URL, in order: each address once, with its first text.

    Addresses are absolute, and have no fragment.
    """
    base, found = json.loads(packed)
    place = Base(joined(url, base))
    texts: dict[str, str] = {}
    for href, text in found:
        address = urldefrag(place.absolute(href) or "").url
        if address.startswith(("http://", "https://")) and not texts.get(address):
            texts[address] = text
    return tuple(texts.items())

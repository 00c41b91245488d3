"""A page as it is shown, its boilerplate included: how its tags are nested, and its links.

How similar two pages are built is told by the paths of their tags, after Buttler, "A short survey
of document structure similarity algorithms" (IC 2004), section 3.6.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import urldefrag

from simhash_gate.page.address import Base, is_address, joined

if TYPE_CHECKING:
    from lxml.html import HtmlElement

    from simhash_gate.page.survey import Tree

_DEEP = 64  # tags of a path

_WEB = ("http://", "https://")
_OTHER_SCHEME = re.compile(r"(?!https?:)[a-z][a-z0-9+.-]*:", re.I)
MOST_ANCHORS = 5_000
"""Of one page."""
LONGEST_TEXT = 200
_SERVICE = "/cdn-cgi/"  # of Cloudflare, with a new address in every response


def tag_paths(tags: Tree) -> Iterator[str]:
    """Yield the path of each tag from the root, and its end of four tags, which may come again.

    A box around all of a page changes each whole path, and few of the ends.
    """
    stack = [("", "", "", "", tags, _DEEP)]
    while stack:
        path, third, second, first, children, depth = stack.pop()
        for tag, grandchildren in children.items():
            longer_path = f"{path}/{tag}"
            yield longer_path
            yield f"{third}{second}{first}{tag}"
            if grandchildren and depth:
                stack.append((longer_path, second, first, f"{tag} ", grandchildren, depth - 1))


def link_targets(hrefs: Iterable[str], base: str) -> set[str]:
    """Return where links lead, relative ones from `base`, without fragments.

    Mail, telephone and scripts are left out, and so is what is for the server's own use.
    """
    absolute = Base(base).absolute
    found = set()
    for href in hrefs:
        address = href.partition("#")[0]
        target = address if address.startswith(_WEB) else absolute(address)
        if target and _SERVICE not in target and _OTHER_SCHEME.match(target) is None:
            found.add(target)
    return found


def pack_anchors(root: HtmlElement, base: str | None) -> bytes:
    """Return the links of an uncleaned tree as bytes; `base` is what its `<base>` says."""
    found = [
        [href, " ".join("".join(element.itertext()).split())[:LONGEST_TEXT]]
        for element in islice(root.iter("a", "area"), MOST_ANCHORS)
        if is_address(href := element.get("href"))
    ]
    return json.dumps([base, found], ensure_ascii=False).encode("utf-8", "replace")


def read_anchors(packed: bytes, url: str) -> tuple[tuple[str, str], ...]:
    """Return packed links in order, absolute, without fragments: each once, with its first text."""
    base, found = json.loads(packed)
    place = Base(joined(url, base))
    texts: dict[str, str] = {}
    for href, text in found:
        address = urldefrag(place.absolute(href) or "").url
        if address.startswith(("http://", "https://")) and not texts.get(address):
            texts[address] = text
    return tuple(texts.items())

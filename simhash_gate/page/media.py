"""The names of what an article shows and plays: hosts, folders and sizes change."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from simhash_gate.page.address import is_address
from simhash_gate.page.vocabulary import MEDIA

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lxml.html import HtmlElement

# A script reads the first of these, and what an image has beside them stands in until then.
_PLACES = (
    ("data-src", "data-lazy-src", "data-original", "data-lazy", "data-srcset"),
    ("srcset",),
    ("src",),
)
_POSTER = (("data-poster",), ("poster",))
_CANDIDATE = re.compile(r"([^\s,]\S*?)(?:,+(?=\s|$)|\s[^,]*|$)")  # of a `srcset`
_FILE_NAME = re.compile(r"(?<![^/])[^/?#]*(?=[?#]|$)")  # the first match is one
# What a name says of the size, as `300px-bees.jpg`, `bees-300x200.jpg` and `bees@2x.jpg` do.
_SIZE = re.compile(
    r"(?<=.)(?:[-_.](?:\d{2,4}x(?:\d{2,4})?|\d{2,4}w|\d{3,4}px?|scaled)|@\dx)(?=[-_.@]|$)"
    r"|^\d{2,4}px-(?=.)"
)


def image_names(root: HtmlElement) -> list[str]:
    """Return the file names of all images, and of the first images of videos, each once."""
    return _names(_shown(root))


def played_names(root: HtmlElement) -> list[str]:
    """Return the file names of all videos and sounds, each once."""
    return _names(_played(root))


def _shown(root: HtmlElement) -> Iterator[str]:
    for image in root.iter("img"):
        yield from _addresses(image)
    for source in root.iter("source"):
        if source.getparent().tag not in MEDIA:  # of a `picture`, then
            yield from _addresses(source)
    for video in root.iter("video"):
        yield from _addresses(video, _POSTER)


def _played(root: HtmlElement) -> Iterator[str]:
    for media in root.iter(*MEDIA):
        yield from _addresses(media)
        for source in media.iterchildren("source"):
            yield from _addresses(source)


def _addresses(element: HtmlElement, places: tuple[tuple[str, ...], ...] = _PLACES) -> list[str]:
    """Return the addresses in those attributes that count where an element has several."""
    for names in places:
        found: list[str] = []
        for name in names:
            value = (element.get(name) or "").strip()
            if value:
                found += _CANDIDATE.findall(value) if name.endswith("srcset") else [value]
        found = list(filter(is_address, found))
        if found:
            return found
    return []


def _names(addresses: Iterable[str]) -> list[str]:
    names: dict[str, str] = {}
    for address in addresses:
        name = _SIZE.sub("", _FILE_NAME.findall(address)[0])
        names.setdefault(name.rpartition(".")[0] or name, name)  # one in several formats
    return sorted(names.values())

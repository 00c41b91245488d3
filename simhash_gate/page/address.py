"""Addresses: which Markdown shows, how they become absolute, and the files that they name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from simhash_gate.page.vocabulary import MEDIA

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_NAME = r"[\w%~+,=&@-][\w%~+,=&@.-]*"  # one that is no `.` or `..`, and has no scheme
_MORE = r"[\w%~+,=&@.:;/()-]+"
_USUAL = re.compile(
    rf"(#){_MORE}|(https?://|/|(?:\.\./)+|){_NAME}(?:/{_NAME})*/?(?:\?{_MORE})?(?:#{_MORE})?",
    re.ASCII,
)


def is_address(href: object) -> bool:
    """Tell if a link leads to another address; scripts, data, files, what is broken are none."""
    if not isinstance(href, str):
        return False
    start = href.lstrip()[:11].lower()
    if not start or start.startswith(("javascript:", "vbscript:", "data:", "blob:", "file:")):
        return False
    if href.isascii() and "[" not in href and "]" not in href:
        return True
    try:
        urlsplit(href.strip())
    except ValueError:
        return False
    return True


def host_and_path(url: str) -> tuple[str, str]:
    """Return the host and the path of a URL, empty where it has none."""
    try:
        parts = urlsplit(url)
        return parts.hostname or "", parts.path
    except ValueError:
        return "", ""


def is_front(url: str) -> bool:
    """Tell if this is the address of a site's front page."""
    host, path = host_and_path(url)
    return bool(host) and not path.strip("/")


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
            whole = urljoin(self._address, href.strip()) if is_address(href) else None
            return whole and whole.replace(" ", "%20")
        lead = usual[1] or usual[2]
        if lead not in self._leads:
            self._leads[lead] = urljoin(self._address, lead + "x")[:-1]
        return self._leads[lead] + href[len(lead) :]


_LAZY = re.compile("src|lazy|original")  # in the names of what scripts read
_PICTURE = re.compile(
    r"[^\s\"'<>{}?#]+\.(?:avif|gif|jpe?g|png|svg|webp)(?:[?#][^\s\"'<>{}]*)?", re.I
)
_CANDIDATE = re.compile(r"([^\s,]\S*?)(?:(?<!,),+(?=\s|$)|\s[^,]*|$)")  # of a `srcset`
_BACKGROUND = re.compile(
    r"(?i)background(?:-image)?\s{0,9}:[^;]{0,99}?url\(['\"\s]{0,9}([^'\"()]+)"
)
# What an address says of the size, as `300px-bees.jpg`, `bees-300x200.jpg`, `bees@2x.jpg`,
# `300x200/bees.jpg`, `w_300,h_200/bees.jpg`, `?w=300` do.
_SIZE = re.compile(
    r"(?<=[^/])(?:[-_.](?:\d{2,4}x(?:\d{2,4})?|\d{2,4}w|\d{3,4}px?|scaled)|@\dx)(?=[-_.@/]|$)"
    r"|(?<![^/])\d{2,4}px-|/(?:\d{2,4}x(?:\d{2,4})?|[a-z]_[\w,]+)(?=/)"
    r"|(?<=[?&])(?:w|h|width|height|size|q|quality)=[^&]*&?",
    re.I,
)


def image_files(root: HtmlElement, base: str = "") -> list[str]:
    """Return the files of all images, and of the first images of videos, each once."""
    return _files(_image_addresses(root), base)


def media_files(root: HtmlElement, base: str = "") -> list[str]:
    """Return the files of all videos, sounds and frames, each once."""
    found = root.iter(*MEDIA, "frame")
    elements = (e for media in found for e in (media, *media.iterchildren("source")))
    return _files(chain.from_iterable(_first(_places(e)) for e in elements), base)


def _image_addresses(root: HtmlElement) -> Iterator[str]:
    for image in root.iter("img"):
        *scripted, src, srcset, others = _places(image)
        yield from _first((*scripted, srcset, src, others))
    for source in root.iter("source"):
        if source.getparent().tag not in MEDIA:  # of a `picture`, then
            yield from _first(_places(source))
    for video in root.iter("video"):
        yield from _first([video.get(name, "")] for name in ("data-poster", "poster"))
    for element in root.iter("*"):
        if "background" in (style := element.get("style", "")):
            yield from _BACKGROUND.findall(style)


def image_source(image: HtmlElement) -> str:
    """Return the address of an image, "" without one: that which a script or a browser shows."""
    found = _first(_places(image))
    picture = None if found else next(image.iterancestors("picture"), None)
    if picture is not None:
        found = _first(chain.from_iterable(map(_places, picture.iter("source"))))
    return found[0] if found else ""


def _places(element: HtmlElement) -> Iterator[list[str]]:
    """Yield what may be addresses in the attributes of an element, by the kind of attribute."""
    scripted = [(name, value.strip()) for name, value in element.items() if "-" in name]
    if scripted:
        lazy = [(name, value) for name, value in scripted if _LAZY.search(name)]
        yield [v for n, v in lazy if not n.endswith("srcset") and ("/" in v or "." in v)]
        yield [a for n, v in lazy if n.endswith("srcset") for a in _CANDIDATE.findall(v)]
    yield [(element.get("src") or element.get("data", "")).strip()]
    yield _CANDIDATE.findall(element.get("srcset", ""))
    yield [v for n, v in scripted if _PICTURE.fullmatch(v) or ("url" in n and "/" in v)]


def _first(places: Iterable[list[str]]) -> list[str]:
    """Return the addresses in the first place that has any."""
    return next(filter(None, (list(filter(is_address, place)) for place in places)), [])


# The ending of a file that is no page, feed or host without its scheme; nor a number: `v2.0`.
_FILE = re.compile(
    r"\.(?!(?:[dps]?x?html?|php\d?|aspx?|jspx?|jsf|do|cgi|cfm|pl|xml|rss|atom|com|net|org)\Z)"
    r"[a-z][a-z0-9]{0,4}\Z",
    re.I,
)
_PAGE = re.compile(r"[^?#]*/[^.?#/]*(?:[?#][^.]*)?")
_IMAGE = re.compile(r"\.(?:avif|gif|jpe?g|png|svg|webp)\Z", re.I)


def file_addresses(links: Iterable[HtmlElement], base: str) -> set[str]:
    """Return the files that links lead to from `base`: known by their ending or by `download`.

    A picture is none: it stands in the page as well. Nor is what a menu leads to.
    """
    absolute = Base(base).absolute
    found = set()
    for link in links:
        href = link.get("href", "")
        if _PAGE.fullmatch(href) and "download" not in link.attrib:
            continue  # as most do: to see in any other way that it leads to no file takes longer
        address = absolute(href) or ""
        path, query = _path_and_query(address)
        named = _FILE.search(path) or "download" in link.attrib or _FILE.search(query)
        if named and "//" in address and not _IMAGE.search(path):
            inside = next(link.iterancestors("nav", "footer"), None) is not None
            found.update([] if inside else [_file(path, query)])
    return found


def _files(addresses: Iterable[str], base: str) -> list[str]:
    """Return the files at some addresses, one for all its sizes and formats."""
    files: dict[str, str] = {}
    for address in filter(None, map(Base(base).absolute, addresses)):
        file = _SIZE.sub("", _file(*_path_and_query(address)))
        files.setdefault(_FILE.sub("", file), file)
    return sorted(files.values())


def _path_and_query(address: str) -> tuple[str, str]:
    """Return the parts of an address, without scheme and host."""
    path, _, query = address.partition("#")[0].partition("?")
    _, host, rest = path.rpartition("//")
    return rest[rest.find("/") :] if host else path, query


def _file(path: str, query: str) -> str:
    """Return by what a file is known; what follows its ending may be a signature, or a size."""
    return f"{path}?{query}" if query and not _FILE.search(path) else path

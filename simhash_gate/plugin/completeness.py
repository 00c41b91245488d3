"""Whether a response is all of its page."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy.http import Response

CUT_OFF = frozenset({"dataloss", "download_stopped"})
_TAIL = 4096  # bytes


def is_complete(response: Response) -> bool:
    """Tell whether nothing is missing, by the flags that Scrapy's downloader gave a response.

    Where a server says no length and closes the connection (HTTP/1.0), each page is `partial`,
    for a cut connection looks the same: the end of the document tells.
    """
    if not CUT_OFF.isdisjoint(response.flags):
        return False
    return "partial" not in response.flags or _ends_a_document(response.body)


def _ends_a_document(body: bytes) -> bool:
    """Tell whether `</html>` is last, but for white space and comments, as caches write them."""
    tail = body[-_TAIL:].rstrip()
    while tail.endswith(b"-->"):
        tail = tail[: max(tail.rfind(b"<!--"), 0)].rstrip()
    return tail.lower().endswith(b"</html>")

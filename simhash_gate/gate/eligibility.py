"""Which responses are judged: HTML pages that arrived whole, fetched or stored ones."""

from __future__ import annotations

from collections.abc import Collection

from simhash_gate.common.encoded import other_than_html

CUT_OFF = frozenset({"dataloss", "download_stopped"})
_TAIL = 4096  # bytes


def why_ineligible(
    *, status: int, html: bool, body: bytes, max_bytes: int, flags: Collection[str] = ()
) -> str:
    """Return why a response is not judged: as stats name it, and perhaps more; "" if it is.

    `html` tells whether it is an HTML page; `flags` are those of Scrapy's downloader. Where a
    server says no length and closes the connection (HTTP/1.0), each page is `partial`, for a cut
    connection looks the same: the end of the document tells.
    """
    if not is_success(status):
        return f"status: {status}"
    if not CUT_OFF.isdisjoint(flags) or ("partial" in flags and not _ends_a_document(body)):
        return "incomplete"
    if not html:
        return "not_html"
    if other := other_than_html(body):
        return f"not_html: {other}"
    return "too_large" if len(body) > max_bytes else ""


def is_success(status: int) -> bool:
    """Tell whether a status says that the body is the page."""
    return 200 <= status < 300


def _ends_a_document(body: bytes) -> bool:
    """Tell whether `</html>` is last, but for white space and comments, as caches write them."""
    tail = body[-_TAIL:].rstrip()
    while tail.endswith(b"-->"):
        tail = tail[: max(tail.rfind(b"<!--"), 0)].rstrip()
    return tail.lower().endswith(b"</html>")

"""What a spider yields for a page: the gate has read it already."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING, TypedDict

from parsel import Selector

if TYPE_CHECKING:
    from scrapy.http import HtmlResponse

TITLE = "normalize-space(//title)"


class PageItem(TypedDict):
    """A page as Markdown; `fingerprint` is 16 hex digits. None is what the gate did not read."""

    url: str
    canonical_url: str | None
    title: str | None
    markdown: str | None
    fingerprint: str | None
    fetched_at: str


def page_item(response: HtmlResponse) -> PageItem:
    """Return the item of a page, from the verdict that the gate left on its request."""
    verdict = response.meta.get("simhash_gate_verdict")
    page = verdict.page if verdict else None
    fingerprint = page.fingerprint if page else None
    title = page.title if page else Selector(text=response.text).xpath(TITLE).get()
    return PageItem(
        url=response.url,
        canonical_url=verdict.canonical_url or None if verdict else None,
        title=title,
        markdown=page.markdown if page else None,
        fingerprint=None if fingerprint is None else f"{fingerprint:016x}",
        fetched_at=datetime.now(timezone.utc).isoformat(timespec="seconds"),
    )

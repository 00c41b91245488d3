"""Learns from the callbacks whether Markdown is wanted: it is about a third of reading a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simhash_gate.pages import Page

PATIENCE = 100
"""Pages in a row whose Markdown nobody has read, until none is made any more."""


class MarkdownDemand:
    """Whether the page-reading processes are to make Markdown.

    They do until `PATIENCE` pages went to their callbacks and nobody has read it. Who asks for it
    later has it made on the spot, and from then on they make it to the end of the crawl.
    """

    def __init__(self) -> None:
        self.wanted = True
        self._unread = 0
        self._patience = float(PATIENCE)

    def watch(self, page: Page) -> Page:
        """Return a page that goes to its callback, such that reading its Markdown is noticed."""
        if page.is_rendered:
            self._unread += 1
            if self._unread >= self._patience:
                self.wanted = False
        return page.drafted(_Watched(page, self))

    def read(self, *, late: bool) -> None:
        """Take note that Markdown was read, and whether it had to be made for that."""
        self._unread = 0
        self.wanted = True
        if late:
            self._patience = float("inf")


class _Watched:
    def __init__(self, page: Page, demand: MarkdownDemand | None) -> None:
        self._page = page
        self._demand = demand

    def render(self) -> str:
        if self._demand is not None:
            self._demand.read(late=not self._page.is_rendered)
        return self._page.markdown

    def __reduce__(self) -> tuple[type[_Watched], tuple[Page, None]]:
        return _Watched, (self._page, None)

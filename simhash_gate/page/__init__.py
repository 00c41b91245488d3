"""Bytes of a page -> what it says: title, article, blocks of text, Markdown.

The names below are imported when they are first used: a crawl's own process has pages, and must not
load what reads them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simhash_gate.page.clean import Cleaned
    from simhash_gate.page.extract import (
        Article,
        Extractor,
        ReadabilityExtractor,
        SteadyExtractor,
    )
    from simhash_gate.page.page import Page

_HOMES = {
    "Article": "extract",
    "Cleaned": "clean",
    "Extractor": "extract",
    "Page": "page",
    "ReadabilityExtractor": "extract",
    "SteadyExtractor": "extract",
}

__all__ = [
    "Article",
    "Cleaned",
    "Extractor",
    "Page",
    "ReadabilityExtractor",
    "SteadyExtractor",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"simhash_gate.page.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

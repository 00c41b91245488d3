"""Bytes of a page -> its article: title, blocks of text, Markdown."""

from __future__ import annotations

from simhash_gate.page.blocks import Block, blocks
from simhash_gate.page.clean import Cleaned, clean
from simhash_gate.page.extract import Article, Extractor, ReadabilityExtractor, SteadyExtractor
from simhash_gate.page.flow import Flow, flow
from simhash_gate.page.markdown import Draft
from simhash_gate.page.parse import parse

__all__ = [
    "Article",
    "Block",
    "Cleaned",
    "Draft",
    "Extractor",
    "Flow",
    "ReadabilityExtractor",
    "SteadyExtractor",
    "blocks",
    "clean",
    "flow",
    "parse",
]

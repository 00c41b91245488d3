"""scrapy-poet: verdicts and Markdown as dependencies of page objects and callbacks."""

from simhash_gate.plugin.poet import MarkdownPage, VerdictProvider

__all__ = ["MarkdownPage", "VerdictProvider"]

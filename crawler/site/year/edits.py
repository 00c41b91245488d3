"""How an article changes in a year: from a sentence to half of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.site.articles import touched, updated
from crawler.truth import words

if TYPE_CHECKING:
    from crawler.site.articles import Version
    from crawler.site.prose import Writer

SMALL = 0.7
"""The share of edits that change less than a tenth of the words."""
MOST_WORDS = 450
"""An article that grows beyond this loses older paragraphs."""


def edited(last: Version, writer: Writer) -> Version:
    """Return the next version of an article; it says something else in any case."""
    edit = touched if writer.rng.random() < SMALL else updated
    version = edit(writer, [last])
    blocks = list(version.blocks)
    for block in reversed(last.blocks[1:]):
        if len(words(" ".join(item for each in blocks for item in each.items))) <= MOST_WORDS:
            break
        if block.kind == "p" and block in blocks:
            blocks.remove(block)
    return version._replace(number=last.number + 1, blocks=tuple(blocks))

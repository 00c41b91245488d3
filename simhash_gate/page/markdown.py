"""A flow -> GitHub-flavoured Markdown, by markdownify."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from simhash_gate.page.blocks import blocks, plain_text
from simhash_gate.page.writer import write

if TYPE_CHECKING:
    from simhash_gate.page.flow import Flow

_BLANK_LINES = re.compile(r"\n{3,}")
_ELEMENTS = 20_000


class Draft(NamedTuple):
    """What Markdown is made from: a flow, and the address that its links are relative to."""

    flow: Flow
    base: str = ""

    def render(self) -> str:
        """Return the Markdown; paragraphs without marks, if it is too large for markdownify."""
        if self.flow.elements > _ELEMENTS:
            return "\n\n".join(block.text for block in blocks(self.flow))
        return _tidy(write(self.flow, self.base))

    def text(self) -> str:
        """Return what the Markdown says, without its marks: a block a line, code with its lines."""
        return plain_text(self.flow)


def _tidy(text: str) -> str:
    if "\n\n\n" not in text:  # most of the time
        return text.strip()
    if "```" not in text:
        return _BLANK_LINES.sub("\n\n", text).strip()
    parts = re.split(r"(^(`{3,})[^\n]*\n.*?^\2$)", text, flags=re.M | re.S)
    # split yields: prose, a fenced block, its fence, prose, ...
    kept = [
        _BLANK_LINES.sub("\n\n", part) if i % 3 == 0 else part
        for i, part in enumerate(parts)
        if i % 3 != 2
    ]
    return "".join(kept).strip()

"""A flow -> GitHub-flavoured Markdown, by markdownify."""

from __future__ import annotations

import pickle
import re
from typing import NamedTuple

from simhash_gate.page.address import joined
from simhash_gate.page.blocks import blocks, plain_text
from simhash_gate.page.flow import Flow
from simhash_gate.page.writer import write

_BLANK_LINES = re.compile(r"\n{3,}")
_ELEMENTS = 20_000


class Draft(NamedTuple):
    """What Markdown is made from: a flow, and what `<base>` says of its links, if there is one."""

    flow: Flow
    base: str | None = None

    def pack(self) -> bytes:
        """Return the draft as bytes, from which `unpack` makes it again."""
        return pickle.dumps((*self.flow, self.base), pickle.HIGHEST_PROTOCOL)

    def render(self, url: str = "") -> str:
        """Return the Markdown of a page at this address.

        An article that is too large for markdownify gives paragraphs without marks.
        """
        if self.flow.elements > _ELEMENTS:
            return "\n\n".join(block.text for block in blocks(self.flow))
        return _tidy(write(self.flow, joined(url, self.base)))

    def text(self) -> str:
        """Return what the Markdown says, without its marks: a block a line, code with its lines."""
        return plain_text(self.flow)


def unpack(packed: bytes) -> Draft:
    """Return the draft that was packed."""
    tokens, elements, base = pickle.loads(packed)
    return Draft(Flow(tokens, elements), base)


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

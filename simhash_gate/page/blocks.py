"""A flow's text as a reader sees it: blocks, one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from simhash_gate.page.flow import End, Start, is_address
from simhash_gate.page.vocabulary import CELLS, HEADINGS

if TYPE_CHECKING:
    from simhash_gate.page.flow import Flow

_KINDS = dict.fromkeys(HEADINGS, "heading") | dict.fromkeys(CELLS, "cell")
_KINDS |= {"dt": "term", "pre": "code"}

_LINKED = 0.8
_WITHIN_LINKS = frozenset({"br", "input"})
_WITHIN_LINES = frozenset({"b", "strong", "i", "em", "code", "kbd", "samp", "tt", "del", "s"})
_WITHIN_LINES |= {"strike", "img"}


class Block(NamedTuple):
    """A run of text with white space collapsed.

    `kind` is `text`, `code`, or what Markdown writes on one line: `heading`, `cell` or `term`.
    `linked` tells that nearly all of the text is links.
    """

    kind: str
    text: str
    linked: bool = False


def blocks(flow: Flow) -> list[Block]:
    """Return the blocks of a flow, in its order."""
    writer = _Writer()
    for token in flow.tokens:
        if isinstance(token, str):
            writer.write(token)
        elif token.tag not in _WITHIN_LINES:
            if isinstance(token, Start):
                writer.start(token)
            else:
                writer.end(token)
    writer.flush()
    return writer.found


class _Writer:
    def __init__(self) -> None:
        self.found: list[Block] = []
        self._text: list[str] = []
        self._links: list[str] = []
        self._kind = "text"
        self._owner = ""  # the tag of a line of Markdown, or of code
        self._nested = 0  # elements with that tag inside
        self._layouts: list[bool] = []
        self._anchors = 0

    def write(self, text: str) -> None:
        self._text.append(text)
        if self._anchors:
            self._links.append(text)

    def start(self, token: Start) -> None:
        tag = token.tag
        if tag == "a":
            self._anchors += is_address(token.value)
            return
        self._break(tag)
        if tag == "table":
            self._layouts.append(bool(token.value))
        elif self._owner:
            self._nested += tag == self._owner
        elif tag in _KINDS and not (tag in CELLS and any(self._layouts[-1:])):
            self._owner, self._kind = tag, _KINDS[tag]

    def end(self, token: End) -> None:
        tag = token.tag
        if tag == "a":
            self._anchors = 0
            return
        self._break(tag)
        if tag == "table":
            self._layouts.pop()
        elif tag and tag == self._owner:
            if self._nested:
                self._nested -= 1
            else:
                self.flush()
                self._owner, self._kind = "", "text"

    def flush(self) -> None:
        if not self._text:
            return
        words = "".join(self._text).split()
        if words:
            linked = bool(self._links) and _size(self._links) > _LINKED * sum(map(len, words))
            self.found.append(Block(self._kind, " ".join(words), linked))
        self._text.clear()
        self._links.clear()

    def _break(self, tag: str) -> None:
        if tag not in _WITHIN_LINKS:
            self._anchors = 0  # Markdown has no links around blocks
        if self._owner:
            self._text.append(" ")
        else:
            self.flush()


def _size(parts: list[str]) -> int:
    return sum(len(word) for part in parts for word in part.split())

"""The front matter of a Markdown file: what stands before its text, between lines of `---`."""

from __future__ import annotations

import json
import re
from typing import Any

_FENCE = re.compile(r"---[ \t]*\r?\n")
_END = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?(?:\n|\Z)", re.MULTILINE)
_LINE = re.compile(r"([A-Za-z_][\w-]*):(?:[ \t](.*))?")


def front_matter(text: str) -> tuple[dict[str, Any], str]:
    """Return what the front matter of a text says, and the rest; nothing where there is none.

    Of YAML, lines of a key and one value are read, in quotes or plain. Others are passed over.
    """
    begun = _FENCE.match(text)
    ended = begun and _END.search(text, begun.end())
    if not begun or not ended:
        return {}, text
    lines = text[begun.end() : ended.start()].splitlines()
    pairs = (found.groups() for found in map(_LINE.fullmatch, lines) if found)
    return {key: _value((value or "").strip()) for key, value in pairs}, text[ended.end() :]


def _value(text: str) -> Any:
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text or None

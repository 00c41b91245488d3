"""Turn the Markdown of a page in a corpus back into HTML, so that it can be read again.

It takes Markdown as `Page.markdown` writes it: a backslash stands before every sign that is no
mark. Lists and quotes become paragraphs: their words count, and not their nesting.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import escape
from itertools import takewhile
from typing import Any

_FENCE = re.compile(r"\s*(`{3,})")
_CONTAINERS = re.compile(r"\s*(?:(?:[-+>]|\d{1,9}[.)]|:)(?:\s+|$))*")
_HEADING = re.compile(r"(#{1,6})\s(.*)")
_RULE = re.compile(r"(?:-{3,}|\|(?:\s*:?-+:?\s*\|)+)\s*")
_CELL = re.compile(r"(?<!\\)\|")
_INLINE = re.compile(
    r"\\([^\w\s])"  # a sign that is not a mark
    r"|(`+)(?!`)(.+?)(?<!`)\2(?!`)"  # code
    r"|(!?\[)"  # the start of a link or an image
    r"|\]\(<?((?:[^()<>\s]|\([^()\s]*\))*)>?(?:\s+\"[^\"]*\")?\)"  # its end
    r"|(`+)"  # no code: nothing ends it
    r"|(~~)"  # around what is struck out
    r"|\*+"  # other marks
)


def markdown_as_html(markdown: str, title: str, url: str) -> bytes:
    """Return an HTML page of this title and address, with an article of this Markdown."""
    article = "\n".join(_blocks(markdown))
    page = (
        f"<!doctype html><html><head><meta charset=utf-8><title>{escape(title)}</title>"
        f'<link rel=canonical href="{escape(url)}"></head>'
        f"<body><main><article>\n{article}\n</article></main></body></html>"
    )
    return page.encode("utf-8", "replace")


def _blocks(markdown: str) -> Iterator[str]:
    lines = iter(markdown.splitlines())
    paragraph: list[str] = []
    rows: list[str] = []
    for raw in lines:
        line = _CONTAINERS.sub("", raw, count=1)
        fence = _FENCE.match(line)
        row = line.startswith("|")
        heading = _HEADING.fullmatch(line)
        if not row and rows:
            yield _table(rows)
        if paragraph and (fence or row or heading or line != raw.lstrip() or not line):
            yield _paragraph(paragraph)
        if fence:
            yield _code(lines, fence[1])
        elif row:
            rows.append(line)
        elif heading:
            level = len(heading[1])
            yield f"<h{level}>{_inline(heading[2])}</h{level}>"
        elif line and not _RULE.fullmatch(line):
            paragraph.append(line)
    yield from filter(None, (_table(rows), _paragraph(paragraph)))


def _paragraph(lines: list[str]) -> str:
    """Return a paragraph. Two blanks at the end of a line become a line break."""
    text = "\n".join(lines)
    lines.clear()
    return f"<p>{'<br>'.join(map(_inline, text.split('  ' + chr(10))))}</p>" if text else ""


def _table(rows: list[str]) -> str:
    cells = (_CELL.split(row.strip())[1:-1] for row in rows if not _RULE.fullmatch(row))
    lines = ["".join(f"<td>{_inline(cell)}</td>" for cell in row) for row in cells]
    rows.clear()
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in lines)}</table>" if lines else ""


def _code(lines: Iterator[str], fence: str) -> str:
    code = takewhile(lambda line: line.strip() != fence, lines)
    return f"<pre>\n{escape(chr(10).join(code))}</pre>"


def _inline(text: str) -> str:
    """Return a line without its marks, with tags for links, images, code and what is struck out."""
    parts: list[str] = []
    opened: list[int] = []  # where in `parts` a link or an image begins
    place = 0
    for mark in _INLINE.finditer(text):
        parts.append(escape(text[place : mark.start()]))
        place = mark.end()
        sign, _, code, start, address, ticks, strike = mark.groups()
        if sign or code or ticks:
            parts.append(f"<code>{escape(code)}</code>" if code else escape(sign or ticks))
        elif start:
            opened.append(len(parts))
            parts.append(start)
        elif address is not None:
            _close(parts, opened, address) if opened else parts.append(escape(mark[0]))
        elif strike:
            parts.append("</del>" if parts.count("<del>") > parts.count("</del>") else "<del>")
    parts.append(escape(text[place:]))
    return "".join(parts)


def _close(parts: list[str], opened: list[int], address: str) -> None:
    place = opened.pop()
    if parts[place] == "[":
        parts[place] = f'<a href="{escape(address)}">'
        parts.append("</a>")
    else:
        alt = re.sub("<[^<>]*>", "", "".join(parts[place + 1 :]))
        parts[place:] = [f'<img src="{escape(address)}" alt="{alt}">']


_MATTER = re.compile(r"---[ \t]*\r?\n")
_END = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?(?:\n|\Z)", re.MULTILINE)
_LINE = re.compile(r"([A-Za-z_][\w-]*):(?:[ \t](.*))?")


def front_matter(text: str) -> tuple[dict[str, Any], str]:
    """Return the front matter of a text as a dictionary, and the rest of the text.

    Lines of a key and one value, in quotes or plain, are read. Other lines of YAML are skipped.
    """
    begun = _MATTER.match(text)
    ended = begun and _END.search(text, begun.end())
    if not begun or not ended:
        return {}, text
    lines = text[begun.end() : ended.start()].splitlines()
    pairs = (match.groups() for match in map(_LINE.fullmatch, lines) if match)
    return {key: _value((value or "").strip()) for key, value in pairs}, text[ended.end() :]


def _value(text: str) -> Any:
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text or None

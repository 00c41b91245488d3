"""Files of HTML or text, and folders of them, as pages."""

from __future__ import annotations

import html
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from simhash_gate.common.wording import complaining, why
from simhash_gate.sources import TOO_LARGE, Entry, Source, read_body

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from simhash_gate.common.wording import Complain

HTML = (".html", ".htm", ".xhtml", ".xht")
TEXT = (".txt", ".md")
_PARAGRAPH = re.compile(r"\n\s*\n")


def page_files(
    paths: Sequence[str],
    complain: Complain,
    max_bytes: int,
    suffixes: tuple[str, ...] = HTML + TEXT,
) -> Source:
    """Return the pages of files and folders, in the order given.

    A file that is named is read whatever its name. In a folder and its subfolders, the files that
    end in one of the suffixes are read, by name.
    """
    return Source(
        _entries(_walk(paths, suffixes, complain), suffixes, complain, max_bytes),
        lambda: sum(1 for _ in _walk(paths, suffixes, lambda *_: None)),
    )


def text_as_html(text: str) -> bytes:
    """Return an HTML page whose article has the paragraphs of a text."""
    paragraphs = "".join(f"<p>{html.escape(part)}</p>\n" for part in _PARAGRAPH.split(text))
    page = f"<!doctype html><meta charset=utf-8><article>\n{paragraphs}</article>"
    return page.encode("utf-8", "replace")


def _walk(paths: Iterable[str], suffixes: tuple[str, ...], complain: Complain) -> Iterator[str]:
    for path in paths:
        if not os.path.isdir(path):  # noqa: PTH112 - a path may be no valid one at all
            yield path
            continue
        empty = True
        for folder, folders, names in os.walk(
            path, onerror=lambda error: complain(str(error.filename), why(error))
        ):
            folders.sort()
            for name in sorted(names):
                if name.lower().endswith(suffixes):
                    empty = False
                    yield str(Path(folder, name))
        if empty:
            complain(path, f"no file in this folder ends in {', '.join(suffixes)}")


def _entries(
    paths: Iterable[str], suffixes: tuple[str, ...], complain: Complain, max_bytes: int
) -> Iterator[Entry]:
    texts = tuple(suffix for suffix in suffixes if suffix in TEXT)
    for path in paths:
        with complaining(complain, path):
            body = read_body(path, max_bytes)
            if body and path.lower().endswith(texts):
                body = text_as_html(body.decode("utf-8-sig", "replace"))
            yield Entry(path, body or b"", path, skipped=TOO_LARGE if body is None else "")

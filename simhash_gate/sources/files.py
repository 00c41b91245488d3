"""Files of HTML or text, and folders of them, as pages."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from simhash_gate.common.complaints import why
from simhash_gate.sources import text
from simhash_gate.sources.entry import TOO_LARGE, Entry, Source, read_body

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from simhash_gate.common.complaints import Complain

SUFFIXES = (".html", ".htm", ".xhtml", ".xht")


def html_files(paths: Sequence[str], complain: Complain, max_bytes: int) -> Source:
    """Return the pages of the files, in the order given; folders are walked by name.

    A file that is named is read whatever its name; in a folder, those that end in `SUFFIXES`.
    """
    return _files(paths, SUFFIXES, complain, max_bytes)


def page_files(paths: Sequence[str], complain: Complain, max_bytes: int) -> Source:
    """Return the pages of HTML files and of texts (`text.SUFFIXES`), as `html_files` does."""
    return _files(paths, SUFFIXES + text.SUFFIXES, complain, max_bytes)


def _files(
    paths: Sequence[str], suffixes: tuple[str, ...], complain: Complain, max_bytes: int
) -> Source:
    return Source(
        _entries(_walk(paths, suffixes, complain), suffixes, complain, max_bytes),
        lambda: sum(1 for _ in _walk(paths, suffixes, lambda *_: None)),
    )


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
    texts = tuple(suffix for suffix in suffixes if suffix in text.SUFFIXES)
    for path in paths:
        try:
            body = read_body(path, max_bytes)
        except OSError as error:
            complain(path, why(error))
            continue
        if body and path.lower().endswith(texts):
            body = text.as_html(body.decode("utf-8-sig", "replace"))
        yield Entry(path, body or b"", path, skipped=TOO_LARGE if body is None else "")

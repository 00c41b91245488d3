"""A corpus: kept pages as a folder of Markdown files, as JSON Lines or as Parquet."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from hashlib import blake2b
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO, Literal

import click

from simhash_gate.collection.table import NUMBERS, write_rows
from simhash_gate.common.files import write_new
from simhash_gate.gate.verdict import encode
from simhash_gate.page import METADATA
from simhash_gate.sources import STDIN

Form = Literal["folder", "jsonl", "parquet"]

_FILES = (".csv", ".gz", ".htm", ".html", ".json", ".md", ".ndjson", ".txt", ".warc", ".zip")
_ROWS = 200  # pages that are in memory at once, with their Markdown
_SEGMENT, _SEGMENTS = 80, 12
_UNSAFE = re.compile(r"[^\w.-]+")
_ENDING = re.compile(r"\.x?html?\Z", re.IGNORECASE)
_SCHEME = re.compile(r"\A[a-z][a-z0-9+.-]*:/*", re.IGNORECASE)
_KEY = re.compile(r"[A-Za-z_][\w-]*")
_BREAKS = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
# Names that Windows keeps for devices.
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)

OF_ITSELF = ("title", *METADATA, "words")
COLUMNS = ("id", "url", "canonical_url", *OF_ITSELF, "fingerprint", "pipeline", "markdown")
"""What a corpus has of each kept page; a source of texts may have given it more."""


def form_of(path: str) -> Form:
    """Return the form that a name tells. Raises click.UsageError for the name of another file."""
    suffix = Path(path).suffix.lower()
    if path == STDIN or suffix in (".jsonl", ".parquet"):
        return "parquet" if suffix == ".parquet" else "jsonl"
    if suffix in _FILES:
        raise click.UsageError(
            f"-o {path}: a corpus is a folder, or a file that ends in .jsonl or .parquet."
        )
    return "folder"


def is_empty_folder(path: Path) -> bool:
    """Tell whether a path is a folder with nothing in it."""
    return path.is_dir() and next(path.iterdir(), None) is None


def write_folder(pages: Iterable[dict[str, Any]], path: Path) -> None:
    """Write pages as files in a folder. Raises OSError."""
    for page in pages:
        data = f"{front_matter(page)}\n{page['markdown']}\n".encode("utf-8", "backslashreplace")
        for name in _names(page):
            with suppress(FileExistsError, NotADirectoryError):
                write_new(path / name, data)
                break


def write_file(
    pages: Iterable[dict[str, Any]], file: BinaryIO, form: Form, more: Iterable[str] = ()
) -> None:
    """Write pages as rows, with `more` columns in Parquet. Raises OSError."""
    if form == "jsonl":
        file.writelines(map(encode, pages))
        return
    columns = (*COLUMNS, *more)
    rows = (tuple(_cell(name, page.get(name)) for name in columns) for page in pages)
    write_rows(rows, columns, form, file, batch=_ROWS)


def _cell(name: str, value: Any) -> Any:
    return value if name in NUMBERS or value is None or isinstance(value, str) else _json(value)


def _names(page: dict[str, Any]) -> Iterator[str]:
    """Yield names for a page, until one is free: that which its URL tells, then with a number."""
    name = file_name(page["url"] or str(page["id"]))
    yield name
    # The file of another page may stand where this one needs a folder.
    stem = name.removesuffix(".md").replace("/", "-")[-_SEGMENT:]
    for number in count():
        known = f"{page['id']} {number}".encode("utf-8", "surrogatepass")
        yield f"{stem}-{blake2b(known, digest_size=8).hexdigest()}.md"


def front_matter(page: dict[str, Any]) -> str:
    """Return what a file begins with: YAML, of which each line is a key and a value in JSON."""
    named = [(n if _KEY.fullmatch(n) else _json(n), v) for n, v in page.items() if n != "markdown"]
    lines = [f"{name}: {_json(value)}" for name, value in named]
    return "\n".join(["---", *lines, "---", ""])


def file_name(url: str) -> str:
    """Return the path of a page within a corpus, such as `example.com/news/story.md`.

    It has only letters, digits, `.`, `-`, `_` and `/`, and leads nowhere else.
    """
    segments = [_segment(part) for part in _SCHEME.sub("", url, count=1).split("/")]
    segments = [part for part in segments if part][-_SEGMENTS:]
    return _ENDING.sub("", "/".join(segments or ["page"])) + ".md"


def _segment(text: str) -> str:
    safe = _UNSAFE.sub("-", text).strip("-.")
    while len(safe.encode()) > _SEGMENT:
        safe = safe[: max(1, _SEGMENT * len(safe) // len(safe.encode()) - 1)]
    return f"{safe}-" if _DEVICES.fullmatch(safe) else safe


def _json(value: Any) -> str:
    """Return a value as JSON that YAML reads as the same."""
    text = json.dumps(value, ensure_ascii=False)
    return _BREAKS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
